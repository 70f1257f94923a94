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
# A relative change of the gains that is none: steps of an even grid of a million points differ by 1e-10.
SETTLED = 1e-9
LOG_2 = float(np.log(2.0))
# The log of the largest odds of an outlier: they must not overflow.
LARGEST = 500.0


@njit(cache=True, nogil=True)
def update(P00: float, P01: float, P11: float, h: float) -> tuple[float, float, float, float, float, float]:
    """Return F, the gains k0 and k1 and the filtered covariance, from the one before an observation of noise h."""
    F = P00 + h
    k0, k1 = P00 / F, P01 / F
    return F, k0, k1, k0 * h, k1 * h, max(P11 - k1 * P01, 0.0)


@njit(cache=True, nogil=True)
def predict(P00: float, P01: float, P11: float, u: float, order: int) -> tuple[float, float, float]:
    """Return the covariance of (f, f') a step u further on; the process noise is 1."""
    if order == 1:
        return P00 + u, 0.0, 0.0
    return P00 + u * (2.0 * P01 + u * P11) + u * u * u / 3.0, P01 + u * P11 + u * u / 2.0, P11 + u


@njit(cache=True, nogil=True)
def forward(
    y: Floats,
    dx: Floats,
    h: Floats,
    first: tuple[float, float],
    order: int,
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
    """Return log p(y), the branches (parent, label, child, weight, where each point's begin) and the last weights.

    Observation t has the noise scale h[t]; `start` is the mean of f before the first point, scale * first the variances
    of f and f'.
    """
    n, n_levels, contrasts = len(y), len(levels), len(extra) > 0
    room = 4 * n + 1024
    parent, label = np.empty(room, np.int32), np.empty(room, np.int16)
    child, weight = np.empty(room, np.int32), np.empty(room, np.float64)
    begin, used = np.empty(n + 1, np.int64), 0
    a, b, logw = np.full(width, start), np.zeros(width), np.zeros(width)
    last, alive = np.zeros(width, np.int64), 1
    size = width * n_levels
    ca, cb, cw, cv = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    cp, ck = np.empty(size, np.int64), np.empty(size, np.int64)
    rank = np.empty(size, np.int64)
    na, nb, nw, nl = np.empty(width), np.empty(width), np.empty(width), np.empty(width, np.int64)
    # Of each class: 1 / variance of an innovation and of an outlier's, normalising constant, odds of an outlier and
    # their log, and how much less than the common gain the state moves.
    inner, outer, norm = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    odds, log_odds, gain = np.empty(n_levels), np.empty(n_levels), np.empty(n_levels)
    total, F, k0 = 0.0, -1.0, 0.0
    P00, P01, P11 = first[0], 0.0, first[1]
    for t in range(n):
        u = dx[t] if t > 0 else 0.0
        if t > 0:
            P00, P01, P11 = predict(P00, P01, P11, u, order)
        new_F, new_k0, k1, P00, P01, P11 = update(P00, P01, P11, h[t])
        # On an even grid the gains settle, and all this stays.
        if abs(new_F - F) > SETTLED * F or abs(new_k0 - k0) > SETTLED * k0:
            F, k0 = new_F, new_k0
            for k in range(n_levels):
                if k > 0 and ratio[k] == ratio[k - 1]:
                    inner[k], outer[k], norm[k] = inner[k - 1], outer[k - 1], norm[k - 1]
                    odds[k], log_odds[k], gain[k] = odds[k - 1], log_odds[k - 1], gain[k - 1]
                    continue
                # The noise is F (1 - k0); that of the class is wider by its ratio, an outlier's wider still.
                wide = k0 + (1.0 - k0) * ratio[k]
                wider = k0 + (1.0 - k0) * ratio[k] * OUTLIER_WIDTH * OUTLIER_WIDTH
                inner[k], gain[k] = 1.0 / (scale * F * wide), 1.0 / wide
                outer[k] = 1.0 / (scale * F * wider) if outlier > 0.0 else inner[k]
                norm[k] = 0.5 * np.log(inner[k] / (2.0 * np.pi))
                odds[k] = outlier / (1.0 - outlier) * np.sqrt(outer[k] / inner[k])
                log_odds[k] = np.log(odds[k]) if outlier > 0.0 else -np.inf
        # The likelihood of each branch, and a bound of what it gains as an outlier: 1 + far >= max(1, far).
        count, best = 0, -np.inf
        for j in range(alive):
            ahead = a[j] + u * b[j]
            for k in range(n_levels):
                v = y[t] - levels[k] - ahead
                w = logw[j] + (log_step[last[j], k] if markov and t > 0 else log_first[k])
                w += norm[k] - 0.5 * v * v * inner[k]
                if contrasts:
                    w += extra[t, k]
                more = min(0.5 * v * v * (inner[k] - outer[k]), LARGEST)
                ca[count], cb[count], cw[count], cv[count] = ahead, more, w, v
                cp[count], ck[count] = j, k
                best = max(best, w + max(more + log_odds[k], 0.0))
                count += 1
        keep, heaviest = 0, 0.0
        for i in range(count):
            k = ck[i]
            # The sum of two densities is at most twice the larger: most branches end here, without an exp.
            if cw[i] + max(cb[i] + log_odds[k], 0.0) + LOG_2 < best - drop:
                continue
            w, move = np.exp(cw[i] - best), cv[i] * gain[k]
            if outlier > 0.0:
                far = odds[k] * np.exp(cb[i])
                w *= 1.0 + far
                # The gain of an outlier is smaller by outer / inner: not at all while f is still unknown.
                move *= (1.0 + far * (outer[k] / inner[k])) / (1.0 + far)  # far * outer may overflow
            ca[keep], cb[keep], cw[keep] = ca[i] + k0 * move, b[cp[i]] + k1 * move, w
            cp[keep], ck[keep] = cp[i], k
            heaviest = max(heaviest, w)
            keep += 1
        keep = _descending(cw, keep, heaviest * np.exp(-drop), rank)
        begin[t] = used
        if used + keep > room:
            room = 2 * room + keep
            parent, label = _longer(parent, room), _longer(label, room)
            child, weight = _longer(child, room), _longer(weight, room)
        regress = P01 / P00 if P00 > 0.0 else 0.0
        near_value = merge * merge * scale * P00
        near_slope = merge * merge * scale * max(P11 - P01 * regress, 1e-300)
        fresh, mass = 0, 0.0
        for r in range(keep):
            i, target = rank[r], -1
            for j in range(fresh):
                if markov and nl[j] != ck[i]:
                    continue
                da = ca[i] - na[j]
                if da * da >= near_value:
                    continue
                db = cb[i] - nb[j] - regress * da
                # Order 1 has no slope, and in small units its bound underflows.
                if da * da / near_value + (db * db / near_slope if db != 0.0 else 0.0) < 1.0:
                    target = j
                    break
            w = cw[i]
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
            a[j], b[j], last[j] = na[j], nb[j], nl[j]
            logw[j] = np.log(nw[j] / mass) if alive > 1 else 0.0
        total += best + np.log(mass)
    begin[n] = used
    total += n * np.log(1.0 - outlier)
    return total, parent[:used], label[:used], child[:used], weight[:used], begin, np.exp(logw[:alive])


@njit(cache=True, nogil=True)
def _descending(values: Floats, n: int, least: float, rank: Ints) -> int:
    """Put the places of the values above the least into `rank`, the largest first, and return how many there are."""
    count = 0
    for i in range(n):
        if values[i] <= least:
            continue
        j = count
        while j > 0 and values[rank[j - 1]] < values[i]:
            rank[j] = rank[j - 1]
            j -= 1
        rank[j] = i
        count += 1
    return count


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
    now, earlier, into = np.zeros(width), np.zeros(width), np.zeros(width)
    now[: len(final)] = final / final.sum()
    before = np.zeros(width, np.int64)
    for t in range(n - 1, -1, -1):
        into[:] = 0.0
        for i in range(begin[t], begin[t + 1]):
            into[child[i]] += weight[i]
        if t > 0:
            for i in range(begin[t - 1], begin[t]):
                before[child[i]] = label[i]
        earlier[:] = 0.0
        for i in range(begin[t], begin[t + 1]):
            share = now[child[i]] * weight[i] / into[child[i]]
            gamma[t, label[i]] += share
            earlier[parent[i]] += share
            if t > 0:
                pairs[before[parent[i]], label[i]] += share
        now, earlier = earlier, now
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
