"""`decompose`, the short way to a fitted `StepSmooth`."""

from typing import Any

import numpy as np

from stepsmooth.estimators.step_smooth import StepSmooth
from stepsmooth.model.arrays import Anything


def decompose(y: Anything, x: Anything = None, **params: Any) -> StepSmooth:
    """Decompose a signal: the short way to a fitted `StepSmooth`.

    Parameters
    ----------
    y : (n,) or (n, p) array
    x : (n,) array, optional
        Where y was observed; by default 0, 1, 2, ...
    **params
        Parameters of `StepSmooth`.

    Returns
    -------
    StepSmooth, fitted

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth import decompose
    >>> t = np.arange(300)
    >>> steps = np.random.default_rng(0).integers(2, size=300)
    >>> m = decompose(np.sin(t / 40) + 2.0 * steps)
    >>> bool((m.labels_ == steps).all())
    True
    """
    y = np.asarray(y)
    x = np.arange(len(y), dtype=np.float64) if x is None else np.asarray(x)
    if x.ndim != 1:
        raise ValueError(
            f"x must have one number for each observation, got shape {x.shape}; "
            "for points in a plane or in space use StepSmooth."
        )
    return StepSmooth(**params).fit(x[:, None], y)
