"""Everything that lasts: `.gw` files of models and circuits, and files and folders written all or nothing.

`docs/format.md` specifies the format. There is one file for each stored thing, with a function that stores it, giving
tensors and a JSON document, and one that restores it from them.
"""

from gatewise.store.container import FileError
from gatewise.store.content import from_bytes, load, save, to_bytes

__all__ = ["FileError", "from_bytes", "load", "save", "to_bytes"]
