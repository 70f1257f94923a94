"""The gauge: only f + const is identified, so one convention fixes the constant."""

import numpy as np

from stepsmooth.model.arrays import Floats


def centre(smooth: Floats, levels: Floats, weights: Floats, mean: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Move a constant between f and the levels so that the weighted mean of f is `mean`.

    Parameters
    ----------
    smooth : (n, 1) or (n, p) array
        One shared f, or one per channel.
    levels : (M, p) array
    weights : (n,) array
    mean : float

    Returns
    -------
    smooth, levels : arrays of the same shapes, with smooth + levels unchanged
    shift : (1,) or (p,) array
        What was subtracted from `smooth` and added to `levels`.

    Examples
    --------
    >>> import numpy as np
    >>> f, mu, shift = centre(np.array([[1.0], [3.0]]), np.array([[0.0], [10.0]]), np.ones(2))
    >>> f.ravel(), mu.ravel(), shift
    (array([-1.,  1.]), array([ 2., 12.]), array([2.]))
    """
    shift = np.average(smooth, axis=0, weights=weights) - mean
    return smooth - shift, levels + shift, shift
