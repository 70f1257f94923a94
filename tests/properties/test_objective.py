"""No iteration raises the objective, evaluated anew from labels, levels and f by dense algebra, not by the loop."""

import numpy as np
import pytest
from cases import SEEDS, cloud, scene, share, signal
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.grid.tensor_smoother import axis_modes
from stepsmooth.line.chain import Signal, Theta
from stepsmooth.line.climb import climb
from stepsmooth.model import MinKernel

LOG_TAUS = st.floats(-5, 0)
# Kernels whose matrix can be inverted: then |f|^2 = f' K^-1 f.
KERNELS = {"min": MinKernel(), "matern": Matern(0.4, nu=0.5), "rbf": RBF(0.02)}


def falls(values):
    """Whether no value exceeds the one before it, rounding apart."""
    values = np.asarray(values)
    return bool(np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]) + 1e-12))


@pytest.mark.parametrize("where", [signal, cloud], ids=["line", "plane"])
@given(seed=SEEDS, log_tau=LOG_TAUS, start=st.sampled_from(["smooth", "kmeans"]), data=st.data())
def test_altmin_on_points(where, seed, log_tau, start, data):
    name = data.draw(st.sampled_from(sorted(KERNELS) if where is signal else ["matern", "rbf"]))
    X, y, _ = where(seed, noise=data.draw(st.sampled_from([0.0, 0.1, 1.0])))
    tau, weights, states = 10.0**log_tau, np.random.default_rng(seed).uniform(0.2, 3.0, len(y)), []
    m = StepSmooth(2, kernel="min" if name == "min" else KERNELS[name], tau=tau, start=start, callback=states.append)
    m.fit(X, y, weights)
    inverse = np.linalg.inv(KERNELS[name](X))
    values = []
    for state in states:
        f, error = state.smooth[:, 0], y - state.levels[state.labels, 0] - state.smooth[:, 0]
        values.append(np.average(error**2, weights=weights) + tau * f @ inverse @ f)
    assert falls(values)
    assert falls([values[0], m.objective_])
    assert m.objective_ == pytest.approx(values[-1], rel=1e-5, abs=1e-9)


@given(seed=SEEDS, log_tau=st.floats(-3, 2), shape=st.sampled_from([(30,), (8, 7), (5, 4, 3)]))
@example(seed=67, log_tau=1.875, shape=(5, 4, 3))
def test_altmin_on_grids(seed, log_tau, shape):
    image, _ = scene(seed, shape, noise=0.2, patch=2)
    tau, states = 10.0**log_tau, []
    g = GridStepSmooth(2, solver="altmin", tau=tau, callback=states.append).fit(image)
    # The modes of S are products of those of its axes, and S^-1 is known in them without an inverse.
    modes, stiffness = np.ones((1, 1)), np.ones(1)
    for n in shape:
        bend, vectors = axis_modes(n, 1.0)
        modes, stiffness = np.kron(modes, vectors), np.kron(stiffness, 1.0 + n * tau * bend)
    y, values = np.log(image).ravel(), []
    for state in states:
        f, error = state.smooth[:, 0], y - state.levels[state.labels, 0] - state.smooth[:, 0]
        values.append((error @ error + (modes.T @ f) ** 2 @ (stiffness - 1.0)) / len(y))
    assert falls(values)
    assert g.objective_ == pytest.approx(values[-1], rel=1e-5, abs=1e-9)


@given(seed=SEEDS, data=st.data())
@share(0.2)
def test_the_joint_solver_never_ends_a_climb_below_its_start(seed, data):
    """Steps of the beam may lose likelihood; the best point of a climb is what is kept."""
    X, y, _ = signal(seed, noise=data.draw(st.sampled_from([0.05, 0.3])))
    order, rng = np.argsort(X[:, 0]), np.random.default_rng(seed)
    ordered = Signal(X[order, 0], y[order, None], np.ones(len(y)), order=data.draw(st.sampled_from([1, 2])))
    levels = np.sort(rng.uniform(y.min(), y.max(), 2))[:, None]
    theta = Theta(levels, 10.0 ** rng.uniform(-6, -2), 10.0 ** rng.uniform(-3, 0), np.full(2, 0.5))
    best = climb(ordered, theta, "uniform", "free")
    assert best.loglik == max(best.history) >= best.history[0]
