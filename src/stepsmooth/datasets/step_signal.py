"""A simulated signal together with the answer: labels, levels, smooth part and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arguments import real_number


@dataclass(frozen=True, eq=False)  # arrays have no single truth value, so == would raise
class StepSignal:
    """A signal ``y = smooth + levels[labels] + noise`` and everything it was made of.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Where the signal was observed, ascending.
    y : ndarray of shape (n,) or (n, p)
        The observations, one column per channel.
    labels : ndarray of shape (n,), int64
        The level of each observation, 0 to M - 1, numbered by ascending level (by the first channel when
        there are several).
    levels : ndarray of shape (M,) or (M, p)
        The levels. A level that happens not to occur in `labels` is listed all the same.
    smooth : ndarray of shape (n,)
        The smooth part at `x`, shared by all channels. It is not centred: only ``smooth + constant`` can
        be recovered from `y`.
    noise_variance : float
        The variance of the Gaussian noise in each channel.

    Examples
    --------
    >>> from stepsmooth.datasets import make_sine_steps
    >>> signal = make_sine_steps(6, 2, random_state=0)
    >>> signal.X.shape, signal.labels
    ((6, 1), array([1, 1, 1, 0, 0, 0]))
    >>> import numpy as np
    >>> np.allclose(signal.y, signal.smooth + signal.levels[signal.labels])
    True
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    labels: NDArray[np.int64]
    levels: NDArray[np.float64]
    smooth: NDArray[np.float64]
    noise_variance: float

    @property
    def X(self) -> NDArray[np.float64]:
        """The points as a column, of shape (n, 1), as estimators take them."""
        return self.x[:, None]


def observe(
    x: NDArray[np.float64],
    labels: NDArray[np.int64],
    levels: NDArray[np.float64],
    smooth: NDArray[np.float64],
    noise_variance: object,
    rng: np.random.Generator,
) -> StepSignal:
    """Add smooth part, steps and Gaussian noise, and keep the parts beside the sum.

    Examples
    --------
    >>> import numpy as np
    >>> half = np.array([0.5, 1.0])
    >>> labels, levels = np.array([0, 1]), np.array([-1.0, 1.0])
    >>> observe(half, labels, levels, half, 0.0, np.random.default_rng(0)).y
    array([-0.5,  2. ])
    """
    variance = real_number("noise_variance", noise_variance, least=0)
    steps = levels[labels]
    # Drawn even without noise: the noise level then changes nothing else that one generator yields.
    noise = np.sqrt(variance) * rng.standard_normal(steps.shape)
    y = (smooth if levels.ndim == 1 else smooth[:, None]) + steps + noise
    return StepSignal(x=x, y=y, labels=labels, levels=levels, smooth=smooth, noise_variance=variance)
