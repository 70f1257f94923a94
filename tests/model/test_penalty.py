"""The penalty identity: tau |f|^2 of a minimiser, without touching the norm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from stepsmooth.line import LineSmoother
from stepsmooth.model import CubicSplineKernel, MinKernel, SobolevKernel, loss_and_penalty
from stepsmooth.points import DenseSmoother, NystroemSmoother


def penalty(f, r, w):
    return loss_and_penalty(f, r, w)[1]


SMOOTHERS = {
    "line, order 1": lambda X, w: LineSmoother(X, w, order=1),
    "line, order 2": lambda X, w: LineSmoother(X, w, order=2),
    "dense, min": lambda X, w: DenseSmoother(X, w, MinKernel()),
    "dense, spline": lambda X, w: DenseSmoother(X, w, CubicSplineKernel()),
    "dense, sobolev": lambda X, w: DenseSmoother(X, w, SobolevKernel(1)),
    "low rank": lambda X, w: NystroemSmoother(X, w, kernel=RBF(0.3), rank=6),
}


@pytest.mark.parametrize("name", SMOOTHERS)
@given(seed=st.integers(0, 2**32 - 1), log_tau=st.floats(-6, 2))
def test_it_is_tau_times_the_squared_norm(name, seed, log_tau):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.02, 0.06, 15))
    w, r, tau = rng.uniform(0.5, 2.0, 15), rng.normal(size=15), 10.0**log_tau
    smoother = SMOOTHERS[name](x[:, None], w)
    f = smoother.solve(r, tau)
    assert penalty(f, r, w) == pytest.approx(tau * smoother.norm2(f), rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("name", SMOOTHERS)
@given(seed=st.integers(0, 2**32 - 1), log_tau=st.floats(-6, 2))
def test_no_other_function_has_a_smaller_objective(name, seed, log_tau):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.02, 0.06, 15))
    w, r, tau = rng.uniform(0.5, 2.0, 15), rng.normal(size=15), 10.0**log_tau
    smoother = SMOOTHERS[name](x[:, None], w)

    def objective(f):
        return np.sum(w * (r - f) ** 2) / w.sum() + tau * smoother.norm2(f)

    f = smoother.solve(r, tau)
    # Another member of the space: the smooth of other data.
    other = smoother.solve(rng.normal(size=15), 10.0 ** rng.uniform(-4, 2))
    for step in (0.1, -0.1, 1e-2, -1e-2):
        assert objective(f) <= objective(f + step * other) + 1e-9


def test_rounding_never_makes_it_negative():
    x = np.arange(50.0)
    smoother = LineSmoother(x, order=2)
    for slope in np.linspace(-1.0, 1.0, 41):
        r = 0.1 + slope * x  # free: the penalty is zero
        for tau in (0.1, 100.0):
            assert 0.0 <= penalty(smoother.solve(r, tau), r, smoother.weights) < 1e-11


def test_columns_add_up():
    rng = np.random.default_rng(0)
    smoother = LineSmoother(np.linspace(0.1, 1.0, 10), order=1)
    R = rng.normal(size=(10, 3))
    F = smoother.solve(R, 0.01)
    single = [penalty(F[:, c], R[:, c], smoother.weights) for c in range(3)]
    assert penalty(F, R, smoother.weights) == pytest.approx(sum(single))
