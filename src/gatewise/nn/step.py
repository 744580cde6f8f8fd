"""A whole training step in one native call: forward, loss, backward and Adam.

In: a network, then one batch after the other. Out: the network's weights, changed in place, and the loss of each
batch. Invariant: up to rounding, the same weights as torch's autograd with torch.optim.Adam; bit for bit the same ones
whatever the number of threads. The sampling decides what runs: bits for `Bitwise`, floats for the others; on CUDA, the
kernels in Triton.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gatewise import _native
from gatewise.nn.architectures.stages import Stage, follow_shapes, list_layers
from gatewise.nn.base import check_tensor
from gatewise.nn.device_steps import DeviceSteps
from gatewise.nn.head import GroupSum
from gatewise.nn.kernels import cuda
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.lut import LutLayer
from gatewise.nn.lut.steps import TableSteps
from gatewise.nn.native_steps import BitSteps, RelaxedSteps, make_moments
from gatewise.nn.obstacles import find_obstacle
from gatewise.nn.sampling import Bitwise

LossName = Literal["cross_entropy", "binary_cross_entropy", "squared_error"]


class TrainStep:
    """Trains a network batch by batch, many times faster than autograd if the network is small.

    Parameters
    ----------
    net : LogicNetwork, or Sequential of layers of gates and a GroupSum
        LogicLayers and LearnedLayers; or FeatureMaps, LogicConv2d, OrPool2d, a `torch.nn.Flatten`, and then such
        layers; or LutLayers alone. On the CPU, in float32, layers of equal settings with `Softmax` and the
        probabilistic relaxation; LearnedLayers with `Bitwise`; LutLayers of any k. On CUDA, LogicLayers and
        LearnedLayers, none of them frozen: a step is one CUDA graph, but for that of `Gumbel`. For any other network
        the error names the layer and the reason; `TrainStep.supports` asks beforehand. Layers whose weights require no
        gradient are frozen, on bits.
    loss : "cross_entropy", "binary_cross_entropy" or "squared_error"
        Of the softmax over groups, of each group's sigmoid, or of the groups themselves; the mean of the batch.
    learning_rate, betas, eps
        Of Adam; `learning_rate` is an attribute that may change from step to step.
    label_smoothing : float
        For "cross_entropy", as in `torch.nn.CrossEntropyLoss`.
    activations : torch.float32 or torch.bfloat16
        What values and their gradients are stored in on CUDA, but on bits; values 0 and 1 are exact in both.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> net = logic_network(4, [16, 16], 2, tau=2.0, seed=0)
    >>> x = torch.tensor([[False, False, True, True], [True, True, False, False]])
    >>> step = TrainStep(net, learning_rate=0.1)
    >>> losses = [step(x, torch.tensor([0, 1])) for _ in range(20)]
    >>> losses[-1] < losses[0]
    True
    """

    def __init__(
        self,
        net: nn.Sequential,
        loss: LossName = "cross_entropy",
        *,
        learning_rate: float = 0.01,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        label_smoothing: float = 0.0,
        activations: torch.dtype = torch.float32,
    ) -> None:
        obstacle = find_obstacle(net)
        if obstacle:
            raise ValueError(f"net must {obstacle}; train it by autograd, with torch.optim.Adam")
        if loss not in get_args(LossName):
            raise ValueError(f"loss must be one of {', '.join(get_args(LossName))}, got {loss!r}")
        if not 0 <= label_smoothing < 1:
            raise ValueError(f"label_smoothing must be in [0, 1), got {label_smoothing}")
        self.net, self.loss, self.label_smoothing = net, loss, label_smoothing
        self.learning_rate, self.betas, self.eps = learning_rate, betas, eps
        self.n_steps = 0
        stages = cast(list[Stage], list(net)[:-1])
        self._layers = [layer for stage in stages for layer in list_layers(stage)]
        self._head = cast(GroupSum, net[-1])
        self._n_outputs = cast(int, follow_shapes(stages)[-1])
        self._moments = make_moments(self._layers)
        self._steps: BitSteps | RelaxedSteps | TableSteps | DeviceSteps
        weight = next(self._layers[0].parameters())
        check_activations(activations, weight.device)
        if cuda.has_kernels(weight.device):
            self._steps = self._prepare_device(activations)
        elif isinstance(self._layers[0], LutLayer):
            self._steps = TableSteps(cast(list[LutLayer], self._layers), self._head.groups, self._moments)
        elif isinstance(self._layers[0].sampling, Bitwise):
            self._steps = BitSteps(stages, self._head.groups, self._moments)
        else:
            self._steps = RelaxedSteps(stages, self._head.groups, self._moments)

    @staticmethod
    def supports(net: nn.Module) -> bool:
        """Whether the network can be trained by native steps."""
        return find_obstacle(net) is None

    def __call__(self, x: Tensor, y: Tensor, weight: Tensor | None = None) -> float:
        """One step on a batch.

        Parameters
        ----------
        x : (n, in_features)
            bool and float32 are read as they are, others are converted; 0 or 1 for `Bitwise`.
        y : (n,) integers for "cross_entropy", else (n, groups)
        weight : (n,), optional
            Factors of the rows' losses; their mean should be 1 over the whole data.

        Returns
        -------
        float
            The mean loss before the step.
        """
        return self.run(x, y, [len(x)], [self.learning_rate], weight)[0]

    def run(
        self,
        x: Tensor,
        y: Tensor,
        sizes: Sequence[int],
        learning_rates: Sequence[float],
        weight: Tensor | None = None,
        temperatures: Sequence[float] | None = None,
    ) -> list[float]:
        """Steps on consecutive batches. The network's tensors must not be exchanged meanwhile.

        Parameters
        ----------
        x, y, weight : as for one step
            Of all batches together.
        sizes : int, of each batch
        learning_rates : float, of each batch
            Instead of `learning_rate`.
        temperatures : float, of each batch, optional
            For `Bitwise`, instead of its own; it keeps the last one.

        Returns
        -------
        list of float
            The mean loss of each batch before its step.
        """
        losses = self.launch(x, y, sizes, learning_rates, weight, temperatures)
        if isinstance(self._steps, DeviceSteps) and losses:
            return cast(list[float], torch.stack(cast(list[Tensor], losses)).tolist())  # waits once
        return cast(list[float], losses)

    def launch(
        self,
        x: Tensor,
        y: Tensor,
        sizes: Sequence[int],
        learning_rates: Sequence[float],
        weight: Tensor | None = None,
        temperatures: Sequence[float] | None = None,
    ) -> Sequence[float | Tensor]:
        """The same as `run`, but on a device the losses are tensors there, which nothing has waited for."""
        first, head = self._layers[0], self._head
        check_tensor("x", x)
        check_tensor("y", y)
        is_classes = self.loss == "cross_entropy"
        if is_classes and y.is_floating_point():
            raise TypeError(f"y must be integers for {self.loss!r}, got {y.dtype}")
        if isinstance(self._steps, DeviceSteps):
            settings: dict[str, Any] = {"sizes": sizes, "learning_rates": learning_rates, "n_steps": self.n_steps}
            settings["temperatures"] = temperatures
            on_device = self._steps.run(x, y.long() if is_classes else y.float(), weight, **settings)
            self.n_steps += len(sizes)
            return on_device
        rows = self._steps.convert(x)
        targets = (y.long() if is_classes else y.float()).contiguous().numpy()
        row_weights = None if weight is None else weight.float().contiguous().numpy()
        scale = 1 / head.temperature(self._n_outputs), head.beta
        losses, end = [], 0
        for i, (size, rate) in enumerate(zip(sizes, learning_rates, strict=True)):
            start, end = end, end + size
            if temperatures is not None and isinstance(first.sampling, Bitwise):
                first.sampling.temperature.fill_(temperatures[i])
            row_weight = None if row_weights is None else row_weights[start:end]
            batch_loss = self._make_loss(targets[start:end], head=scale, weight=row_weight)
            adam = (rate, *self.betas, self.eps, self.n_steps + 1)
            losses.append(self._steps.run(rows[start:end], batch_loss, adam))
            self.n_steps += 1
        return losses

    def exchange(self, share: float, draw: int) -> None:
        """Exchange candidates of all pins that are not frozen, and forget what Adam knew of them.

        Parameters
        ----------
        share, draw : as for `LearnedLayer.exchange`
        """
        for layer, moments in zip(self._layers, self._moments, strict=True):
            if isinstance(layer, LearnedLayer | LutLayer) and layer.pins is not None and layer.pins.requires_grad:
                lost = layer.exchange(share, draw)
                for moment in moments["pins"]:
                    moment.masked_fill_(lost, 0.0)

    def state_dict(self) -> dict[str, Any]:
        """Adam's state, in the form that `torch.optim.Adam` gives and takes."""
        state = {}
        for i, (first, second) in enumerate(self._list_moments() if self.n_steps else ()):
            state[i] = {"step": torch.tensor(float(self.n_steps)), "exp_avg": first, "exp_avg_sq": second}
        return {"state": state}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a `state_dict`."""
        state = state_dict["state"]
        for i, moments in enumerate(self._list_moments()):
            for name, moment in zip(("exp_avg", "exp_avg_sq"), moments, strict=True):
                moment.copy_(state[i][name] if i in state else torch.zeros_like(moment))  # torch has none if frozen
        self.n_steps = max((int(entry["step"]) for entry in state.values()), default=0)

    def _list_moments(self) -> list[tuple[Tensor, Tensor]]:
        """First and second moments in the order of the network's parameters."""
        return [moments for of_layer in self._moments for moments in of_layer.values()]

    def _prepare_device(self, activations: torch.dtype) -> DeviceSteps:
        row_losses: dict[str, Any] = {
            "cross_entropy": partial(functional.cross_entropy, label_smoothing=self.label_smoothing, reduction="none"),
            "binary_cross_entropy": partial(functional.binary_cross_entropy_with_logits, reduction="none"),
            "squared_error": partial(functional.mse_loss, reduction="none"),
        }
        layers = cast(list[LogicLayer | LearnedLayer], self._layers)
        options: dict[str, Any] = {"row_loss": row_losses[self.loss], "adam": (self.betas, self.eps)}
        return DeviceSteps(layers, self._head, self._moments, activations=activations, **options)

    def _make_loss(self, y: np.ndarray, **options: Any) -> _native.Loss:
        if self.loss == "cross_entropy":
            return _native.Loss.cross_entropy(y, self.label_smoothing, **options)
        make = _native.Loss.binary if self.loss == "binary_cross_entropy" else _native.Loss.squared
        return make(y, **options)


def check_activations(kind: torch.dtype, device: torch.device) -> None:
    """Raise ValueError for values that the steps of a device do not store.

    Examples
    --------
    >>> check_activations(torch.bfloat16, torch.device("cpu"))
    Traceback (most recent call last):
    ValueError: activations must be torch.float32 on cpu, got torch.bfloat16
    """
    allowed = (torch.float32, torch.bfloat16) if cuda.has_kernels(device) else (torch.float32,)
    if kind not in allowed:
        raise ValueError(f"activations must be {' or '.join(map(str, allowed))} on {device}, got {kind}")
