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

from stepsmooth.model.arrays import Floats


@njit(cache=True)
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


@njit(cache=True)
def smooth1(F: Floats, k: Floats, h: Floats, r: Floats) -> Floats:
    """Return f at the points."""
    n = len(r)
    f, v = np.empty(n), np.empty(n)
    m = 0.0
    for t in range(n):
        v[t] = r[t] - m
        m += k[t] * v[t]
    s = 0.0
    for t in range(n - 1, -1, -1):
        if F[t] > 0.0:
            u = v[t] / F[t] - k[t] * s
            f[t] = r[t] - h[t] * u
            s += u
        else:
            f[t] = 0.0
    return f


@njit(cache=True)
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


@njit(cache=True)
def gains2(dx: Floats, h: Floats) -> tuple[Floats, Floats, Floats]:
    """Return F and the gains of value and slope of order 2; entries 0 and 1 belong to the free line and stay 0."""
    n = len(dx)
    F, k0, k1 = np.zeros(n), np.zeros(n), np.zeros(n)
    if n < 3:
        return F, k0, k1
    # Two points fix the line: covariance of (value, slope) at the second, given both.
    u = dx[1]
    P00, P01, P11 = h[1], h[1] / u, (h[0] + h[1]) / (u * u) + u / 3.0
    for t in range(2, n):
        u = dx[t]
        P00 += u * (2.0 * P01 + u * P11) + u * u * u / 3.0
        P01 += u * P11 + u * u / 2.0
        P11 += u
        F[t] = P00 + h[t]
        k0[t], k1[t] = P00 / F[t], P01 / F[t]
        P00 = k0[t] * h[t]
        P11 -= k1[t] * P01
        P01 = k1[t] * h[t]
    return F, k0, k1


@njit(cache=True)
def smooth2(F: Floats, k0: Floats, k1: Floats, dx: Floats, h: Floats, r: Floats) -> tuple[Floats, Floats]:
    """Return f and f'' at the points."""
    n = len(r)
    f, second = r.copy(), np.zeros(n)
    if n < 3:
        return f, second
    v = np.empty(n)
    a, b = r[1], (r[1] - r[0]) / dx[1]
    for t in range(2, n):
        a += dx[t] * b
        v[t] = r[t] - a
        a += k0[t] * v[t]
        b += k1[t] * v[t]
    s0, s1 = 0.0, 0.0
    for t in range(n - 1, 1, -1):
        u = v[t] / F[t] - k0[t] * s0 - k1[t] * s1
        f[t] = r[t] - h[t] * u
        second[t] = s1
        s0 += u
        s1 += dx[t] * s0
    second[1] = s1
    f[1] += h[1] * (s0 + s1 / dx[1])
    f[0] -= h[0] * s1 / dx[1]
    return f, second


@njit(cache=True)
def leverage2(F: Floats, k0: Floats, k1: Floats, dx: Floats, h: Floats) -> Floats:
    """Return df_t / dr_t."""
    n = len(h)
    out = np.ones(n)
    if n < 3:
        return out
    A, B, C = 0.0, 0.0, 0.0  # the precision [[A, B], [B, C]] of the costate
    for t in range(n - 1, 1, -1):
        g0, g1 = k0[t], k1[t]
        out[t] = 1.0 - h[t] * (1.0 / F[t] + g0 * g0 * A + 2.0 * g0 * g1 * B + g1 * g1 * C)
        q = 1.0 - g0
        A = q * q * A - 2.0 * q * g1 * B + g1 * g1 * C + 1.0 / F[t]
        B = q * B - g1 * C
        u = dx[t]
        C += u * (2.0 * B + u * A)
        B += u * A
    u = dx[1]
    out[1] = 1.0 - h[1] * (A + 2.0 * B / u + C / (u * u))
    out[0] = 1.0 - h[0] * C / (u * u)
    return out
