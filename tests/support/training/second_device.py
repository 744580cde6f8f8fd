"""A second device in pure Python: its tensors live on the CPU, but torch believes them to be elsewhere.

It refuses to mix devices, as a GPU does, and counts what would make a host wait for a GPU: numbers and tensors that are
read back, shapes that depend on values, and copies to the device that are not asked to be `non_blocking`. A process has
such a device for good, so that tests which use it run in a process of their own.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "second"
WAITS = {"_local_scalar_dense", "equal", "nonzero", "masked_select", "_unique2", "unique_dim", "is_nonzero"}
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_"}
VIEWS = {
    f"aten::{name}"
    for name in (
        *("diagonal", "expand", "permute", "select", "slice", "split", "split_with_sizes"),
        *("squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "_unsafe_view", "_reshape_alias"),
    )
}

waits: list[str] = []  # operators that a host would have waited for, in order
calls: list[str] = []  # all operators that ran on the device
_memory: dict[int, Tensor] = {}  # by storage, which detached and saved tensors share
_libraries: list[torch.library.Library] = []


def install() -> None:
    """Make the device known to torch, once in a process."""
    _setup_privateuseone_for_python_backend(NAME)
    everything, aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    _libraries.extend([everything, aten])
    everything.fallback(_run, "PrivateUse1")
    for name in torch._C._dispatch_get_all_op_names():  # torch would make views itself, of memory it does not know
        if name.partition(".")[0] in VIEWS:
            base, _, overload = name.removeprefix("aten::").partition(".")
            op = getattr(getattr(torch.ops.aten, base), overload or "default")
            if not torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd"):
                aten.impl(op, partial(_run, op), "PrivateUse1")
    deepcopy = Tensor.__deepcopy__  # would ask for the memory
    Tensor.__deepcopy__ = lambda tensor, memo: _copy_deeply(deepcopy, tensor, memo)  # type: ignore[method-assign]


def _copy_deeply(copy: Any, tensor: Tensor, memo: dict[int, Any]) -> Any:
    if not _is_here(tensor):
        return copy(tensor, memo)
    memo[id(tensor)] = tensor.detach().clone()
    return memo[id(tensor)]


def _run(op: Any, *args: Any, **kwargs: Any) -> Any:
    """An operator on the memory of its arguments; the results are on the device."""
    name = op._schema.name.rpartition("::")[2]
    calls.append(name)
    given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
    if name == "_copy_from":
        return _copy(*args, **kwargs)
    for each in given:
        if not _is_here(each) and each.dim():  # single numbers may be elsewhere, as on a GPU
            raise RuntimeError(f"{name} got tensors on {NAME} and on {each.device}")
    if any(isinstance(each, torch.Generator) and each.device.type != NAME for each in kwargs.values()):
        raise RuntimeError(f"{name} got a generator that is not on {NAME}")
    if name in WAITS or (name in INDEXED and any(each.dtype == torch.bool for each in given[1:])):
        waits.append(name)
    if "device" in kwargs:
        kwargs["device"] = torch.device("cpu")
    if name in {"view", "_reshape_alias"}:  # torch believes every tensor of the device to be contiguous
        op, args = torch.ops.aten.reshape.default, args[:2]
    raws = tree_map(_find, (args, kwargs))
    if name == "_fused_adam_":  # it reads gradients in the order of their weights, as torch lays them out elsewhere
        raws[0][1][:] = [gradient.contiguous() for gradient in raws[0][1]]
    given_as = {id(_find(each)): each for each in given if _is_here(each)}
    result = op(*raws[0], **raws[1])
    for each in given:
        if each.shape != _find(each).shape:  # room that an operator enlarged for its result
            each.data = _wrap(_find(each))
    return tree_map(lambda value: given_as.get(id(value), _wrap(value)) if isinstance(value, Tensor) else value, result)


def _copy(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    """To the device, from it, or within it."""
    if not _is_here(target) or not (_is_here(source) or non_blocking):
        waits.append("copy")
    _find(target).copy_(_find(source))
    return target


def _is_here(tensor: Tensor) -> bool:
    return tensor.device.type == NAME


def _find(value: Any) -> Any:
    """The memory of a tensor of the device; anything else as it is."""
    if not (isinstance(value, Tensor) and _is_here(value)):
        return value
    return _memory[value.untyped_storage()._cdata]


def _wrap(raw: Tensor) -> Tensor:
    made: Tensor = torch._C._acc.create_empty_tensor(tuple(raw.shape), raw.dtype)
    _memory[made.untyped_storage()._cdata] = raw  # takes the place of one that is gone, at the same address
    return made
