"""What is made of wires and kept for as long as they live and do not change.

In: tensors of wires, and how to make something of them. Out: what was made, the same object for the same wires.
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from torch import Tensor
from torch.utils.weak import TensorWeakRef, WeakIdKeyDictionary

Made = TypeVar("Made")


class Twin(NamedTuple, Generic[Made]):
    """What was made, and the wires that it was made of."""

    wires: list[TensorWeakRef]
    versions: list[int]
    made: Made


class Twins(Generic[Made]):
    """Twins of wires, kept with the first of them.

    Examples
    --------
    >>> import torch
    >>> wires, twins = [torch.zeros(3)], Twins()
    >>> twins.find(wires, (), lambda: len(wires[0])), len(twins)
    (3, 1)
    """

    def __init__(self) -> None:
        self._kept = WeakIdKeyDictionary()  # of the first wires, by what else a twin is made of

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, wires: Sequence[Tensor], key: tuple[int, ...], make: Callable[[], Made]) -> Made:
        """The twin of wires; `key` is what else it depends on."""
        of_first = self._kept.setdefault(wires[0], {})
        versions, kept = [each._version for each in wires], of_first.get((len(wires), *key))
        same = kept and kept.versions == versions
        if not same or not all(ref() is each for ref, each in zip(kept.wires, wires, strict=True)):
            kept = of_first[len(wires), *key] = Twin([TensorWeakRef(each) for each in wires], versions, make())
        return kept.made
