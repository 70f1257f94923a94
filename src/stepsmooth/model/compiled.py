"""Whether loops are compiled already: the first fit after an installation takes long for that alone, and may say so."""

import sys
from pathlib import Path


def compiled_before(package: str) -> bool:
    """Return whether compiled loops of a loaded package lie in numba's cache, from this process or from another.

    Parameters
    ----------
    package : str
        Such as "stepsmooth.grid".

    Returns
    -------
    bool
        Also True where there is nothing to compile.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.model import kmeans_1d
    >>> _ = kmeans_1d(np.array([0.0, 0.1, 5.0]), 2)
    >>> compiled_before("stepsmooth.model")
    True
    """
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{package}.")]
    loops = [value for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    places = {Path(loop.stats.cache_path) for loop in loops if loop.stats.cache_path}
    return not places or any(any(place.glob("*.nbi")) for place in places)
