"""A whole training step in one native call: forward, loss, backward and Adam.

In: a network, then one batch after the other. Out: the network's weights, changed in place, and the loss of each
batch. Invariant: up to float32 rounding, the same weights as torch's autograd with torch.optim.Adam; bit for bit the
same ones whatever the number of threads.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor, nn

from gatewise import _native
from gatewise.nn.head import GroupSum
from gatewise.nn.layer import LogicLayer, check_tensor, native_stack
from gatewise.nn.native import current_pool
from gatewise.nn.network import LogicNetwork, is_plain
from gatewise.nn.parametrization import Softmax
from gatewise.nn.relaxation import Probabilistic

LossName = Literal["cross_entropy", "binary_cross_entropy", "squared_error"]


class TrainStep:
    """Trains a network batch by batch, many times faster than autograd if the network is small.

    Parameters
    ----------
    net : LogicNetwork, or Sequential of LogicLayers and a GroupSum
        On the CPU, in float32, layers of equal settings with `Softmax` and the probabilistic relaxation. For any other
        network the error names the layer and the reason; `TrainStep.supports` asks beforehand.
    loss : "cross_entropy", "binary_cross_entropy" or "squared_error"
        Of the softmax over groups, of each group's sigmoid, or of the groups themselves; the mean of the batch.
    learning_rate, betas, eps
        Of Adam; `learning_rate` is an attribute that may change from step to step.
    label_smoothing : float
        For "cross_entropy", as in `torch.nn.CrossEntropyLoss`.

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
        self._layers = cast(list[LogicLayer], list(net)[:-1])
        self._head = cast(GroupSum, net[-1])
        self._moments = [[torch.zeros_like(layer.weight.detach()) for layer in self._layers] for _ in range(2)]
        self._native: tuple[tuple[object, ...], _native.TrainStep] | None = None

    @staticmethod
    def supports(net: nn.Module) -> bool:
        """Whether the network can be trained by native steps."""
        return find_obstacle(net) is None

    def __call__(self, x: Tensor, y: Tensor, weight: Tensor | None = None) -> float:
        """One step on a batch.

        Parameters
        ----------
        x : (n, in_features)
            bool and float32 are read as they are, others are converted.
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
        self, x: Tensor, y: Tensor, sizes: Sequence[int], learning_rates: Sequence[float], weight: Tensor | None = None
    ) -> list[float]:
        """Steps on consecutive batches. The network's tensors must not be exchanged meanwhile.

        Parameters
        ----------
        x, y, weight : as for one step
            Of all batches together.
        sizes : int, of each batch
        learning_rates : float, of each batch
            Instead of `learning_rate`.

        Returns
        -------
        list of float
            The mean loss of each batch before its step.
        """
        first, head = self._layers[0], self._head
        check_tensor("x", x)
        check_tensor("y", y)
        weights: list[Any] = [layer._parameters["weight"] for layer in self._layers]
        native = self._native_step(weights)
        is_classes = self.loss == "cross_entropy"
        if is_classes and y.is_floating_point():
            raise TypeError(f"y must be integers for {self.loss!r}, got {y.dtype}")
        rows = (x if x.dtype in (torch.bool, torch.float32) else x.float()).numpy()
        targets = (y.long() if is_classes else y.float()).contiguous().numpy()
        row_weights = None if weight is None else weight.float().contiguous().numpy()
        scale = 1 / head.temperature(self._layers[-1].out_features), head.beta
        losses, end = [], 0
        for size, rate in zip(sizes, learning_rates, strict=True):
            start, end = end, end + size
            logits, temperature, hard = first.sampling.prepare(weights)
            loss, confidence = native.run(
                rows[start:end],
                self._make_loss(
                    targets[start:end], head=scale, weight=None if row_weights is None else row_weights[start:end]
                ),
                logits=None if logits is weights else [z.detach().numpy() for z in logits],
                temperature=temperature,
                hard=hard,
                adam=(rate, *self.betas, self.eps, self.n_steps + 1),
                pool=current_pool(),
            )
            self.n_steps += 1
            first.sampling.observe(confidence, first.parametrization.n_parameters)
            losses.append(loss)
        return losses

    def state_dict(self) -> dict[str, Any]:
        """Adam's state, in the form that `torch.optim.Adam` gives and takes."""
        state = {}
        for i, (first, second) in enumerate(zip(*self._moments, strict=True) if self.n_steps else ()):
            state[i] = {"step": torch.tensor(float(self.n_steps)), "exp_avg": first, "exp_avg_sq": second}
        return {"state": state}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a `state_dict`."""
        state = state_dict["state"]
        for i, (first, second) in enumerate(zip(*self._moments, strict=True)):
            first.copy_(state[i]["exp_avg"] if state else torch.zeros_like(first))
            second.copy_(state[i]["exp_avg_sq"] if state else torch.zeros_like(second))
        self.n_steps = int(state[0]["step"]) if state else 0

    def _make_loss(self, y: np.ndarray, **options: Any) -> _native.Loss:
        if self.loss == "cross_entropy":
            return _native.Loss.cross_entropy(y, self.label_smoothing, **options)
        make = _native.Loss.binary if self.loss == "binary_cross_entropy" else _native.Loss.squared
        return make(y, **options)

    def _native_step(self, weights: list[Tensor]) -> _native.TrainStep:
        """The native twin, made anew when the network got other tensors or another factor."""
        stack = native_stack(self._layers, self._head.groups).native
        factors = [layer.grad_factor for layer in self._layers]
        key = (stack, *factors, *[weight.data_ptr() for weight in weights])
        if self._native is None or self._native[0] != key:
            operators = np.array(cast(Softmax, self._layers[0].parametrization).operators, np.uint8)
            arrays, means, squares = ([w.detach().numpy() for w in part] for part in (weights, *self._moments))
            scales = [math.prod(factors[i + 1 :]) for i in range(len(factors))]
            self._native = key, _native.TrainStep(stack, operators, arrays, means, squares, scales)
        return self._native[1]


def find_obstacle(net: nn.Module) -> str | None:
    """Why native steps cannot train a network, as the rest of a sentence that begins with "net must"; None if they can.

    Examples
    --------
    >>> from gatewise.nn import Light, logic_network
    >>> find_obstacle(logic_network(4, [8], 2, parametrization=Light()))
    'have Softmax as the parametrization of every layer, got Light() at layer 0'
    """
    if type(net).forward not in (nn.Sequential.forward, LogicNetwork.forward):
        return f"be a LogicNetwork or Sequential, got {type(net).__name__}"
    parts = list(cast(nn.Sequential, net))
    if len(parts) < 2 or not is_plain(parts[-1], GroupSum):
        return f"hold LogicLayers and a GroupSum at the end, got {type(parts[-1]).__name__ if parts else 'nothing'}"
    first = parts[0]
    for position, (layer, following) in enumerate(pairwise(parts)):
        if not (is_plain(layer, LogicLayer) and is_plain(first, LogicLayer)):
            return f"hold LogicLayers without hooks before the GroupSum, got {type(layer).__name__} at {position}"
        for holds, rule, got in _rules(layer, first, following):
            if not holds:
                return f"have {rule}, got {got} at layer {position}"
    return None


def _rules(layer: LogicLayer, first: LogicLayer, following: nn.Module) -> Iterator[tuple[bool, str, object]]:
    """What must hold for a layer, in words, and what it has instead."""
    softmax, weight = layer.parametrization, layer._parameters.get("weight")
    yield isinstance(softmax, Softmax), "Softmax as the parametrization of every layer", softmax
    yield softmax.kind == first.parametrization.kind, "the same operators in every layer", softmax
    relaxation = layer.relaxation
    yield isinstance(relaxation, Probabilistic), "the probabilistic relaxation in every layer", relaxation
    own = f"a {layer.sampling} that is not that of layer 0"
    yield layer.sampling == first.sampling, "one sampling, which all layers share", own
    is_native = weight is not None and weight.device.type == "cpu" and weight.dtype == torch.float32
    kind = "another tensor" if weight is None else f"{weight.dtype} on {weight.device}"
    yield is_native, "weights in float32 on the CPU", kind
    yield weight is not None and weight.requires_grad, "weights that require a gradient", "one that does not"
    width = following.in_features if isinstance(following, LogicLayer) else layer.out_features
    yield width == layer.out_features, f"{width} gates for the layer after it", layer.out_features
