"""Packages that only the peers need: found when called for, named in one sentence when absent."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(package: str) -> ModuleType:
    """Import an optional package, or say in one sentence how to get it.

    Parameters
    ----------
    package : str
        Name of the module to import; a submodule such as ``"hmmlearn.hmm"`` is allowed.

    Returns
    -------
    types.ModuleType
        The module.

    Raises
    ------
    ModuleNotFoundError
        When the package is absent; the message names the extra that brings it.

    Examples
    --------
    >>> from stepsmooth.peers import require
    >>> require("math").sqrt(4.0)
    2.0
    >>> require("no_such_package")
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: The peer 'no_such_package' is not installed: pip install stepsmooth[peers]
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        root = package.split(".")[0]
        if error.name is None or error.name.split(".")[0] != root:
            raise  # the package is there but broken: its own message says more than ours
        sentence = f"The peer {root!r} is not installed: pip install stepsmooth[peers]"
        raise ModuleNotFoundError(sentence, name=root) from error
