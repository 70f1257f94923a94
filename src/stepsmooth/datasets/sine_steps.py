"""The paper's simulated model: independent uniform labels on a sine wave."""

from __future__ import annotations

import numpy as np

from .arguments import Seed, generator
from .sine_parts import sine_parts
from .step_signal import StepSignal, observe


def make_sine_steps(
    n_samples: int = 400,
    n_levels: int = 3,
    beta: float = 3.0,
    *,
    noise_variance: float = 0.0,
    amplitude: float = 0.75,
    phase: float = 0.0,
    n_channels: int = 1,
    equispaced: bool = True,
    random_state: Seed = None,
) -> StepSignal:
    r"""Draw independent, uniform labels on a sine wave: the simulated model of the paper.

    With M levels and n samples,

    .. math:: y_i = f(x_i) + \mu_{z_i} + \varepsilon_i, \quad x_i = i/n, \quad \mu_k = k - (M+1)/2, \quad
              f(x) = a \sin(2 \pi \beta x + \varphi),

    where the labels are uniform and the noise is Gaussian; the paper has amplitude 3/4 and phase 0.

    Parameters
    ----------
    n_samples : int, default=400
        Number of observations n.
    n_levels : int, default=3
        Number of levels M. Levels are one apart and centred at 0. When n is small a level may not occur.
    beta : float, default=3.0
        Number of periods of the wave on [0, 1].
    noise_variance : float, default=0.0
        Variance of the noise, the same in each channel. It changes neither labels nor wave: data of one
        seed at two noise levels differ by the scale of the noise only.
    amplitude : float, default=0.75
        Amplitude of the wave.
    phase : float, default=0.0
        Phase of the wave, in radians.
    n_channels : int, default=1
        Number of channels p. With p > 1, `y` is (n, p) and `levels` is (M, p): channel c (from 0) gives
        label k the level ``mu[(k + c) mod M] / (c + 1)``. All channels share the wave.
    equispaced : bool, default=True
        Observe at ``i / n``; otherwise at n independent uniform points of [0, 1), sorted.
    random_state : int, Generator or None, default=None
        A number gives the same data every time; None gives fresh data.

    Returns
    -------
    StepSignal
        The observations and their parts.

    See Also
    --------
    make_markov_steps : Labels that stay the same for a while.
    make_self_mixing : Labels whose frequencies may depend on x.

    Examples
    --------
    >>> from stepsmooth.datasets import make_sine_steps
    >>> signal = make_sine_steps(400, 3, 3, noise_variance=0.05, random_state=0)
    >>> signal.y.shape, signal.levels
    ((400,), array([-1.,  0.,  1.]))
    >>> signal.labels[:8]
    array([2, 1, 1, 0, 0, 0, 0, 0])
    """
    rng = generator(random_state)
    x, levels, smooth = sine_parts(
        n_samples,
        n_levels,
        beta,
        amplitude=amplitude,
        phase=phase,
        n_channels=n_channels,
        equispaced=equispaced,
        rng=rng,
    )
    labels = rng.integers(len(levels), size=len(x), dtype=np.int64)
    return observe(x, labels, levels, smooth, noise_variance, rng)
