"""The low-rank path: dense at full rank, better with every landmark, linear in n."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from stepsmooth.model import CubicSplineKernel
from stepsmooth.points import DenseSmoother, NystroemSmoother

SEEDS = st.integers(0, 2**32 - 1)
KERNELS = pytest.mark.parametrize("kernel", [Matern(0.7, nu=1.5), Matern(0.5, nu=0.5)], ids=repr)


def draw(seed, n=25, d=3):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 1.0, (n, d)), rng.uniform(0.2, 3.0, n), rng.normal(size=n)


@KERNELS
@given(seed=SEEDS, log_tau=st.floats(-6, 3))
def test_full_rank_is_dense(kernel, seed, log_tau):
    X, w, r = draw(seed)
    tau, other = 10.0**log_tau, np.random.default_rng(seed).uniform(0.5, 1.0, 25)
    low, dense = NystroemSmoother(X, w, kernel=kernel, rank=25), DenseSmoother(X, w, kernel)
    new = X[::-1] + 0.05
    np.testing.assert_allclose(low.solve(r, tau), dense.solve(r, tau), atol=1e-8)
    np.testing.assert_allclose(low.at(new, r, tau), dense.at(new, r, tau), atol=1e-8)
    np.testing.assert_allclose(low.leverage(tau), dense.leverage(tau), atol=1e-8)
    assert low.trace(tau) == pytest.approx(dense.trace(tau), abs=1e-8)
    assert low.logdet(tau) == pytest.approx(dense.logdet(tau), rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(low.reweighted(other).solve(r, tau), dense.reweighted(other).solve(r, tau), atol=1e-8)
    assert low.norm2(r) == pytest.approx(dense.norm2(r), rel=1e-5)
    assert low.dof_range == dense.dof_range


@KERNELS
@given(seed=SEEDS)
def test_full_rank_interpolates_at_tau_zero(kernel, seed):
    X, w, r = draw(seed, n=12)
    np.testing.assert_allclose(NystroemSmoother(X, w, kernel=kernel, rank=12).solve(r, 0.0), r, atol=1e-6)


@given(seed=SEEDS)
def test_the_error_falls_with_the_rank(seed):
    X, w, _ = draw(seed, n=150, d=2)
    kernel = RBF(0.5)
    K = kernel(X)
    missed, worst = [], []
    for rank in (2, 8, 32, 100):
        low = NystroemSmoother(X, w, kernel=kernel, rank=rank)
        missed.append(low.missed)
        worst.append(np.abs(low._L @ low._L.T - K).max())
    assert np.all(np.diff(missed) < 0)
    assert np.all(np.diff(worst) < 0)
    assert worst[-1] < 1e-6


@given(seed=SEEDS)
def test_f_comes_to_the_dense_f_with_the_rank(seed):
    X, w, _ = draw(seed, n=150, d=2)
    r, kernel, tau = np.sin(5.0 * X[:, 0]) + X[:, 1], RBF(0.5), 1e-3
    exact = DenseSmoother(X, w, kernel).solve(r, tau)
    errors = [np.abs(NystroemSmoother(X, w, kernel=kernel, rank=k).solve(r, tau) - exact).max() for k in (3, 15, 60)]
    assert errors[2] < 1e-4
    assert errors[2] < errors[1] < errors[0]


def test_what_is_missed_is_the_share_of_the_trace():
    X, _, _ = draw(0, n=60)
    low = NystroemSmoother(X, kernel=RBF(0.5), rank=10)
    assert low.missed == pytest.approx(1.0 - np.sum(low._L**2) / 60.0)


@given(seed=SEEDS)
def test_repeated_points_are_never_chosen_twice(seed):
    X, _, r = draw(seed, n=10)
    X, r = np.vstack([X, X]), np.append(r, r)
    low = NystroemSmoother(X, kernel=Matern(0.5, nu=0.5), rank=20)
    assert len(np.unique(X[low.landmarks], axis=0)) == len(low.landmarks) == 10
    np.testing.assert_allclose(
        low.solve(r, 1e-3), DenseSmoother(X, kernel=Matern(0.5, nu=0.5)).solve(r, 1e-3), atol=1e-8
    )


@given(seed=SEEDS)
def test_the_order_of_the_points_does_not_matter(seed):
    X, w, r = draw(seed, n=80, d=2)
    order = np.random.default_rng(seed).permutation(80)
    first = NystroemSmoother(X, w, kernel=RBF(0.5), rank=30).solve(r, 1e-3)
    second = NystroemSmoother(X[order], w[order], kernel=RBF(0.5), rank=30).solve(r[order], 1e-3)
    np.testing.assert_allclose(second, first[order], atol=1e-6)


def test_memory_is_linear_in_n():
    def peak(n):
        X, _, r = draw(0, n=n)
        tracemalloc.start()
        NystroemSmoother(X, kernel=RBF(0.5), rank=20).solve(r, 1e-3)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak(20_000) < 1.5 * 4 * peak(5_000)


def test_reweighting_leaves_the_original_alone():
    X, w, r = draw(0)
    low = NystroemSmoother(X, w, kernel=RBF(0.5), rank=10)
    before = low.solve(r, 0.01)
    low.reweighted(np.ones(25)).solve(r, 0.01)
    np.testing.assert_array_equal(low.solve(r, 0.01), before)


def test_it_refuses_a_rank_below_one_and_a_kernel_with_free_functions():
    X, _, _ = draw(0, d=1)
    with pytest.raises(ValueError, match="rank must be at least 1, got 0"):
        NystroemSmoother(X, kernel=RBF(), rank=0)
    with pytest.raises(ValueError, match="leaves some functions free, which has no low-rank path; use DenseSmoother"):
        NystroemSmoother(X, kernel=CubicSplineKernel(), rank=5)
