"""What relaxed layers compute: the definition, in plain torch, on any device.

In: samples, wiring and coefficients of (1, a, b, ab) per gate, or logits over operators. Out: tensors with gradients of
any order. Invariant: `gatewise.nn.kernels.native` equals these functions up to float32 rounding, on 0/1 samples and 0/1
choices exactly.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from gatewise.gates import coefficients as gate_coefficients

Number = float | Tensor


def evaluate_gates(x: Tensor, a: Tensor, b: Tensor, coefficients: Tensor) -> Tensor:
    """One layer.

    Parameters
    ----------
    x : (..., in_features)
    a, b : integer tensors, (out_features,)
        Operands of each gate.
    coefficients : (out_features, 4)
        Of 1, a, b and ab.

    Returns
    -------
    (..., out_features)

    Examples
    --------
    >>> either = torch.tensor([[0.0, 1.0, 1.0, -1.0]])  # a + b - ab
    >>> evaluate_gates(torch.tensor([[0.5, 0.5]]), torch.tensor([0]), torch.tensor([1]), either).tolist()
    [[0.75]]
    """
    return apply_gates(read_wires(x, a), read_wires(x, b), coefficients)


def read_wires(x: Tensor, wires: Tensor) -> Tensor:
    """What wires carry, (..., in_features) -> (..., n), for integers `wires` of shape (n,).

    The values of one wire lie next to each other in the result: what reads it in turn copies whole rows of memory.

    Examples
    --------
    >>> read_wires(torch.tensor([[0.25, 0.5]]), torch.tensor([1, 1, 0])).tolist()
    [[0.5, 0.5, 0.25]]
    """
    return x.movedim(-1, 0).index_select(0, wires).movedim(0, -1)


def apply_gates(a: Tensor, b: Tensor, coefficients: Tensor) -> Tensor:
    """The gates of operands a and b, (..., out_features) each, by their coefficients, (out_features, 4).

    Examples
    --------
    >>> apply_gates(torch.tensor([1.0]), torch.tensor([0.25]), torch.tensor([[0.0, 0.0, 0.0, 1.0]])).tolist()
    [0.25]
    """
    c0, c1, c2, c3 = coefficients.unbind(-1)
    return c0 + c1 * a + b * (c2 + c3 * a)


def apply_gates_on_bits(a: Tensor, b: Tensor, mixed: Tensor, chosen: Tensor) -> Tensor:
    """The chosen gates of operands 0 and 1, with the gradients of the mixed ones.

    Parameters
    ----------
    a, b : (..., out_features)
    mixed, chosen : (out_features, 4)
        Coefficients of 1, a, b and ab.

    Returns
    -------
    (..., out_features)

    Examples
    --------
    >>> a = torch.tensor([1.0], requires_grad=True)
    >>> both = torch.tensor([[0.0, 0.0, 0.0, 1.0]])
    >>> y = apply_gates_on_bits(a, torch.tensor([1.0]), 0.5 * both, both)
    >>> y.backward()
    >>> y.item(), a.grad.item()
    (1.0, 0.5)
    """
    with torch.no_grad():
        value = apply_gates(a, b, chosen)
    if not torch.is_grad_enabled():
        return value
    relaxed = apply_gates(a, b, mixed)
    return value + (relaxed - relaxed.detach())


def round_gradient(x: Tensor) -> Tensor:
    """x, values 0 and 1, with a gradient that is rounded to bfloat16 if it is in float32.

    Where many readers of a value have gradients for it, their sum is what is rounded.

    Examples
    --------
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> y = round_gradient(x)
    >>> y.backward(torch.tensor([1.001]))
    >>> y.item(), x.grad.item()
    (1.0, 1.0)
    """
    # The values are exact in bfloat16, and the gradient of a cast is a cast.
    return x.bfloat16().float() if x.dtype == torch.float32 else x


def table_coefficients(truth: Tensor) -> Tensor:
    """Coefficients of gates given the entries of their truth tables, (4, n) for 00, 01, 10, 11 -> (n, 4).

    Examples
    --------
    >>> table_coefficients(torch.tensor([[0.0], [1.0], [1.0], [0.0]])).tolist()  # a + b - 2 ab
    [[0.0, 1.0, 1.0, -2.0]]
    """
    t00, t01, t10, t11 = truth
    return torch.stack([t00, t10 - t00, t01 - t00, t11 - t10 - t01 + t00], 1)


def mix_wires(x: Tensor, candidates: Tensor, logits: Tensor, temperature: Number = 1.0) -> Tensor:
    """Pins that read a mixture of their candidates, as a softmax over their logits weighs them.

    Parameters
    ----------
    x : (..., in_features)
    candidates : integer tensor, (out_features, k)
    logits : (out_features, k)
    temperature : float, or a tensor of one number
        Of the softmax.

    Returns
    -------
    (..., out_features)

    Examples
    --------
    >>> mix_wires(torch.tensor([[0.0, 1.0, 1.0]]), torch.tensor([[0, 1]]), torch.zeros(1, 2)).tolist()
    [[0.5]]
    """
    return (x[..., candidates] * (logits / temperature).softmax(-1)).sum(-1)


def choose_wires(x: Tensor, wires: Tensor, candidates: Tensor, logits: Tensor, temperature: Number = 1.0) -> Tensor:
    """Pins that read the wires that were chosen; the logits get the gradient of the mixture, the wires that of the pin.

    Parameters
    ----------
    x, candidates, logits, temperature : as for `mix_wires`
    wires : integer tensor, (out_features,)
        One of the candidates of each pin.

    Returns
    -------
    (..., out_features)

    Examples
    --------
    >>> x, logits = torch.tensor([[0.0, 1.0, 1.0]]), torch.zeros(1, 2, requires_grad=True)
    >>> pin = choose_wires(x, torch.tensor([1]), torch.tensor([[0, 1]]), logits)
    >>> pin.sum().backward()
    >>> pin.tolist(), logits.grad.tolist()
    ([[1.0]], [[-0.25, 0.25]])
    """
    value = read_wires(x, wires)
    if not (torch.is_grad_enabled() and logits.requires_grad):
        return value
    mixed = mix_wires(x.detach(), candidates, logits, temperature)
    return value + (mixed - mixed.detach())


def mix_taps(columns: Tensor, candidates: Tensor, logits: Tensor, temperature: Number = 1.0) -> Tensor:
    """Operands at all positions that read mixtures of their candidates, as a softmax over their logits weighs them.

    Parameters
    ----------
    columns : (n, n_values, n_positions)
        Values of the windows, as `torch.nn.functional.unfold` gives them.
    candidates : integer tensor, (n_gates, k)
    logits : (n_gates, k)
    temperature : float, or a tensor of one number
        Of the softmax.

    Returns
    -------
    (n, n_gates, n_positions)

    Examples
    --------
    >>> columns = torch.tensor([[[0.0, 1.0], [1.0, 1.0]]])
    >>> mix_taps(columns, torch.tensor([[0, 1]]), torch.zeros(1, 2)).tolist()
    [[[0.5, 1.0]]]
    """
    shares = (logits / temperature).softmax(-1).to(columns.dtype)
    # As a product of matrices: to gather the candidates of all positions would take k times the memory.
    matrix = shares.new_zeros(len(logits), columns.shape[1]).scatter_add(1, candidates.long(), shares)
    return matrix @ columns


def choose_taps(columns: Tensor, taps: Tensor, candidates: Tensor, logits: Tensor, temperature: Number = 1.0) -> Tensor:
    """Operands at all positions that read the taps that were chosen; gradients as those of `choose_wires`.

    Parameters
    ----------
    columns, candidates, logits, temperature : as for `mix_taps`
    taps : integer tensor, (n_gates,)
        One of the candidates of each operand.

    Returns
    -------
    (n, n_gates, n_positions)

    Examples
    --------
    >>> columns = torch.tensor([[[0.0, 1.0], [1.0, 1.0]]])
    >>> choose_taps(columns, torch.tensor([1]), torch.tensor([[0, 1]]), torch.zeros(1, 2)).tolist()
    [[[1.0, 1.0]]]
    """
    value = columns.index_select(1, taps)
    if not (torch.is_grad_enabled() and logits.requires_grad):
        return value
    mixed = mix_taps(columns.detach(), candidates, logits, temperature)
    return value + (mixed - mixed.detach())


def evaluate_layers(
    x: Tensor,
    coefficients: Tensor,
    wiring: Sequence[tuple[Tensor, Tensor]],
    *,
    groups: int = 0,
    grad_factors: Sequence[float],
) -> Tensor:
    """Layers one after the other, and the sums of their last outputs.

    Parameters
    ----------
    x : (..., in_features)
    coefficients : (n_gates, 4)
        Of all layers, one after the other.
    wiring : pairs of integer tensors, (out_features,) each
        Operands of each layer's gates.
    groups : int
        Sums over so many equal consecutive groups; 0 gives the last layer itself.
    grad_factors : floats, one per layer
        See `scale_gradient`; applied to the input of the layer.

    Returns
    -------
    (..., groups), or (..., out_features) of the last layer

    Examples
    --------
    >>> wires = [(torch.tensor([0, 1]), torch.tensor([1, 0]))]
    >>> sums = evaluate_layers(torch.ones(1, 2), torch.ones(2, 4), wires, groups=1, grad_factors=[1.0])
    >>> sums.tolist()
    [[8.0]]
    """
    # Features first: a wire is a row of memory, which gathers and scatters move as a whole. Twice as fast on the CPU.
    values = x.reshape(-1, x.shape[-1]).T.contiguous()
    parts = coefficients.to(x.dtype).T.contiguous()[..., None].split([len(a) for a, _ in wiring], 1)
    for (a, b), (c0, c1, c2, c3), factor in zip(wiring, parts, grad_factors, strict=True):
        values = scale_gradient(values, factor)
        left, right = values.index_select(0, a), values.index_select(0, b)
        values = torch.addcmul(c0 + c1 * left, right, c2 + c3 * left)
    if groups:
        values = values.unflatten(0, (groups, -1)).sum(1)
    return values.T.reshape(*x.shape[:-1], len(values))


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """x, with a gradient that is multiplied by `factor`.

    Examples
    --------
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = scale_gradient(x, 3.0)
    >>> y.backward()
    >>> y.item(), x.grad.item()
    (2.0, 3.0)
    """
    return x if factor == 1.0 or not x.requires_grad else x * factor + (x * (1 - factor)).detach()


def mix_gates(logits: Tensor, operators: Sequence[int], temperature: Number = 1.0, *, hard: bool = False) -> Tensor:
    """Coefficients of gates that are mixtures of operators.

    Parameters
    ----------
    logits : (n_operators, out_features)
    operators : gate ids, one for each row of `logits`
    temperature : float, or a tensor of one number
        Of the softmax; with `hard`, of the softmax that gradients see.
    hard : bool
        Forward takes the operator with the largest logit, the lowest on ties; the gradient is the softmax's.

    Returns
    -------
    (out_features, 4)

    Examples
    --------
    >>> mix_gates(torch.zeros(2, 1), [0, 15]).tolist()  # half false, half true
    [[0.5, 0.0, 0.0, 0.0]]
    """
    return choose(logits, temperature, hard=hard).T @ coefficient_table(operators, logits)


def coefficient_table(operators: Sequence[int], like: Tensor) -> Tensor:
    """Coefficients of 1, a, b and ab of operators, (n_operators, 4), where and in the precision that `like` is.

    Examples
    --------
    >>> coefficient_table([1, 7], torch.zeros(1)).tolist()  # AND and OR
    [[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0]]
    """
    key = tuple(operators), like.dtype, like.device
    if torch.compiler.is_compiling():
        return _make_table(*key)
    found = _tables.get(key)
    if found is None:
        with torch.inference_mode(False):  # it will be used in training, too
            found = _make_table(*key)
        if type(found) is Tensor:  # neither one of a compiler, nor one without memory
            _tables[key] = found
    return found


_ROWS = tuple(map(tuple, gate_coefficients().tolist()))  # numbers of Python, which compilers read
_tables: dict[tuple[tuple[int, ...], torch.dtype, torch.device], Tensor] = {}  # once on each device: a copy waits


def _make_table(operators: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor([_ROWS[operator] for operator in operators], dtype=dtype, device=device)


def choose(logits: Tensor, temperature: Number = 1.0, *, hard: bool = False) -> Tensor:
    """Softmax over the first axis; with `hard`, the largest alone, with the gradient of the softmax.

    Examples
    --------
    >>> choose(torch.tensor([[1.0], [3.0]]), hard=True).tolist()
    [[0.0], [1.0]]
    """
    probabilities = (logits / temperature).softmax(0)
    if not hard:
        return probabilities
    chosen = torch.zeros_like(logits).scatter_(0, logits.argmax(0, keepdim=True), 1.0)
    return chosen + (probabilities - probabilities.detach())
