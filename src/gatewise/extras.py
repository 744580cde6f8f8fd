"""Optional packages: each is imported where it is needed, or named together with the command that installs it.

In: the name of a module, the extra of pyproject.toml that brings it, and who needs it. Out: the module.
"""

import importlib
from types import ModuleType


def require(module: str, extra: str, *, needed_by: str) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Full name of the module, for instance ``"matplotlib.figure"``.
    extra : str
        The extra in pyproject.toml that installs the package.
    needed_by : str
        What cannot work without it; the message begins with it.

    Returns
    -------
    module

    Raises
    ------
    ModuleNotFoundError
        The package, or another one that it imports, is not installed; the message says how to install it.

    Examples
    --------
    >>> require("no_such_package", "torch", needed_by="gatewise.nn")
    Traceback (most recent call last):
    ModuleNotFoundError: gatewise.nn needs no_such_package, which is not installed; get it by: pip install ...
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        package = missing.partition(".")[0]
        message = f"{needed_by} needs {package}, which is not installed; get it by: {install_command(extra)}"
        raise ModuleNotFoundError(message, name=missing) from error


def install_command(extra: str) -> str:
    """The command that installs an extra, in a checkout and by name.

    Examples
    --------
    >>> print(install_command("torch"))
    pip install -c constraints.txt '.[torch]' in a checkout of gatewise, or pip install 'gatewise[torch]'
    """
    return f"pip install -c constraints.txt '.[{extra}]' in a checkout of gatewise, or pip install 'gatewise[{extra}]'"
