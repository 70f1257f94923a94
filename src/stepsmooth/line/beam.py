"""A beam over label histories: the likelihood and the label probabilities with f integrated out.

Given its labels, y is a linear Gaussian state-space model (see `statespace`), so a hypothesis about all labels so far
needs only the filtered mean of (f, f'): the covariance depends on spacing and noise alone and is common to all. At each
point every hypothesis branches into M; branches that lie within `merge` standard deviations of each other become one
(their futures do not differ), hopeless ones are dropped, the best `width` are kept. What is summed over hypotheses is
the likelihood p(y), not its largest term. Going back over the branches gives the probability of each label given all of
y: a merged hypothesis hands its weight to those it came from in proportion.

An observation may also be an outlier, three times as wide as the noise: the state then moves less.
"""

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Anything, Floats, Ints

# How much wider an outlier is than the noise.
OUTLIER_WIDTH = 3.0
# A relative change of the gains that is none.
SETTLED = 1e-12
LOG_2 = float(np.log(2.0))


@njit(cache=True, nogil=True)
def filter_gains(dx: Floats, h: Floats, order: int, value: float, slope: float) -> Floats:
    """Return, for each point, F, k0, k1 and P00, P01/P00, P11.0 of the filtered covariance: an (n, 6) array.

    Process noise 1, observation noise h; `value` and `slope` are the variances of f and f' before the first point.
    """
    n = len(dx)
    out = np.empty((n, 6))
    P00, P01, P11 = value, 0.0, slope
    for t in range(n):
        if t > 0:
            u = dx[t]
            if order == 2:
                P00 += u * (2.0 * P01 + u * P11) + u * u * u / 3.0
                P01 += u * P11 + u * u / 2.0
                P11 += u
            else:
                P00 += u
        F = P00 + h[t]
        k0, k1 = P00 / F, P01 / F
        P00 = k0 * h[t]
        P11 = max(P11 - k1 * P01, 0.0)
        P01 = k1 * h[t]
        regress = P01 / P00 if P00 > 0.0 else 0.0
        out[t] = (F, k0, k1, P00, regress, max(P11 - P01 * regress, 1e-300))
    return out


@njit(cache=True, nogil=True)
def forward(
    y: Floats,
    dx: Floats,
    gains: Floats,
    scale: float,
    start: float,
    levels: Floats,
    ratio: Floats,
    log_first: Floats,
    log_step: Floats,
    markov: bool,
    extra: Floats,
    outlier: float,
    width: int,
    merge: float,
    drop: float,
) -> tuple[Anything, ...]:
    """Return log p(y), the branches (parent, label, child, weight, where each point's begin) and the last weights."""
    n, n_levels = len(y), len(levels)
    room = 4 * n + 1024
    parent, label = np.empty(room, np.int32), np.empty(room, np.int16)
    child, weight = np.empty(room, np.int32), np.empty(room, np.float64)
    begin, used = np.empty(n + 1, np.int64), 0
    a, b, logw = np.full(width, start), np.zeros(width), np.zeros(width)
    last, alive = np.zeros(width, np.int64), 1
    size = width * n_levels
    ca, cb, cw = np.empty(size), np.empty(size), np.empty(size)
    cp, ck = np.empty(size, np.int64), np.empty(size, np.int64)
    rank = np.empty(size, np.int64)
    na, nb, nw, nl = np.empty(width), np.empty(width), np.empty(width), np.empty(width, np.int64)
    # Of each class: 1 / variance of an innovation and of an outlier's, normalising constant, odds of an outlier and
    # their log, and how much less than the common gain the state moves.
    inner, outer, norm = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    odds, log_odds, gain = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    total, F, k0, k1 = 0.0, -1.0, 0.0, 0.0
    for t in range(n):
        # On an even grid the gains settle, and all this stays.
        if abs(gains[t, 0] - F) > SETTLED * F or abs(gains[t, 1] - k0) > SETTLED * k0:
            F, k0 = gains[t, 0], gains[t, 1]
            for k in range(n_levels):
                # The noise is F (1 - k0); that of the class is wider by its ratio, an outlier's wider still.
                wide = k0 + (1.0 - k0) * ratio[k]
                wider = k0 + (1.0 - k0) * ratio[k] * OUTLIER_WIDTH * OUTLIER_WIDTH
                inner[k], gain[k] = 1.0 / (scale * F * wide), 1.0 / wide
                outer[k] = 1.0 / (scale * F * wider) if outlier > 0.0 else inner[k]
                norm[k] = 0.5 * np.log(inner[k] / (2.0 * np.pi))
                odds[k] = outlier / (1.0 - outlier) * np.sqrt(outer[k] / inner[k])
                log_odds[k] = np.log(odds[k]) if outlier > 0.0 else -np.inf
        k1 = gains[t, 2]
        u = dx[t] if t > 0 else 0.0
        count, best = 0, -np.inf
        for j in range(alive):
            ahead = a[j] + u * b[j]
            for k in range(n_levels):
                v = y[t] - levels[k] - ahead
                w = logw[j] + extra[t, k]
                w += log_step[last[j], k] if markov and t > 0 else log_first[k]
                w += norm[k] - 0.5 * v * v * inner[k]
                # The sum of two densities is at most twice the larger: most branches end here, without exp and log.
                excess = max(0.5 * v * v * (inner[k] - outer[k]) + log_odds[k], 0.0)
                if w + excess + LOG_2 < best - drop:
                    continue
                move = v * gain[k]
                if outlier > 0.0:
                    far = odds[k] * np.exp(min(0.5 * v * v * (inner[k] - outer[k]), 500.0))
                    w += np.log((1.0 - outlier) * (1.0 + far))
                    # The gain of an outlier is smaller by outer / inner: not at all while f is still unknown.
                    move *= (1.0 + far * outer[k] / inner[k]) / (1.0 + far)
                ca[count], cb[count], cw[count] = ahead + k0 * move, b[j] + k1 * move, w
                cp[count], ck[count] = j, k
                best = max(best, w)
                count += 1
        keep = 0
        for i in range(count):
            if cw[i] > best - drop:
                ca[keep], cb[keep], cw[keep], cp[keep], ck[keep] = ca[i], cb[i], cw[i], cp[i], ck[i]
                keep += 1
        order = _descending(cw[:keep], rank)
        begin[t] = used
        if used + keep > room:
            room = 2 * room + keep
            parent, label = _longer(parent, room), _longer(label, room)
            child, weight = _longer(child, room), _longer(weight, room)
        near_value, near_slope = merge * merge * scale * gains[t, 3], merge * merge * scale * gains[t, 5]
        fresh, mass = 0, 0.0
        for i in order:
            target = -1
            for j in range(fresh):
                if markov and nl[j] != ck[i]:
                    continue
                da = ca[i] - na[j]
                if da * da >= near_value:
                    continue
                db = cb[i] - nb[j] - gains[t, 4] * da
                # Order 1 has no slope, and in small units its bound underflows.
                if da * da / near_value + (db * db / near_slope if db != 0.0 else 0.0) < 1.0:
                    target = j
                    break
            w = np.exp(cw[i] - best)
            if target >= 0:
                nw[target] += w
                share = w / nw[target]
                na[target] += share * (ca[i] - na[target])
                nb[target] += share * (cb[i] - nb[target])
            elif fresh < width:
                target = fresh
                na[fresh], nb[fresh], nw[fresh], nl[fresh] = ca[i], cb[i], w, ck[i]
                fresh += 1
            else:
                continue
            parent[used], label[used], child[used], weight[used] = cp[i], ck[i], target, w
            used += 1
            mass += w
        alive = fresh
        for j in range(alive):
            a[j], b[j], logw[j], last[j] = na[j], nb[j], np.log(nw[j] / mass), nl[j]
        total += best + np.log(mass)
    begin[n] = used
    return total, parent[:used], label[:used], child[:used], weight[:used], begin, np.exp(logw[:alive])


@njit(cache=True, nogil=True)
def _descending(values: Floats, rank: Ints) -> Ints:
    """Return the order of a few values, the largest first; most points have two or three branches."""
    n = len(values)
    if n > 24:
        return np.argsort(-values)
    for i in range(n):
        j = i
        while j > 0 and values[rank[j - 1]] < values[i]:
            rank[j] = rank[j - 1]
            j -= 1
        rank[j] = i
    return rank[:n]


@njit(cache=True, nogil=True)
def _longer(array, room):  # type: ignore[no-untyped-def]
    out = np.empty(room, array.dtype)
    out[: len(array)] = array
    return out


@njit(cache=True, nogil=True)
def backward(
    n_levels: int, width: int, parent: Ints, label: Ints, child: Ints, weight: Floats, begin: Ints, final: Floats
) -> tuple[Floats, Floats]:
    """Return the label probabilities (n, M) given all of y, and the expected transitions (M, M).

    The transitions mean something only if hypotheses with different last labels were kept apart (a Markov prior).
    """
    n = len(begin) - 1
    gamma, pairs = np.zeros((n, n_levels)), np.zeros((n_levels, n_levels))
    now, into = np.zeros(width), np.zeros(width)
    now[: len(final)] = final / final.sum()
    before = np.zeros(width, np.int64)
    for t in range(n - 1, -1, -1):
        into[:] = 0.0
        for i in range(begin[t], begin[t + 1]):
            into[child[i]] += weight[i]
        if t > 0:
            for i in range(begin[t - 1], begin[t]):
                before[child[i]] = label[i]
        earlier = np.zeros(width)
        for i in range(begin[t], begin[t + 1]):
            share = now[child[i]] * weight[i] / into[child[i]]
            gamma[t, label[i]] += share
            earlier[parent[i]] += share
            if t > 0:
                pairs[before[parent[i]], label[i]] += share
        now = earlier
    return gamma, pairs


@njit(cache=True, nogil=True)
def likeliest(parent: Ints, label: Ints, child: Ints, weight: Floats, begin: Ints, final: Floats) -> Ints:
    """Return one history of labels (n,): from the likeliest end back, always by the heaviest branch."""
    n = len(begin) - 1
    path = np.empty(n, np.int64)
    here = int(np.argmax(final))
    for t in range(n - 1, -1, -1):
        heaviest, chosen = -1.0, begin[t]
        for i in range(begin[t], begin[t + 1]):
            if child[i] == here and weight[i] > heaviest:
                heaviest, chosen = weight[i], i
        path[t], here = label[chosen], parent[chosen]
    return path
