"""Self-mixing: a uniform source cut into labels, at points that may depend on x."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import Seed, generator
from .sine_parts import sine_parts
from .step_signal import StepSignal, observe


def make_self_mixing(
    n_samples: int = 400,
    n_levels: int = 3,
    beta: float = 3.0,
    *,
    cutoffs: Callable[[NDArray[np.float64]], ArrayLike] | None = None,
    noise_variance: float = 0.0,
    amplitude: float = 0.75,
    phase: float = 0.0,
    n_channels: int = 1,
    equispaced: bool = True,
    random_state: Seed = None,
) -> StepSignal:
    r"""Mix a point with a uniform source of its own, as in the paper's nonlinear ICA model.

    The sources are ``s_i = (x_i, u_i)`` with ``u_i`` uniform on [0, 1), and

    .. math:: y_i = f(x_i) + \mu_{\phi(x_i, u_i)} + \varepsilon_i, \quad
              \phi(x, u) = \lfloor u M \rfloor + 1,

    or, with `cutoffs`, :math:`\phi(x, u) = 1 + \#\{j : c_j(x) \le u\}`: the frequencies of the labels then
    drift with x. Everything else is as in :func:`make_sine_steps`.

    Parameters
    ----------
    n_samples : int, default=400
        Number of observations n.
    n_levels : int, default=3
        Number of levels M. Levels are one apart and centred at 0.
    beta : float, default=3.0
        Number of periods of the wave on [0, 1].
    cutoffs : callable or None, default=None
        A function of the points, (n,), that returns M - 1 cut-off points for each of them, (n, M - 1):
        strictly inside (0, 1) and strictly increasing along each row. Label k has probability
        ``c[k] - c[k - 1]`` there, with ``c[-1] = 0`` and ``c[M - 1] = 1``. None cuts at ``k / M``.
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
    make_sine_steps : Uniform labels everywhere.

    Examples
    --------
    The upper level is rare on the left and common on the right:

    >>> from stepsmooth.datasets import make_self_mixing
    >>> signal = make_self_mixing(1000, 2, cutoffs=lambda x: 0.9 - 0.8 * x[:, None], random_state=0)
    >>> float(signal.labels[:500].mean()), float(signal.labels[500:].mean())
    (0.364, 0.7)
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
    source = rng.random(len(x))
    if cutoffs is None:
        labels = np.floor(source * len(levels)).astype(np.int64)
    else:
        cuts = _checked_cutoffs(cutoffs, x, len(levels))
        labels = (cuts <= source[:, None]).sum(axis=1, dtype=np.int64)
    return observe(x, labels, levels, smooth, noise_variance, rng)


def _checked_cutoffs(
    cutoffs: Callable[[NDArray[np.float64]], ArrayLike], x: NDArray[np.float64], n_levels: int
) -> NDArray[np.float64]:
    """Return the cut-off points at `x`, if they cut (0, 1) into `n_levels` parts at every point."""
    if not callable(cutoffs):
        raise TypeError(f"cutoffs must be None or a function of the points x; found {type(cutoffs).__name__}.")
    cuts = np.asarray(cutoffs(x.copy()), dtype=np.float64)  # a copy: the function may write into it
    wanted = f"cutoffs must return, for each of the {len(x)} points, {n_levels - 1} cut-off points"
    if cuts.shape != (len(x), n_levels - 1):
        raise ValueError(f"{wanted}, an array of shape {(len(x), n_levels - 1)}; found shape {cuts.shape}.")
    bounded = np.column_stack([np.zeros(len(x)), cuts, np.ones(len(x))])
    # Written as "not all greater", so that NaN is refused too.
    wrong = ~np.all(np.diff(bounded, axis=1) > 0, axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{wanted}, strictly inside (0, 1) and strictly increasing; "
            f"found {cuts[i].tolist()} at x = {float(x[i]):g}."
        )
    return cuts
