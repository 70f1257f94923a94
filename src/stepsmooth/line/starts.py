"""Where the search begins: parameters from AltMin, from equally spaced levels, from jumps."""

import numpy as np

from stepsmooth.altmin import Problem, altmin, tau_of_dof
from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.maximise import Structure
from stepsmooth.model.arrays import Floats
from stepsmooth.model.levels import FreeLevels

# Effective degrees of freedom of f, as far as the points allow them; fewer for the many ladders.
DOFS = (3.0, 6.0, 10.0, 16.0, 25.0, 40.0, 64.0, 100.0, 160.0)
LADDER_DOFS = (4.0, 12.0, 24.0, 48.0)
# Shares of the points' number, for data without noise: f follows every point.
ROUGH = (0.8, 0.97)
# For equally spaced levels: noise in units of the gap.
NOISE_TO_GAP = (0.04, 0.15, 0.35)
# Window of the differences whose largest values are jumps, in points.
JUMP_WINDOW = 5


def starts(signal: Signal, n_levels: int, structure: Structure, known: Floats | None) -> list[Theta]:
    """Return parameters to start from, all labels alike and independent."""
    p, most = signal.Y.shape[1], signal.smoother.dof_range[1]
    triples: list[tuple[Floats, float, float]] = []
    if structure in ("known", "shifted") and known is not None:
        if structure == "shifted":
            # Wherever y lies, the search begins at the same place relative to it.
            known = known + (signal.centre - float(known.mean()))
        gap = float(np.diff(known.mean(axis=1)).min()) if len(known) > 1 else float(np.sqrt(signal.variance))
        triples += [(known, tau, (r * gap) ** 2) for tau in _taus(signal, DOFS, ROUGH) for r in NOISE_TO_GAP]
    else:
        triples += _from_altmin(signal, n_levels, _taus(signal, DOFS, ()))
        if n_levels > 1 and p == 1:
            taus = _taus(signal, LADDER_DOFS, ROUGH if most <= 400 else ())
            for ladder, gap in _ladders(signal, n_levels):
                triples += [(ladder, tau, (r * gap) ** 2) for tau in taus for r in NOISE_TO_GAP]
    if structure == "ladder":
        triples = [(_as_ladder(levels), tau, noise) for levels, tau, noise in triples]
    even = np.full(n_levels, 1.0 / n_levels)
    return [Theta(levels, tau, noise, even) for levels, tau, noise in triples]


def _taus(signal: Signal, dofs: tuple[float, ...], shares: tuple[float, ...]) -> list[float]:
    if signal.tau is not None:
        return [signal.tau]
    low, most = signal.smoother.dof_range
    p = signal.Y.shape[1]
    if most - low < 1.0:
        return [1.0]
    wanted = [dof for dof in dofs if low < dof < 0.6 * most] + [share * most for share in shares if share * most > low]
    return [p * tau_of_dof(signal.smoother, dof) for dof in wanted or [0.5 * (low + most)]]


def _from_altmin(signal: Signal, n_levels: int, taus: list[float]) -> list[tuple[Floats, float, float]]:
    problem = Problem(signal.Y, signal.smoother, FreeLevels(n_levels))
    out = []
    for tau in taus:
        for start in ("smooth", "kmeans"):
            fit = altmin(problem, tau, start=start, max_iter=30)
            if len(fit.levels) < n_levels:
                continue
            size = signal.Y.size - problem.dof(tau) - fit.levels.size
            noise = signal.Y.size * fit.loss / (signal.Y.shape[1] * max(size, 1.0))
            order = np.argsort(fit.levels[:, 0], kind="stable")
            out.append((fit.levels[order], tau, max(noise, 1e-6 * signal.variance)))
    return out


def _ladders(signal: Signal, n_levels: int) -> list[tuple[Floats, float]]:
    """Return equally spaced levels with gaps from a quarter of what the range allows up, and from jumps."""
    widest = signal.range / (n_levels - 1)
    # The last rung of many is off by many times the error of the gap.
    count = 8 if n_levels < 5 else 18
    gaps = [*np.geomspace(0.25 * widest, widest, count), *_jumps(signal.mean)]
    rungs = np.arange(n_levels) - (n_levels - 1) / 2.0
    return [((signal.centre + gap * rungs)[:, None], gap) for gap in gaps if gap > 1e-6 * signal.range]


def _jumps(y: Floats, most: int = 4) -> list[float]:
    """Return the sizes of the largest jumps between neighbouring windows, and their halves."""
    if len(y) < 4 * JUMP_WINDOW:
        return []
    total = np.concatenate([[0.0], np.cumsum(y)])
    mean = (total[JUMP_WINDOW:] - total[:-JUMP_WINDOW]) / JUMP_WINDOW
    jump = np.abs(mean[JUMP_WINDOW:] - mean[:-JUMP_WINDOW])
    out: list[float] = []
    for i in np.argsort(-jump, kind="stable"):
        if len(out) >= 2 * most:
            break
        if all(abs(jump[i] - size) > 0.1 * size for size in out[::2]):
            out += [float(jump[i]), float(jump[i]) / 2.0]
    return out


def _as_ladder(levels: Floats) -> Floats:
    """Return the equally spaced levels nearest to these, channel by channel."""
    rungs = np.arange(len(levels)) - (len(levels) - 1) / 2.0
    gap = rungs @ levels / max(float(rungs @ rungs), 1e-12)
    return np.asarray(levels.mean(axis=0) + rungs[:, None] * gap)
