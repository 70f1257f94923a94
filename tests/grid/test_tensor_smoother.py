"""AltMin's smoother on grids: csaps on full grids, dense algebra where there are holes and weights."""

import numpy as np
import pytest

from stepsmooth.altmin import Problem, altmin
from stepsmooth.grid.tensor_smoother import TensorSmoother, axis_modes
from stepsmooth.model import FreeLevels, loss_and_penalty


def dense_smoother(shape, tau, spacing):
    S = np.ones((1, 1))
    for n, h in zip(shape, spacing):
        values, vectors = axis_modes(n, h)
        S = np.kron(S, (vectors / (1.0 + n * tau * values)) @ vectors.T)
    return S


@pytest.mark.parametrize("shape", [(15,), (12, 9), (7, 6, 5), (5, 4, 3, 4)], ids=str)
def test_on_full_grids_it_is_csaps(shape):
    csaps = pytest.importorskip("csaps")
    image, tau = np.random.default_rng(0).normal(size=shape), 0.05
    grid = [1.5 * np.arange(n) for n in shape]
    theirs = csaps.NdGridCubicSmoothingSpline(grid, image, smooth=[1.0 / (1.0 + n * tau) for n in shape])(grid)
    ours = TensorSmoother(np.ones(shape, dtype=bool), spacing=(1.5,) * len(shape)).solve(image.ravel(), tau)
    np.testing.assert_allclose(ours.reshape(shape), theirs, atol=1e-8)


@pytest.mark.parametrize("shape", [(14,), (9, 8), (6, 5, 4)], ids=str)
@pytest.mark.parametrize("tau", [1e-3, 0.1, 30.0])
def test_with_holes_and_weights_it_solves_the_named_objective(shape, tau):
    rng = np.random.default_rng(1)
    present = rng.uniform(size=shape) < 0.7
    weights, values = rng.uniform(0.5, 2.0, size=present.sum()), rng.normal(size=present.sum())
    W = np.zeros(shape)
    W[present] = weights / weights.mean()
    r = np.zeros(shape)
    r[present] = values
    S = dense_smoother(shape, tau, (1.0,) * len(shape))
    exact = np.linalg.solve(np.diag(W.ravel()) + np.linalg.inv(S) - np.eye(len(S)), (W * r).ravel())
    smoother = TensorSmoother(present, weights)
    np.testing.assert_allclose(smoother.everywhere(values, tau).ravel(), exact, atol=1e-6)


def test_the_penalty_is_that_of_the_objective():
    shape, tau, rng = (8, 7), 0.1, np.random.default_rng(2)
    r = rng.normal(size=56)
    smoother = TensorSmoother(np.ones(shape, dtype=bool))
    f = smoother.solve(r, tau)
    S = dense_smoother(shape, tau, (1.0, 1.0))
    assert loss_and_penalty(f, r, smoother.weights)[1] == pytest.approx(f @ (np.linalg.inv(S) - np.eye(56)) @ f / 56)


def test_the_trace_is_exact_on_full_grids_and_close_with_holes():
    full = TensorSmoother(np.ones((12, 11), dtype=bool))
    assert full.trace(0.1) == pytest.approx(np.trace(dense_smoother((12, 11), 0.1, (1.0, 1.0))))
    assert full.leverage(0.1).sum() == pytest.approx(full.trace(0.1))
    present = np.ones((12, 11), dtype=bool)
    present[:2, :2] = False
    assert TensorSmoother(present).trace(0.1) == pytest.approx(full.trace(0.1), rel=0.3)


def test_altmin_never_raises_its_objective_on_a_masked_image(patches):
    image, labels, _ = patches(shape=(40, 36), strength=0.1, noise=0.02)
    present = np.ones(image.shape, dtype=bool)
    present[:5, :7] = False
    Y = np.log(image[present])[:, None]
    fit = altmin(Problem(Y, TensorSmoother(present), FreeLevels(3)), 1.0)
    assert np.all(np.diff(fit.history) <= 1e-12)
    assert np.mean(fit.labels == labels[present]) > 0.85


def test_what_has_no_meaning_for_tensor_splines_is_refused():
    smoother = TensorSmoother(np.ones((4, 4), dtype=bool))
    with pytest.raises(NotImplementedError, match=r"restricted likelihood is not available.*use tau='gcv'"):
        smoother.logdet(1.0)


@pytest.mark.parametrize("tau", [1e-6, 1e-3, 1.0, 1e3, 1e12])
def test_voxels_in_a_row_are_smoothed_as_a_row(tau):
    """They say nothing of the slope across the row; along it f is the same spline as on a grid of one axis."""
    present = np.zeros((9, 12), dtype=bool)
    present[3] = True
    values = np.random.default_rng(0).normal(size=12)
    f = TensorSmoother(present).everywhere(values, tau)
    assert np.all(np.isfinite(f))
    assert np.linalg.norm(f[3] - values) <= np.linalg.norm(values)
    if tau >= 1e3:
        np.testing.assert_allclose(np.diff(f[3], n=2), 0.0, atol=1e-2)


def test_two_voxels_are_passed_through_whatever_tau():
    present = np.zeros((10, 10), dtype=bool)
    present[1, 2] = present[8, 7] = True
    for tau in (1e-3, 1.0, 1e6):
        np.testing.assert_allclose(TensorSmoother(present).solve(np.array([1.0, -2.0]), tau), [1.0, -2.0], atol=1e-6)


def test_at_any_voxel_it_is_the_f_of_the_whole_grid():
    present = np.ones((5, 6), dtype=bool)
    present[2, 3] = False
    smoother, values = TensorSmoother(present), np.random.default_rng(0).normal(size=(29, 2))
    whole = np.stack([smoother.everywhere(column, 0.1).ravel() for column in values.T], axis=1)
    np.testing.assert_allclose(smoother.at(np.array([0, 15, 29]), values, 0.1), whole[[0, 15, 29]], rtol=1e-12)
