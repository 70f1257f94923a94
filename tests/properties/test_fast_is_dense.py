"""The fast paths of the estimators give the answer of the dense ones."""

import numpy as np
import pytest
from cases import SEEDS, share, signal
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from stepsmooth import StepSmooth
from stepsmooth.grid.tensor_smoother import TensorSmoother, axis_modes
from stepsmooth.model import CubicSplineKernel, MinKernel


@pytest.mark.parametrize("name, kernel", [("min", MinKernel()), ("spline", CubicSplineKernel())])
@given(seed=SEEDS, log_tau=st.floats(-5, 1), weighted=st.booleans())
@share(0.5)
def test_a_line_in_linear_time(name, kernel, seed, log_tau, weighted):
    X, y, _ = signal(seed)
    weights = np.random.default_rng(seed).uniform(0.2, 3.0, len(y)) if weighted else None
    params = {"tau": 10.0**log_tau, "solver": "altmin"}
    fast, dense = (StepSmooth(2, kernel=k, **params).fit(X, y, weights) for k in (name, kernel))
    np.testing.assert_array_equal(fast.labels_, dense.labels_)
    np.testing.assert_allclose(fast.smooth_, dense.smooth_, atol=1e-6)
    np.testing.assert_allclose(fast.levels_, dense.levels_, atol=1e-6)
    assert fast.effective_dof_ == pytest.approx(dense.effective_dof_, rel=1e-6)
    new = np.linspace(0.0, 1.5, 11)[:, None]
    np.testing.assert_allclose(fast.predict(new), dense.predict(new), atol=1e-6)


@given(seed=SEEDS, log_tau=st.floats(-4, 1))
@share(0.5)
def test_points_by_a_kernel_or_by_its_matrix(seed, log_tau):
    X, y, _ = signal(seed)
    low_rank = StepSmooth(2, kernel=RBF(0.3), tau=10.0**log_tau).fit(X, y)
    dense = StepSmooth(2, kernel="precomputed", tau=10.0**log_tau).fit(RBF(0.3)(X), y)
    np.testing.assert_array_equal(low_rank.labels_, dense.labels_)
    np.testing.assert_allclose(low_rank.smooth_, dense.smooth_, atol=1e-5)


@given(seed=SEEDS, log_tau=st.floats(-3, 2), data=st.data())
def test_a_grid_with_holes_and_weights(seed, log_tau, data):
    rng, tau = np.random.default_rng(seed), 10.0**log_tau
    shape = tuple(data.draw(st.lists(st.integers(2, 7), min_size=1, max_size=3)))
    present = rng.uniform(size=shape) < data.draw(st.sampled_from([0.5, 0.8, 1.0]))
    assume(present.sum() >= 4)
    weights, values = rng.uniform(0.5, 2.0, present.sum()), rng.normal(size=present.sum())
    W, r, S = np.zeros(shape), np.zeros(shape), np.ones((1, 1))
    W[present], r[present] = weights / weights.mean(), values
    for n in shape:
        bend, vectors = axis_modes(n, 1.0)
        S = np.kron(S, (vectors / (1.0 + n * tau * bend)) @ vectors.T)
    system = np.diag(W.ravel()) + np.linalg.inv(S) - np.eye(len(S))
    assume(np.linalg.cond(system) < 1e8)
    exact = np.linalg.solve(system, (W * r).ravel())
    np.testing.assert_allclose(TensorSmoother(present, weights).everywhere(values, tau).ravel(), exact, atol=1e-5)
