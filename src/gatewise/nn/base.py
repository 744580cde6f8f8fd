"""GateModule and GateLayer: what all layers of two-input gates have in common.

In: the shape of a layer and its settings. Out: a module with the gates' weights, a seed, and the circuit it stands for:
`gates()` of `wires()`. How it runs on samples is up to its classes, `LogicLayer` and `LearnedLayer`. Gates that stand
at many positions are a `GateModule` only, see `gatewise.nn.convolution`.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.amp import is_autocast_available

from gatewise.checks import MAX_SEED, as_integer
from gatewise.nn import functional
from gatewise.nn.kernels.ops import is_transforming
from gatewise.nn.parametrization import Parametrization
from gatewise.nn.sampling import Sampling, Soft
from gatewise.wiring.layers import MAX_LAYER

Forward = TypeVar("Forward", bound=Callable[..., Tensor])
HALVES = torch.float16, torch.bfloat16


class GateModule(nn.Module):
    """What has gates with weights: their settings, and the seed that weights and wires follow from."""

    seed: Tensor
    parametrization: Parametrization
    sampling: Sampling

    def __init__(
        self, *, parametrization: Parametrization, sampling: Sampling, grad_factor: float, seed: int, position: int
    ) -> None:
        super().__init__()
        self.parametrization, self.sampling, self.grad_factor = parametrization, sampling, grad_factor
        # The 64 bits of the seed as int64, which every version of torch can save.
        self.register_buffer("seed", torch.as_tensor(np.array([seed, position], np.uint64).view(np.int64)))

    def gates(self) -> NDArray[np.uint8]:
        """The gate id that every gate stands for, (n_gates,)."""
        raise NotImplementedError(f"{type(self).__name__} must tell its gates")

    def seed_and_position(self) -> tuple[int, int]:
        """The seed of wires and weights, and the position of the layer in its network."""
        seed, position = self.seed.cpu().numpy().view(np.uint64).tolist()
        return seed, position

    def extra_repr(self) -> str:
        """The shape, and the settings that are not the default."""
        return ", ".join(self._settings())

    def _settings(self) -> Iterator[str]:
        if not isinstance(self.sampling, Soft | nn.Module):  # modules are shown by torch
            yield f"sampling={self.sampling}"
        if self.grad_factor != 1.0:
            yield f"grad_factor={self.grad_factor}"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "sampling":  # may be a module or a value, which torch lets no module be replaced by
            self._modules.pop(name, None)
        super().__setattr__(name, value)


class GateLayer(GateModule):
    """Gates with weights, each of which stands once; see `LogicLayer` for the parameters."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        parametrization: Parametrization,
        sampling: Sampling,
        grad_factor: float,
        seed: int,
        position: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__(
            parametrization=parametrization, sampling=sampling, grad_factor=grad_factor, seed=seed, position=position
        )
        if in_features < 1 or out_features < 1:
            raise ValueError(f"in_features and out_features must be at least 1, got {in_features} and {out_features}")
        self.in_features, self.out_features = in_features, out_features
        self.weight = make_parameter(parametrization.initialize(out_features, generator))

    def wires(self) -> tuple[Tensor, Tensor]:
        """The operands a and b of every gate: int32 positions in the layer before, (out_features,) each."""
        raise NotImplementedError(f"{type(self).__name__} must tell its wires")

    def gates(self) -> NDArray[np.uint8]:
        """The gate id that every gate stands for, (out_features,)."""
        return self.parametrization.gates(self.weight)

    def extra_repr(self) -> str:
        """The shape, and the settings that are not the default."""
        return ", ".join([f"in_features={self.in_features}, out_features={self.out_features}", *self._settings()])


def make_parameter(values: Tensor) -> nn.Parameter:
    """A parameter on the default device, which `torch.device` may have set, of values drawn where their generator is.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     make_parameter(torch.zeros(2, device="cpu")).device
    device(type='meta')
    """
    return nn.Parameter(values.to(torch.get_default_device()))


def draw_seed(generator: torch.Generator | None) -> int:
    """A seed from a generator, or from torch's global one.

    Examples
    --------
    >>> draw_seed(torch.Generator().manual_seed(0)) == draw_seed(torch.Generator().manual_seed(0))
    True
    """
    place = "cpu" if generator is None else generator.device
    return int(torch.randint(torch.iinfo(torch.int64).max, (), generator=generator, device=place))


def settle_seed(seed: int | None, position: int, generator: torch.Generator | None) -> tuple[int, torch.Generator]:
    """The seed of a layer's wires, drawn if it is None, and the generator of its weights, which follows from the seed.

    Examples
    --------
    >>> settle_seed(7, 0, None)[0]
    7
    """
    as_integer("position", position, 0, MAX_LAYER)
    seed = draw_seed(generator) if seed is None else as_integer("seed", seed, 0, MAX_SEED)
    if generator is None:  # independent for each position
        state = np.random.SeedSequence([seed, position]).generate_state(1, np.uint64)
        generator = torch.Generator().manual_seed(int(state[0]))
    return seed, generator


def check_tensor(name: str, value: object) -> None:
    """Raise TypeError for anything but a tensor.

    Examples
    --------
    >>> check_tensor("x", np.zeros(3))
    Traceback (most recent call last):
    TypeError: x must be a torch.Tensor, got numpy.ndarray; convert it by torch.as_tensor(x)
    """
    if not isinstance(value, Tensor):
        kind = f"{type(value).__module__}.{type(value).__name__}"
        raise TypeError(f"{name} must be a torch.Tensor, got {kind}; convert it by torch.as_tensor({name})")


def without_autocast(forward: Forward) -> Forward:
    """A `forward` that computes in the precision of the weights, whatever autocast asks for.

    Sums of more than 256 bits, and with them the classes that a circuit gives, are not exact in bfloat16.

    Examples
    --------
    >>> from gatewise.nn import LogicLayer
    >>> with torch.autocast("cpu", torch.bfloat16):
    ...     LogicLayer(2, 4, seed=0)(torch.ones(1, 2, dtype=torch.bfloat16)).dtype
    torch.float32
    """

    @wraps(forward)
    def run(self: Any, x: Tensor) -> Tensor:
        kind = x.device.type if isinstance(x, Tensor) else "cpu"
        if not (is_autocast_available(kind) and torch.is_autocast_enabled(kind)):
            return forward(self, x)
        with torch.autocast(kind, enabled=False):
            return forward(self, x.float() if x.dtype in HALVES else x)

    return cast(Forward, run)


class Reader(Protocol):
    """A layer that reads rows of so many features."""

    in_features: int
    weight: nn.Parameter


def check_input(layer: Reader, x: Tensor) -> Tensor:
    """x with the right number of features; integers become floats.

    Examples
    --------
    >>> from gatewise.nn import LogicLayer
    >>> check_input(LogicLayer(2, 4), torch.tensor([[0, 1]])).dtype
    torch.float32
    """
    check_tensor("x", x)
    if x.ndim < 1 or x.shape[-1] != layer.in_features:
        raise ValueError(f"x must have {layer.in_features} features for {layer}, got shape {tuple(x.shape)}")
    if x.is_complex():
        raise TypeError(f"x must be real, Boolean or integer, got {x.dtype}")
    check_device(layer.weight, x)
    return x if x.is_floating_point() or x.dtype == torch.bool else x.to(layer.weight.dtype)


def check_device(weight: Tensor, x: Tensor) -> None:
    """Raise ValueError unless x is where the weights are.

    Examples
    --------
    >>> check_device(torch.zeros(1, device="meta"), torch.zeros(1))
    Traceback (most recent call last):
    ValueError: x must be on meta, where the weights are, got a tensor on cpu; move it by x.to("meta")
    """
    if x.device != weight.device:
        place = f"x must be on {weight.device}, where the weights are, got a tensor on {x.device}"
        raise ValueError(f'{place}; move it by x.to("{weight.device}")')


def check_bits(x: Tensor, reader: object = "training on bits") -> Tensor:
    """x, if all values are 0 or 1; otherwise a ValueError, or NaN instead of other values on devices.

    To raise an error there, every step would wait for the device; a loss that is NaN tells it as well. Compilers and
    transforms of `torch.func` cannot look at values either.

    Examples
    --------
    >>> check_bits(torch.tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    if not x.is_floating_point():
        return x
    are_bits = (x == 0) | (x == 1)
    if x.device.type != "cpu" or torch.compiler.is_compiling() or is_transforming():
        return torch.where(are_bits, x, torch.nan)
    if not bool(are_bits.all()):
        raise ValueError(f"x must be 0 or 1 for {reader}, got values between; make bits of them, such as x > 0.5")
    return x


def as_bits(layer: GateLayer, x: Tensor) -> Tensor:
    """x as floats that are all 0 or 1, with the layer's factor on its gradient; anything else is a ValueError.

    Examples
    --------
    >>> from gatewise.nn import LogicLayer
    >>> as_bits(LogicLayer(2, 4), torch.tensor([[False, True]])).tolist()
    [[0.0, 1.0]]
    """
    x = check_bits(check_input(layer, x))
    values = x.to(layer.weight.dtype) if x.dtype == torch.bool else x
    return functional.scale_gradient(values, layer.grad_factor)


def apply_on_bits(layer: GateLayer, a: Tensor, b: Tensor) -> Tensor:
    """The most probable gates of operands 0 and 1, (..., out_features) each; gradients see the mixtures."""
    _, temperature, _ = layer.sampling.prepare([layer.weight])
    mixed, chosen = layer.parametrization.relax(layer.weight, temperature)
    return functional.apply_gates_on_bits(a, b, mixed.to(a.dtype), chosen.to(a.dtype))
