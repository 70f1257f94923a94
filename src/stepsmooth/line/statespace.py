"""The min kernel and the cubic spline as state-space models: one filter pass forward, one pass back, O(n).

Order 1: f is Brownian motion from the origin, |f|^2 = int f'^2. Order 2: f is integrated Brownian motion with a
free start, |f|^2 = int f''^2. Minimising sum_t w_t (r_t - f_t)^2 + lam |f|^2 is smoothing with process noise 1 and
observation noise h_t = lam / w_t (Wahba 1978; Kohn & Ansley 1987). The gains depend on the spacing and on h alone,
so they are computed once and every residual costs two short passes.

Backward passes carry the costate (s0, s1), de Jong's and Koopman's disturbance smoother: the residual is
r_t - f_t = h_t (v_t / F_t - k_t' s), no covariance is inverted, and the costate of the slope *is* f''.
All arrays are over distinct, ascending x; `dx[t]` is the step *to* point t (order 1: dx[0] from the origin).
"""

import numpy as np
from numba import njit

from stepsmooth.model.arrays import Floats, Ints

# Innovations are multiplied with each other in blocks of so many points, which stay in the cache.
BLOCK = 256


@njit(cache=True, nogil=True)
def gains1(dx: Floats, h: Floats) -> tuple[Floats, Floats]:
    """Return the innovation variances F and gains k of order 1."""
    n = len(dx)
    F, k = np.empty(n), np.empty(n)
    P = 0.0
    for t in range(n):
        P += dx[t]
        F[t] = P + h[t]
        # A point at the origin has P = 0: f is 0 there, whatever was observed.
        k[t] = P / F[t] if F[t] > 0.0 else 0.0
        P = k[t] * h[t]
    return F, k


@njit(cache=True, nogil=True)
def smooth1(F: Floats, k: Floats, h: Floats, r: Floats) -> Floats:
    """Return f at the points."""
    n = len(r)
    f = np.empty(n)  # holds the innovations on the way forward
    m = 0.0
    for t in range(n):
        f[t] = r[t] - m
        m = (1.0 - k[t]) * m + k[t] * r[t]  # the shorter chain of m + k v
    s = 0.0
    for t in range(n - 1, -1, -1):
        if F[t] > 0.0:
            v = f[t] / F[t]
            f[t] = r[t] - h[t] * (v - k[t] * s)
            s = (1.0 - k[t]) * s + v
        else:
            f[t] = 0.0
    return f


@njit(cache=True, nogil=True)
def products1(F: Floats, k: Floats, D: Floats, labels: Ints, R: Floats) -> Floats:
    """Return the upper half of ZD' V^-1 (ZD, R), Z the indicators of the labels, V the covariance of the observations.

    With v the innovations of the columns, v_t v_t' / F_t summed up is all that it takes: one pass, and nothing is kept.
    """
    q, width = D.shape[1], D.shape[1] + R.shape[1]
    v, m, out = np.empty((width, BLOCK)), np.zeros(width), np.zeros((q, width))
    for start in range(0, len(F), BLOCK):
        _fill_labels(v, start, D, labels, R)
        _innovate1(v, m, start, k)
        _add_products(out, v, F[start : start + BLOCK])
    return out


@njit(cache=True, nogil=True)
def squares1(F: Floats, k: Floats, y: Floats, Z: Floats) -> Floats:
    """Return the upper half of (y, Z)' V^-1 (y, Z) for columns Z (n, M) of any numbers."""
    width = 1 + Z.shape[1]
    v, m, out = np.empty((width, BLOCK)), np.zeros(width), np.zeros((width, width))
    for start in range(0, len(F), BLOCK):
        _fill_columns(v, start, y, Z)
        _innovate1(v, m, start, k)
        _add_products(out, v, F[start : start + BLOCK])
    return out


@njit(cache=True, nogil=True)
def _fill_labels(v: Floats, start: int, D: Floats, labels: Ints, R: Floats) -> None:
    q, some, r = D.shape[1], labels[start : start + BLOCK], R[start : start + BLOCK]
    for i in range(len(some)):
        for c in range(q):
            v[c, i] = D[some[i], c]
        for c in range(r.shape[1]):
            v[q + c, i] = r[i, c]


@njit(cache=True, nogil=True)
def _fill_columns(v: Floats, start: int, y: Floats, Z: Floats) -> None:
    one, others = y[start : start + BLOCK], Z[start : start + BLOCK]
    for i in range(len(one)):
        v[0, i] = one[i]
        for c in range(others.shape[1]):
            v[1 + c, i] = others[i, c]


@njit(cache=True, nogil=True)
def _innovate1(v: Floats, m: Floats, start: int, k: Floats) -> None:
    """Turn a block of columns into their innovations, from the predictions m on, which are moved along.

    Each step waits for the one before; two columns at a time wait together.
    """
    gain = k[start : start + BLOCK]
    for c in range(0, len(v), 2):
        d = min(c + 1, len(v) - 1)  # the last one is its own partner, and is written twice alike
        one, two, m_one, m_two = v[c], v[d], m[c], m[d]
        for i in range(len(gain)):
            r_one, r_two, g = one[i], two[i], gain[i]
            one[i], two[i] = r_one - m_one, r_two - m_two
            m_one, m_two = (1.0 - g) * m_one + g * r_one, (1.0 - g) * m_two + g * r_two
        m[c], m[d] = m_one, m_two


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_products(out: Floats, v: Floats, F: Floats) -> None:
    """Add sum_t v_t v_t' / F_t; the order of the sum is left to the compiler, so that it takes several at a time."""
    precision = np.zeros(len(F))
    for t in range(len(F)):
        if F[t] > 0.0:  # else f is known there
            precision[t] = 1.0 / F[t]
    for a in range(out.shape[0]):
        for b in range(a, out.shape[1]):
            total = 0.0
            for t in range(len(F)):
                total += v[a, t] * v[b, t] * precision[t]
            out[a, b] += total


@njit(cache=True, nogil=True)
def log_ratios(F: Floats, h: Floats) -> float:
    """Return the sum of log(F / h) over the points that have an innovation."""
    total = 0.0
    for t in range(len(F)):
        if F[t] > 0.0:
            total += np.log(F[t] / h[t])
    return total


@njit(cache=True, nogil=True)
def leverage1(F: Floats, k: Floats, h: Floats) -> Floats:
    """Return df_t / dr_t."""
    n = len(h)
    out = np.empty(n)
    N = 0.0
    for t in range(n - 1, -1, -1):
        if F[t] > 0.0:
            out[t] = 1.0 - h[t] * (1.0 / F[t] + k[t] * k[t] * N)
            N = 1.0 / F[t] + (1.0 - k[t]) ** 2 * N
        else:
            out[t] = 0.0
    return out


@njit(cache=True, nogil=True)
def gains2(dx: Floats, h: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return F, the gain k of the value, and the transition of (value, rest); entries 0 and 1 stay 0: the free line.

    With slope = b value + rest, rest independent of value, an observation changes the value alone. The variances a, e
    of value and rest and the coefficient b then follow without a subtraction, so that two points that nearly coincide
    cost no digits, not even the first two, which leave the slope all but free.
    """
    n = len(dx)
    F, k, stretch, back, keep = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    if n < 3:
        return F, k, stretch, back, keep
    # Two points fix the line.
    u = dx[1]
    a, b, e = h[1], 1.0 / u, h[0] / (u * u) + u / 3.0
    for t in range(2, n):
        u = dx[t]
        ub, uuu = u * b, u * u * u
        # value' = stretch value + u rest + noise, rest' = -back value + keep rest + noise.
        stretch[t] = 1.0 + ub
        P = stretch[t] ** 2 * a + u * u * e + uuu / 3.0
        back[t] = (u * e + u * u / 2.0 + b * uuu / 6.0) / P
        keep[t] = (stretch[t] * a - uuu / 6.0) / P
        # The determinant of the covariance of (value, slope), as a sum of squares.
        det = a * e + a * u * ((1.0 + ub / 2.0) ** 2 + ub * ub / 12.0) + e * uuu / 3.0 + u * uuu / 12.0
        b = (stretch[t] * b * a + u * e + u * u / 2.0) / P
        e = det / P
        F[t] = P + h[t]
        k[t] = P / F[t]
        a = k[t] * h[t]
    return F, k, stretch, back, keep


@njit(cache=True, nogil=True)
def smooth2(
    F: Floats, k: Floats, stretch: Floats, back: Floats, keep: Floats, dx: Floats, h: Floats, r: Floats
) -> tuple[Floats, Floats]:
    """Return f and f'' at the points."""
    n = len(r)
    f, second = r.copy(), np.zeros(n)
    if n < 3:
        return f, second
    value, rest = r[1], -r[0] / dx[1]
    for t in range(2, n):
        predicted = stretch[t] * value + dx[t] * rest
        rest = keep[t] * rest - back[t] * value
        f[t] = (r[t] - predicted) / F[t]  # holds the innovations on the way forward
        share = h[t] / F[t]
        value = share * predicted + k[t] * r[t]
    s0, s1 = 0.0, 0.0  # the costate of (value, rest); that of rest is that of the slope, f''
    for t in range(n - 1, 1, -1):
        v = f[t]
        f[t] = r[t] - h[t] * (v - k[t] * s0)
        second[t] = s1
        share = h[t] / F[t]
        s0 = share * s0 + v
        s0, s1 = stretch[t] * s0 - back[t] * s1, dx[t] * s0 + keep[t] * s1
    second[1] = s1
    f[1] += h[1] * s0
    f[0] -= h[0] * s1 / dx[1]
    return f, second


@njit(cache=True, nogil=True)
def products2(
    F: Floats,
    k: Floats,
    stretch: Floats,
    back: Floats,
    keep: Floats,
    dx: Floats,
    h: Floats,
    D: Floats,
    labels: Ints,
    R: Floats,
) -> Floats:
    """Do as `products1`, with a V^-1 that does not see straight lines."""
    q, width = D.shape[1], D.shape[1] + R.shape[1]
    v, out = np.empty((width, BLOCK)), np.zeros((q, width))
    value, rest = np.zeros(width), np.zeros(width)
    for start in range(0, len(F), BLOCK):
        _fill_labels(v, start, D, labels, R)
        _innovate2(v, value, rest, start, (F, k, stretch, back, keep), dx, h)
        _add_products(out, v, F[start : start + BLOCK])
    return out


@njit(cache=True, nogil=True)
def squares2(
    F: Floats, k: Floats, stretch: Floats, back: Floats, keep: Floats, dx: Floats, h: Floats, y: Floats, Z: Floats
) -> Floats:
    """Do as `squares1`, with a V^-1 that does not see straight lines."""
    width = 1 + Z.shape[1]
    v, out = np.empty((width, BLOCK)), np.zeros((width, width))
    value, rest = np.zeros(width), np.zeros(width)
    for start in range(0, len(F), BLOCK):
        _fill_columns(v, start, y, Z)
        _innovate2(v, value, rest, start, (F, k, stretch, back, keep), dx, h)
        _add_products(out, v, F[start : start + BLOCK])
    return out


@njit(cache=True, nogil=True)
def _innovate2(
    v: Floats, value: Floats, rest: Floats, start: int, gains: tuple[Floats, ...], dx: Floats, h: Floats
) -> None:
    """Do as `_innovate1`; the first two points fix the line and have no innovation (their F is 0)."""
    F, k, stretch, back, keep = gains
    here, first = slice(start, start + BLOCK), 2 if start == 0 else 0
    if start == 0 and len(F) > 1:
        value[:], rest[:] = v[:, 1], -v[:, 0] / dx[1]
    F, k, stretch, back, keep, dx, h = F[here], k[here], stretch[here], back[here], keep[here], dx[here], h[here]
    for c in range(0, len(v), 2):
        d = min(c + 1, len(v) - 1)
        one, value_one, rest_one = v[c], value[c], rest[c]
        two, value_two, rest_two = v[d], value[d], rest[d]
        for i in range(first, len(F)):
            r_one, r_two, share = one[i], two[i], h[i] / F[i]
            ahead_one = stretch[i] * value_one + dx[i] * rest_one
            ahead_two = stretch[i] * value_two + dx[i] * rest_two
            rest_one = keep[i] * rest_one - back[i] * value_one
            rest_two = keep[i] * rest_two - back[i] * value_two
            one[i], two[i] = r_one - ahead_one, r_two - ahead_two
            value_one, value_two = share * ahead_one + k[i] * r_one, share * ahead_two + k[i] * r_two
        value[c], rest[c] = value_one, rest_one
        value[d], rest[d] = value_two, rest_two


@njit(cache=True, nogil=True)
def leverage2(F: Floats, k: Floats, stretch: Floats, back: Floats, keep: Floats, dx: Floats, h: Floats) -> Floats:
    """Return df_t / dr_t."""
    n = len(h)
    out = np.ones(n)
    if n < 3:
        return out
    A, B, C = 0.0, 0.0, 0.0  # the variance [[A, B], [B, C]] of the costate
    for t in range(n - 1, 1, -1):
        out[t] = 1.0 - h[t] * (1.0 / F[t] + k[t] * k[t] * A)
        share = h[t] / F[t]
        A, B = share * share * A + 1.0 / F[t], share * B
        p, c, u, g = stretch[t], back[t], dx[t], keep[t]
        A, B, C = (
            p * p * A - 2.0 * p * c * B + c * c * C,
            p * u * A + (p * g - c * u) * B - c * g * C,
            u * u * A + 2.0 * u * g * B + g * g * C,
        )
    out[1] = 1.0 - h[1] * A
    out[0] = 1.0 - h[0] * C / (dx[1] * dx[1])
    return out
