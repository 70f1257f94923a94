"""The ordered O(n) path is the dense representer formula, to 1e-8 where K + tau I has a condition of at most 1e8."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stepsmooth.line import LineSmoother
from stepsmooth.model import CubicSplineKernel, MinKernel
from stepsmooth.points import DenseSmoother

KERNELS = {1: MinKernel(), 2: CubicSplineKernel()}
ORDERS = pytest.mark.parametrize("order", [1, 2])


@st.composite
def problems(draw):
    """Points in any order, some repeated, some all but repeated; weights; a residual; tau over 16 decades."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 30))
    x = rng.uniform(0.0, 1.0, n)
    copies = rng.choice(n, rng.integers(0, n // 2 + 1), replace=False)
    x[copies] = x[rng.integers(n, size=len(copies))] + draw(st.sampled_from([0.0, 1e-13, 1e-9, 1e-5]))
    assume(len(np.unique(x)) >= 3)
    w = rng.uniform(0.1, 5.0, n) if draw(st.booleans()) else np.ones(n)
    return x, w, rng.normal(size=n), 10.0 ** draw(st.floats(-10, 6))


def both(problem, order):
    """Return both smoothers, the residual and tau, where the dense one can be trusted."""
    x, w, r, tau = problem
    dense = DenseSmoother(x[:, None], w, KERNELS[order])
    root = np.sqrt(w)
    K = root[:, None] * KERNELS[order](x) * root / w.sum()
    assume(np.linalg.cond(K + tau * np.eye(len(x))) <= 1e8)
    return LineSmoother(x, w, order=order, origin=0.0 if order == 1 else None), dense, r, tau


@ORDERS
@given(problem=problems())
def test_f_at_the_points(order, problem):
    line, dense, r, tau = both(problem, order)
    np.testing.assert_allclose(line.solve(r, tau), dense.solve(r, tau), atol=1e-8)


@ORDERS
@given(problem=problems(), left=st.floats(0.0, 1.0))
def test_f_at_new_points_between_and_beyond(order, problem, left):
    line, dense, r, tau = both(problem, order)
    t = np.concatenate([np.linspace(0.0 if order == 1 else -left, 1.5, 40), problem[0]])
    np.testing.assert_allclose(line.at(t, r, tau), dense.at(t[:, None], r, tau), atol=1e-8)


@ORDERS
@given(problem=problems())
def test_leverage_and_trace(order, problem):
    line, dense, _, tau = both(problem, order)
    np.testing.assert_allclose(line.leverage(tau), dense.leverage(tau), atol=1e-8)
    assert line.trace(tau) == pytest.approx(dense.trace(tau), abs=1e-8)


@ORDERS
@given(problem=problems())
def test_logdet(order, problem):
    line, dense, _, tau = both(problem, order)
    assert line.logdet(tau) == pytest.approx(dense.logdet(tau), rel=1e-8, abs=1e-8)


@ORDERS
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_reweighted_is_built_with_the_other_weights(order, problem, seed):
    line, _, r, tau = both(problem, order)
    other = np.random.default_rng(seed).uniform(0.5, 2.0, len(r))
    dense = DenseSmoother(problem[0][:, None], other, KERNELS[order])
    again = line.reweighted(other)
    np.testing.assert_allclose(again.solve(r, tau), dense.solve(r, tau), atol=1e-7)
    assert again.logdet(tau) == pytest.approx(dense.logdet(tau), rel=1e-7, abs=1e-7)


@ORDERS
@given(problem=problems())
def test_columns_are_smoothed_one_by_one(order, problem):
    line, _, r, tau = both(problem, order)
    R = np.column_stack([r, 2.0 * r[::-1]])
    t = np.linspace(0.0, 1.2, 9)
    for c in range(2):
        np.testing.assert_array_equal(line.solve(R, tau)[:, c], line.solve(R[:, c].copy(), tau))
        np.testing.assert_array_equal(line.at(t, R, tau)[:, c], line.at(t, R[:, c].copy(), tau))


@ORDERS
@given(seed=st.integers(0, 2**32 - 1))
def test_norm2(order, seed):
    rng = np.random.default_rng(seed)
    x = rng.permutation(np.cumsum(rng.uniform(0.05, 0.15, 12)))
    dense = DenseSmoother(x[:, None], kernel=KERNELS[order])
    line = LineSmoother(x, order=order)
    f = rng.normal(size=12)
    assert line.norm2(f) == pytest.approx(dense.norm2(f), rel=1e-6)


@ORDERS
def test_norm2_takes_repeated_points_once(order):
    x, f = np.array([0.2, 0.9, 0.5, 0.2, 0.7]), np.array([1.0, 2.0, -1.0, 1.0, 0.5])
    once = [0, 1, 2, 4]
    repeated, distinct = LineSmoother(x, order=order), LineSmoother(x[once], order=order)
    assert repeated.norm2(f) == pytest.approx(distinct.norm2(f[once]))


@pytest.mark.parametrize("order", [1, 2])
def test_two_points_that_all_but_coincide_are_one(order):
    x, y = np.array([0.0, 5.9e-238, 1.0, 2.0]), np.array([1.0, 3.0, 2.0, 5.0])
    apart = LineSmoother(x, order=order).solve(y, 0.01)
    np.testing.assert_allclose(apart, LineSmoother([0.0, 0.0, 1.0, 2.0], order=order).solve(y, 0.01), atol=1e-9)
