"""How accurate the ordered path is, against sixty-digit arithmetic: long signals, extreme tau, close points."""

from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest

from stepsmooth.altmin import tau_of_dof
from stepsmooth.line import LineSmoother


def exact_spline(x, r, tau):
    """Return f and the leverages of the cubic smoothing spline: Reinsch (1967), Hutchinson & de Hoog (1985)."""
    with localcontext() as context:
        context.prec = 60
        lam, x, f = Decimal(tau) * len(x), [Decimal(v) for v in x.tolist()], [Decimal(v) for v in r.tolist()]
        n, m = len(x), len(x) - 2
        h = [b - a for a, b in pairwise(x)]
        Q = [(1 / a, -1 / a - 1 / b, 1 / b) for a, b in pairwise(h)] + [(Decimal(0),) * 3] * 2
        # (R + lam Q'Q) c = Q'r, five bands, by LDL'.
        d, l1, l2, c = [Decimal(0)] * (m + 2), [Decimal(0)] * (m + 2), [Decimal(0)] * (m + 2), [Decimal(0)] * (m + 2)
        for j in range(m):
            a, b, e = Q[j], Q[j + 1], Q[j + 2]
            d[j] = (h[j] + h[j + 1]) / 3 + lam * (a[0] ** 2 + a[1] ** 2 + a[2] ** 2)
            d[j] -= l1[j - 1] ** 2 * d[j - 1] + l2[j - 2] ** 2 * d[j - 2]
            beside = (h[j + 1] / 6 if j + 1 < m else 0) + lam * (a[1] * b[0] + a[2] * b[1])
            l1[j] = (beside - l1[j - 1] * l2[j - 1] * d[j - 1]) / d[j]
            l2[j] = lam * a[2] * e[0] / d[j]
            c[j] = sum(a[k] * f[j + k] for k in range(3)) - l1[j - 1] * c[j - 1] - l2[j - 2] * c[j - 2]
        # The bands of the inverse, from its end; then the diagonal of I - S = lam Q (R + lam Q'Q)^-1 Q'.
        s0, s1, s2 = ([Decimal(0)] * (m + 2) for _ in range(3))
        left = [Decimal(0)] * n
        for j in range(m - 1, -1, -1):
            c[j] = c[j] / d[j] - l1[j] * c[j + 1] - l2[j] * c[j + 2]
            s1[j] = -l1[j] * s0[j + 1] - l2[j] * s1[j + 1]
            s2[j] = -l1[j] * s1[j + 1] - l2[j] * s0[j + 2]
            s0[j] = 1 / d[j] - l1[j] * s1[j] - l2[j] * s2[j]
            a, b, e = Q[j], Q[j + 1], Q[j + 2]
            left[j] += lam * a[0] ** 2 * s0[j]
            left[j + 1] += lam * (a[1] ** 2 * s0[j] + 2 * a[1] * b[0] * s1[j])
            left[j + 2] += lam * (a[2] ** 2 * s0[j] + 2 * a[2] * b[1] * s1[j] + 2 * a[2] * e[0] * s2[j])
        for j in range(m):
            for k in range(3):
                f[j + k] -= lam * Q[j][k] * c[j]
        return np.array(f, dtype=float), 1.0 - np.array(left, dtype=float)


def exact_broken_line(x, r, tau):
    """Return f and the leverages of the min kernel, from its tridiagonal precision."""
    with localcontext() as context:
        context.prec = 60
        lam, x, r = Decimal(tau) * len(x), [Decimal(v) for v in x.tolist()], [Decimal(v) for v in r.tolist()]
        n = len(x)
        stiff = [lam / (b - a) for a, b in zip([Decimal(0), *x], x)] + [Decimal(0)]
        d, f = [Decimal(0)] * n, [Decimal(0)] * n
        for i in range(n):
            d[i] = 1 + stiff[i] + stiff[i + 1] - (stiff[i] ** 2 / d[i - 1] if i else 0)
            f[i] = r[i] + (stiff[i] * f[i - 1] / d[i - 1] if i else 0)
        inverse = [Decimal(0)] * (n + 1)
        for i in range(n - 1, -1, -1):
            f[i] = (f[i] + (stiff[i + 1] * f[i + 1] if i + 1 < n else 0)) / d[i]
            inverse[i] = 1 / d[i] + (stiff[i + 1] / d[i]) ** 2 * inverse[i + 1]
        return np.array(f, dtype=float), np.array(inverse[:n], dtype=float)


EXACT = {1: exact_broken_line, 2: exact_spline}


def signal(x, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(9.0 * x / x[-1]) + rng.integers(3, size=len(x)) + 0.3 * rng.normal(size=len(x))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("dof", [3.0, 300.0, 10_000.0])
def test_twenty_thousand_points_keep_twelve_digits(order, dof):
    x = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 20_000))
    r = signal(x)
    smoother = LineSmoother(x, order=order)
    tau = tau_of_dof(smoother, dof)
    f, leverage = EXACT[order](x, r, tau)
    np.testing.assert_allclose(smoother.solve(r, tau), f, atol=1e-12)
    np.testing.assert_allclose(smoother.leverage(tau), leverage, atol=1e-14)
    assert smoother.trace(tau) == pytest.approx(leverage.sum(), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("gap", [1e-3, 1e-8, 1e-14])
@pytest.mark.parametrize("where", [slice(1, 2), slice(-1, None), slice(1, None, 2)], ids=["first", "last", "all"])
@pytest.mark.parametrize("tau", [1.0, 1e-4, 1e-8])
def test_pairs_that_nearly_coincide_cost_no_digits(order, gap, where, tau):
    x = np.arange(1, 101) / 100
    x[where] = x[np.arange(100)[where] - 1] + gap
    r = signal(x)
    smoother = LineSmoother(x, order=order)
    f, leverage = EXACT[order](x, r, tau)
    np.testing.assert_allclose(smoother.solve(r, tau), f, atol=1e-13)
    np.testing.assert_allclose(smoother.leverage(tau), leverage, atol=1e-13)


@pytest.mark.parametrize("tau", [1.0, 1e-4, 1e-8])
def test_pairs_that_nearly_coincide_leave_the_slope_beyond_the_ends(tau):
    x = np.arange(1, 101) / 100
    x[[1, -1]] = x[[0, -2]]
    r, t = signal(x), np.array([-5.0, -0.1, 1.2, 6.0])
    merged = LineSmoother(x, order=2).at(t, r, tau)
    apart = x + 1e-14 * np.isin(np.arange(100), [1, 99])
    np.testing.assert_allclose(LineSmoother(apart, order=2).at(t, r, tau), merged, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("tau", [1e-1, 1e-5, 1e-9])
def test_the_unit_of_x_does_not_matter(order, unit, tau):
    x = np.sort(np.random.default_rng(2).uniform(0.0, 1.0, 200))
    r, t = signal(x), np.linspace(0.0, 1.2, 50)
    here, there = LineSmoother(x, order=order), LineSmoother(unit * x, order=order)
    same = tau * unit ** (2 * order - 1)  # |f|^2 has the unit of length to the power 1 - 2 order
    np.testing.assert_allclose(there.solve(r, same), here.solve(r, tau), atol=1e-12)
    np.testing.assert_allclose(there.at(unit * t, r, same), here.at(t, r, tau), atol=1e-12)
    assert there.trace(same) == pytest.approx(here.trace(tau), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_an_offset_of_a_billion_costs_its_own_digits_only(order):
    x = np.arange(1, 1001) / 1000
    r = signal(x)
    smoother = LineSmoother(x, order=order)
    f, offset = smoother.solve(r, 1e-6), smoother.solve(np.full(1000, 2.0**30), 1e-6)
    np.testing.assert_allclose(smoother.solve(r + 2.0**30, 1e-6) - offset, f, atol=1e-4)
