"""Labels that stay for a while: a Markov chain on a sine wave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arguments import Seed, generator, real_number
from .sine_parts import sine_parts
from .step_signal import StepSignal, observe


def visit(first: int, switches: NDArray[np.bool_], n_levels: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the states of a walk that moves to another state, any with equal chance, at each switch.

    Examples
    --------
    >>> visit(0, np.array([False, True, True]), 2, np.random.default_rng(0))
    array([0, 0, 1, 0])
    """
    # Going on by 1..M-1 states, modulo M, reaches each of the other states once.
    onward = rng.integers(1, n_levels, size=len(switches)) * switches
    return np.concatenate([[first], first + np.cumsum(onward)]).astype(np.int64) % n_levels


def make_markov_steps(
    n_samples: int = 400,
    n_levels: int = 3,
    beta: float = 3.0,
    *,
    switching: float = 0.05,
    noise_variance: float = 0.0,
    amplitude: float = 0.75,
    phase: float = 0.0,
    n_channels: int = 1,
    equispaced: bool = True,
    random_state: Seed = None,
) -> StepSignal:
    """Draw labels from a Markov chain on a sine wave.

    The first label is uniform. From one point to the next the label changes with probability `switching`,
    to any of the other levels with equal chance; with two levels this is the chain of the paper's example
    of spectral decay. Everything else is as in :func:`make_sine_steps`.

    Parameters
    ----------
    n_samples : int, default=400
        Number of observations n.
    n_levels : int, default=3
        Number of levels M, at least 2. Levels are one apart and centred at 0.
    beta : float, default=3.0
        Number of periods of the wave on [0, 1].
    switching : float, default=0.05
        Probability of another label at the next point, between 0 and 1. ``(M - 1) / M`` makes the labels
        independent; 0 keeps the first label for ever. The step of the chain is from one point to the next,
        however far apart they are.
    noise_variance : float, default=0.0
        Variance of the noise, the same in each channel.
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
    make_sine_steps : Independent labels.
    make_segments : Long segments, uneven levels, noise larger than the smallest step.

    Examples
    --------
    >>> from stepsmooth.datasets import make_markov_steps
    >>> signal = make_markov_steps(12, 3, switching=0.2, random_state=3)
    >>> signal.labels
    array([2, 2, 2, 2, 1, 1, 1, 0, 0, 2, 2, 2])
    """
    rng = generator(random_state)
    probability = real_number("switching", switching, least=0, most=1)
    x, levels, smooth = sine_parts(
        n_samples,
        n_levels,
        beta,
        amplitude=amplitude,
        phase=phase,
        n_channels=n_channels,
        equispaced=equispaced,
        rng=rng,
        least_levels=2,
    )
    first = int(rng.integers(len(levels)))
    switches = rng.random(len(x) - 1) < probability
    labels = visit(first, switches, len(levels), rng)
    return observe(x, labels, levels, smooth, noise_variance, rng)
