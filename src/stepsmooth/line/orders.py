"""The beam for a spline of any order: f^(m) is white noise, and a hypothesis carries f, f', ..., f^(m-1).

A cubic spline (m = 2) bends wherever the data ask for it, and so spends degrees of freedom on noise: with a few hundred
points, labels are better by about one in a hundred under the next smoother one, m = 3. Plain, where `beam` is fast: one
small matrix a point, no class variances, no chain; where both can be used they have to agree.

Time is measured in units of f's own scale, 1 / omega, so that every derivative is of the same size and the process
noise is 1. A smoothing spline of order m passes what is slower than omega = lam^(-1 / 2m) a step.
"""

import math

import numpy as np
from numba import njit

from stepsmooth.line.beam import OUTLIER_WIDTH
from stepsmooth.line.chain import Signal
from stepsmooth.model.arrays import Anything, Floats

# The order under which few points are labelled.
ORDER = 3

# Log p(y), the branches and the last weights, as `beam.backward` takes them.
Run = tuple[Anything, ...]

# The variance of f', f'', ... before the first point, in units of f's own scale.
DERIVATIVE = 3.0
FACTORIALS = np.array([math.factorial(i) for i in range(8)], dtype=float)


@njit(cache=True)
def spline_gains(dx: Floats, h: Floats, order: int, first: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return, for each point, the transition to it, F, the gain and the precision of what is known of the state."""
    n = len(dx)
    A, precision = np.zeros((n, order, order)), np.empty((n, order, order))
    F, gain = np.empty(n), np.empty((n, order))
    Q, P = np.empty((order, order)), np.diag(first)
    for t in range(n):
        u = dx[t] if t > 0 else 0.0
        for i in range(order):
            for j in range(order):
                if j >= i:
                    A[t, i, j] = u ** (j - i) / FACTORIALS[j - i]
                power = 2 * order - 1 - i - j
                Q[i, j] = u**power / (power * FACTORIALS[order - 1 - i] * FACTORIALS[order - 1 - j])
        if t > 0:
            P = A[t] @ P @ A[t].T + Q
        F[t] = P[0, 0] + h[t]
        gain[t] = P[:, 0] / F[t]
        P = P - np.outer(gain[t], gain[t]) * F[t]
        P = (P + P.T) / 2.0
        precision[t] = np.linalg.inv(P + np.diag(1e-12 * np.diag(P)))
    return A, F, gain, precision


@njit(cache=True)
def spline_forward(
    y: Floats,
    A: Floats,
    F: Floats,
    gain: Floats,
    precision: Floats,
    scale: float,
    start: float,
    levels: Floats,
    log_first: Floats,
    outlier: float,
    width: int,
    merge: float,
    drop: float,
) -> tuple[Anything, ...]:
    """Return what `beam.forward` does, for independent labels."""
    n, n_levels, order = len(y), len(levels), A.shape[1]
    size = width * n_levels
    parent, label = np.empty(n * size, np.int32), np.empty(n * size, np.int16)
    child, weight = np.empty(n * size, np.int32), np.empty(n * size, np.float64)
    begin, used = np.empty(n + 1, np.int64), 0
    state, logw, alive = np.zeros((width, order)), np.zeros(width), 1
    state[0, 0] = start
    fresh_state, fresh_weight = np.empty((width, order)), np.empty(width)
    branch, value = np.empty((size, order)), np.empty(size)
    origin, which = np.empty(size, np.int64), np.empty(size, np.int64)
    rank, ahead = np.empty(size, np.int64), np.empty(order)
    total = 0.0
    for t in range(n):
        inner = 1.0 / (scale * F[t])
        outer = inner / (gain[t, 0] + (1.0 - gain[t, 0]) * OUTLIER_WIDTH * OUTLIER_WIDTH)
        odds = outlier / (1.0 - outlier) * np.sqrt(outer / inner)
        norm = 0.5 * np.log(inner / (2.0 * np.pi)) + np.log(1.0 - outlier)
        count, best = 0, -np.inf
        for j in range(alive):
            for i in range(order):
                ahead[i] = 0.0
                for m in range(i, order):
                    ahead[i] += A[t, i, m] * state[j, m]
            for k in range(n_levels):
                v = y[t] - levels[k] - ahead[0]
                # An outlier is at most a nat better than nothing: most branches end here, without exp and log.
                if logw[j] + log_first[k] + norm - 0.5 * v * v * outer + 1.0 < best - drop:
                    continue
                far = odds * np.exp(min(0.5 * v * v * (inner - outer), 500.0))
                w = logw[j] + log_first[k] + norm - 0.5 * v * v * inner + np.log1p(far)
                move = v * (1.0 + far * (outer / inner)) / (1.0 + far)
                for i in range(order):
                    branch[count, i] = ahead[i] + gain[t, i] * move
                value[count] = w
                origin[count], which[count] = j, k
                best = max(best, w)
                count += 1
        begin[t] = used
        known = gain[t, 0] * (1.0 - gain[t, 0]) * F[t]
        near = merge * merge * scale * known
        fresh, mass = 0, 0.0
        keep = 0
        for i in range(count):
            if value[i] > best - drop:
                rank[keep] = i
                keep += 1
        for i in rank[:keep][np.argsort(-value[rank[:keep]])]:
            target = -1
            for j in range(fresh):
                apart = branch[i, 0] - fresh_state[j, 0]
                # Most differ in f alone by more than f is uncertain.
                if apart * apart < near and _distance(branch, i, fresh_state, j, precision, t) < near / known:
                    target = j
                    break
            w = np.exp(value[i] - best)
            if target >= 0:
                fresh_weight[target] += w
                for m in range(order):
                    fresh_state[target, m] += w / fresh_weight[target] * (branch[i, m] - fresh_state[target, m])
            elif fresh < width:
                target = fresh
                fresh_state[fresh, :], fresh_weight[fresh] = branch[i], w
                fresh += 1
            else:
                continue
            parent[used], label[used], child[used], weight[used] = origin[i], which[i], target, w
            used += 1
            mass += w
        alive = fresh
        state[:alive] = fresh_state[:alive]
        logw[:alive] = np.log(fresh_weight[:alive] / mass)
        total += best + np.log(mass)
    begin[n] = used
    return total, parent[:used], label[:used], child[:used], weight[:used], begin, np.exp(logw[:alive])


@njit(cache=True)
def _distance(one: Floats, i: int, other: Floats, j: int, precision: Floats, t: int) -> float:
    total = 0.0
    for r in range(one.shape[1]):
        row = 0.0
        for c in range(one.shape[1]):
            row += precision[t, r, c] * (one[i, c] - other[j, c])
        total += row * (one[i, r] - other[j, r])
    return total


def beginning(signal: Signal, order: int, omega: float, scale: float) -> Floats:
    """Return the variances of f, f', ... before the first point.

    f may begin anywhere; its derivatives are as large as the process noise makes them or, where there is next to no
    noise, as f itself needs to cross the range of y once or twice.
    """
    powers = np.arange(order)
    variances = DERIVATIVE * (powers > 0) + (signal.range * np.where(powers > 0, 2.0, 1.0)) ** 2 / scale / (
        len(signal) * omega
    ) ** (2.0 * powers)
    return np.asarray(variances)


def run(
    signal: Signal,
    order: int,
    omega: float,
    levels: Floats,
    noise: float,
    proportions: Floats,
    width: tuple[int, float, float],
) -> Run:
    """Run the beam forward over one channel, for a spline of this order that is slower than omega a step."""
    typical = float(signal.weights.mean())
    scale = noise / typical
    gains = spline_gains(signal.dx * omega, typical / signal.weights, order, beginning(signal, order, omega, scale))
    with np.errstate(divide="ignore"):
        log_first = np.log(proportions)
    start = signal.centre - float(levels.mean())
    out: Run = spline_forward(
        signal.mean - signal.centre, *gains, scale, start, levels - signal.centre, log_first, signal.outlier, *width
    )
    return out
