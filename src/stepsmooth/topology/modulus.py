"""How much a function may vary over a distance: the modulus of continuity, and norms of vector outputs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.topology.arguments import level_columns, positive


@dataclass(frozen=True)
class Modulus:
    """|f(x) - f(x')| <= omega(d(x, x')), with the metric d in which it holds.

    Parameters
    ----------
    omega : callable
        Takes and returns an array; it must not decrease.
    metric : str, kernel or callable, default="euclidean"
        As in :func:`minimum_spanning_tree`.
    words : str
        How to say it.

    Examples
    --------
    >>> holder = Modulus(lambda t: 2.0 * np.sqrt(t))
    >>> holder([0.0, 0.25])
    array([0., 1.])
    """

    omega: Callable[[Floats], Anything]
    metric: Anything = "euclidean"
    words: str = "the modulus given"

    def __call__(self, t: Anything) -> Floats:
        """Return omega(t), if omega is at least 0 and does not decrease up to there."""
        asked = np.atleast_1d(np.asarray(t, dtype=np.float64))
        grid = np.unique(np.concatenate([np.linspace(0.0, asked.max(), 129), asked]))
        values = np.broadcast_to(np.asarray(self.omega(grid), dtype=np.float64), grid.shape)
        if not np.all(values >= 0.0):
            raise ValueError(f"modulus must be at least 0; it is {values[~(values >= 0.0)][0]:g} in places.")
        falls = np.flatnonzero(np.diff(values) < -1e-12 * values.max())
        if len(falls):
            i = falls[0]
            raise ValueError(
                f"modulus must not decrease with the distance; it is {values[i]:g} at {grid[i]:g} "
                f"and {values[i + 1]:g} at {grid[i + 1]:g}."
            )
        return np.asarray(values[np.searchsorted(grid, asked)])


def as_modulus(modulus: Anything) -> Modulus:
    """Return the modulus that is meant: a Lipschitz constant, a function, or (RKHS norm, kernel).

    Parameters
    ----------
    modulus : float, callable, tuple or Modulus
        A number L stands for omega(t) = L t; a function for itself; a pair (R, kernel) for |f|_H <= R in the space of
        the kernel, that is omega(t) = R t in the kernel metric.

    Examples
    --------
    >>> from stepsmooth.model import MinKernel
    >>> as_modulus(3.0)([2.0])
    array([6.])
    >>> as_modulus((2.0, MinKernel())).metric
    MinKernel(origin=0.0)
    """
    if isinstance(modulus, Modulus):
        return modulus
    if isinstance(modulus, tuple):
        if len(modulus) != 2 or not hasattr(modulus[1], "diag"):
            raise ValueError("modulus as a pair must be (norm of f, kernel).")
        radius = positive("the norm of f in modulus", modulus[0], zero=True)
        return Modulus(lambda t: radius * t, modulus[1], f"|f| <= {radius:g} in the space of the kernel")
    if callable(modulus):
        return Modulus(modulus)
    constant = positive("modulus", modulus, zero=True)
    return Modulus(lambda t: constant * t, words=f"the Lipschitz constant {constant:g}")


def size(values: Floats, norm: Anything = 2) -> Floats:
    """Return the norm of each row: 1, 2, inf, or a function of the (m, p) array.

    Examples
    --------
    >>> size(np.array([[3.0, 4.0]])), size(np.array([[3.0, 4.0]]), np.inf)
    (array([5.]), array([4.]))
    """
    if callable(norm):
        return np.asarray(norm(values), dtype=np.float64)
    if norm not in (1, 2, np.inf):
        raise ValueError(f"norm must be 1, 2, inf or a function; found {norm!r}.")
    return np.asarray(np.linalg.norm(values, ord=norm, axis=1))


def level_gap(levels: Anything, *, norm: Anything = 2) -> float:
    """Return min over k != l of |mu_k - mu_l|.

    Parameters
    ----------
    levels : (M,) or (M, p) array
    norm : 1, 2, inf or callable, default=2
        The norm of differences of vector levels.

    Examples
    --------
    >>> level_gap([0.0, 3.0, 1.0])
    1.0
    >>> level_gap([[0.0, 0.0], [3.0, 4.0]])
    5.0
    """
    mu = level_columns(levels)
    first, second = np.triu_indices(len(mu), k=1)
    return float(size(mu[first] - mu[second], norm).min())


def channel_factor(n_channels: int, norm: Anything = 2) -> float:
    """Return the norm of (1, ..., 1): how much a scalar f that all p channels share varies, per unit of f.

    Examples
    --------
    >>> channel_factor(4), channel_factor(4, np.inf)
    (2.0, 1.0)
    """
    return float(size(np.ones((1, n_channels)), norm)[0])
