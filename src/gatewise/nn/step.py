"""A whole training step in one native call: forward, loss, backward and Adam.

In: a LogicNetwork, then one batch after the other. Out: the network's weights, changed in place, and the loss of each
batch. Invariant: up to float32 rounding, the same weights as torch's autograd with torch.optim.Adam; bit for bit the
same ones whatever the number of threads.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor

from gatewise import _native
from gatewise.nn.functional import current_pool
from gatewise.nn.layer import GroupSum, LogicLayer, LogicNetwork, can_share, native_stack
from gatewise.nn.parametrization import Softmax

LossName = Literal["cross_entropy", "binary_cross_entropy", "squared_error"]


class TrainStep:
    """Trains a network batch by batch, many times faster than autograd if the network is small.

    Parameters
    ----------
    net : LogicNetwork
        One that `TrainStep.supports`: on the CPU, float32, layers of equal settings with `Softmax` and the
        probabilistic relaxation.
    loss : "cross_entropy", "binary_cross_entropy" or "squared_error"
        Of the softmax over groups, of each group's sigmoid, or of the groups themselves; the mean of the batch.
    lr, betas, eps
        Of Adam; `lr` is an attribute that may change from step to step.
    label_smoothing : float
        For "cross_entropy", as in `torch.nn.CrossEntropyLoss`.

    Examples
    --------
    >>> from gatewise.nn import logic_network
    >>> net = logic_network(4, [16, 16], 2, tau=2.0, generator=torch.Generator().manual_seed(0))
    >>> x = torch.tensor([[False, False, True, True], [True, True, False, False]])
    >>> step = TrainStep(net, lr=0.1)
    >>> losses = [step(x, torch.tensor([0, 1])) for _ in range(20)]
    >>> losses[-1] < losses[0]
    True
    """

    def __init__(
        self,
        net: LogicNetwork,
        loss: LossName = "cross_entropy",
        *,
        lr: float = 0.01,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        label_smoothing: float = 0.0,
    ) -> None:
        if not self.supports(net):
            raise ValueError(
                "net must be a LogicNetwork on the CPU in float32 whose layers share their settings, with Softmax and "
                f"the probabilistic relaxation, got {net}; others train with autograd and torch.optim.Adam"
            )
        if loss not in get_args(LossName):
            raise ValueError(f"loss must be one of {', '.join(get_args(LossName))}, got {loss!r}")
        if not 0 <= label_smoothing < 1:
            raise ValueError(f"label_smoothing must be in [0, 1), got {label_smoothing}")
        self.net, self.loss, self.lr, self.betas, self.eps = net, loss, lr, betas, eps
        self.label_smoothing = label_smoothing
        self.n_steps = 0
        self._layers = cast(list[LogicLayer], list(net)[:-1])
        self._head = cast(GroupSum, net[-1])
        self._moments = [[torch.zeros_like(layer.weight.detach()) for layer in self._layers] for _ in range(2)]
        self._native: tuple[tuple[object, ...], _native.TrainStep] | None = None

    @staticmethod
    def supports(net: torch.nn.Module) -> bool:
        """Whether the network can be trained by native steps."""
        if not isinstance(net, LogicNetwork):
            return False
        *layers, head = net
        return (
            bool(layers)
            and isinstance(head, GroupSum)
            and can_share(layers)
            and isinstance(layers[0].parametrization, Softmax)
            and all(layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32 for layer in layers)
        )

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
        return self.run(x, y, [len(x)], [self.lr], weight)[0]

    def run(
        self, x: Tensor, y: Tensor, sizes: Sequence[int], rates: Sequence[float], weight: Tensor | None = None
    ) -> list[float]:
        """Steps on consecutive batches. The network's tensors must not be exchanged meanwhile.

        Parameters
        ----------
        x, y, weight : as for one step
            Of all batches together.
        sizes : int, of each batch
        rates : float, of each batch
            Learning rates, instead of `lr`.

        Returns
        -------
        list of float
            The mean loss of each batch before its step.
        """
        first, head = self._layers[0], self._head
        weights: list[Any] = [layer._parameters["weight"] for layer in self._layers]
        native = self._native_step(weights)
        is_classes = self.loss == "cross_entropy"
        if is_classes and y.is_floating_point():
            raise TypeError(f"y must be integers for {self.loss!r}, got {y.dtype}")
        take_step: Callable[..., tuple[float, float]] = native.run_classes if is_classes else native.run_targets
        kind = self.label_smoothing if is_classes else self.loss == "binary_cross_entropy"
        rows = (x if x.dtype in (torch.bool, torch.float32) else x.float()).numpy()
        targets = (y.long() if is_classes else y.float()).contiguous().numpy()
        row_weights = None if weight is None else weight.float().contiguous().numpy()
        scale = 1 / head.temperature(self._layers[-1].out_features), head.beta
        losses, end = [], 0
        for size, rate in zip(sizes, rates, strict=True):
            start, end = end, end + size
            logits, temperature, hard = first.sampling.prepare(weights)
            loss, confidence = take_step(
                rows[start:end],
                targets[start:end],
                None if row_weights is None else row_weights[start:end],
                kind,
                scale,
                None if logits is weights else [z.detach().numpy() for z in logits],
                temperature,
                hard,
                (rate, *self.betas, self.eps, self.n_steps + 1),
                current_pool(),
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

    def _native_step(self, weights: list[Tensor]) -> _native.TrainStep:
        """The native twin, made anew when the network got other tensors or another factor."""
        stack = native_stack(self._layers, self._head.groups)
        first = self._layers[0]
        key = (stack, first.grad_factor, *[weight.data_ptr() for weight in weights])
        if self._native is None or self._native[0] != key:
            operators = np.array(cast(Softmax, first.parametrization).operators, np.uint8)
            arrays, means, squares = ([w.detach().numpy() for w in part] for part in (weights, *self._moments))
            scales = [first.grad_factor**above for above in reversed(range(len(weights)))]
            self._native = key, _native.TrainStep(stack, operators, arrays, means, squares, scales)
        return self._native[1]
