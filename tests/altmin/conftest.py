"""Problems of every kind that AltMin meets: scalar and vector, shared and per channel, weights, all level models."""

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from stepsmooth.altmin import Problem
from stepsmooth.line import LineSmoother
from stepsmooth.model import FreeLevels, KnownLevels, ShiftedLevels
from stepsmooth.points import NystroemSmoother

SMOOTHERS = {
    "order 1": lambda x, w: LineSmoother(x, w, order=1),
    "order 2": lambda x, w: LineSmoother(x, w, order=2),
    "low rank": lambda x, w: NystroemSmoother(x[:, None], w, kernel=RBF(0.3), rank=8),
}
MODELS = {"free": lambda mu: FreeLevels(len(mu)), "known": KnownLevels, "shifted": ShiftedLevels}


@pytest.fixture(scope="session")
def problems():
    """The strategy that draws a Problem and the labels behind it."""
    return draw_problem


@pytest.fixture(scope="session")
def problem_of():
    """Build a problem on a line that can leave points out."""

    def build(x, y, order, n_levels=2):
        def without(held_out):
            inside = np.setdiff1d(np.arange(len(x)), held_out)
            return build(x[inside], y[inside], order, n_levels), x[held_out]

        return Problem(y[:, None], LineSmoother(x, order=order), FreeLevels(n_levels), without=without)

    return build


@st.composite
def draw_problem(draw, models=tuple(MODELS), smoothers=tuple(SMOOTHERS), channels=(1, 2, 3)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_levels, p = draw(st.integers(12, 40)), draw(st.integers(1, 4)), draw(st.sampled_from(channels))
    x = np.cumsum(rng.uniform(0.5, 1.5, n)) / n
    mu = np.sort(rng.normal(scale=2.0, size=(n_levels, p)), axis=0)
    labels = np.append(np.arange(n_levels), rng.integers(n_levels, size=n - n_levels))
    Y = np.sin(6.0 * x)[:, None] + mu[labels] + draw(st.sampled_from([0.0, 0.1, 1.0])) * rng.normal(size=(n, p))
    w = rng.uniform(0.2, 3.0, n) if draw(st.booleans()) else np.ones(n)
    smoother = SMOOTHERS[draw(st.sampled_from(smoothers))](x, w)
    model = MODELS[draw(st.sampled_from(models))](mu)
    return Problem(Y, smoother, model, per_channel=draw(st.booleans())), labels


@pytest.fixture(scope="session")
def objective():
    """The paper's objective, from the norm: 1/n sum w |y - mu_z - f|^2 + tau |f|^2."""

    def evaluate(problem, levels, labels, f, tau):
        error = problem.Y - levels[labels] - f
        norms = sum(problem.smoother.norm2(f[:, c]) for c in range(f.shape[1]))
        return np.sum(problem.weights[:, None] * error**2) / problem.weights.sum() + tau * norms

    return evaluate
