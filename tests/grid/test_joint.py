"""One step of the joint fit against dense Gauss-Newton, and how steps are counted, shortened and weighed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.field import Field
from stepsmooth.grid.joint import fit_joint, sample_of
from stepsmooth.grid.mixture import Classes, class_sums, updated


def a_scene(rng, multiplicative, p=2, strength=0.1, n=110):
    shape = (12, 10, 1)
    where = np.sort(rng.choice(120, n, replace=False))
    x, y, _ = np.unravel_index(where, shape)
    f = strength * (np.sin(x / 4.0) + (y / 10.0) ** 2)
    labels = rng.integers(3, size=n)
    levels = np.array([[1.0, 4.0], [2.0, 2.0], [3.5, 3.0]])[:, :p]
    clean = levels[labels] * np.exp(f)[:, None] if multiplicative else levels[labels] + f[:, None]
    means = clean + 0.05 * rng.normal(size=(n, p))
    coordinates = [2.0 * np.arange(m) for m in shape]
    reach = ((0.0, 22.0), (0.0, 18.0), (0.0, 0.0))
    blocks = Blocks(
        means, rng.uniform(0.5, 2.0, n), 0.0 * means, 0 * where, where, shape, coordinates, 4, np.ones(p), reach
    )
    classes = Classes(levels + 0.05, np.full((3, p), 0.04), np.array([0.3, 0.3, 0.4]), 0.02)
    return blocks, Field.flat(blocks, 12.0, multiplicative), classes


def dense_step(blocks, field, classes, free):
    """Least squares in (theta, levels) of the model made straight at the present field and levels."""
    B = np.kron(np.kron(*field.basis.values[:2]), field.basis.values[2])[blocks.place]
    f, (M, p) = B @ field.theta, classes.levels.shape
    gain, shift = (np.exp(f), 0.0 * f) if field.multiplicative else (np.ones_like(f), f)
    mean = gain[:, None, None] * classes.levels + shift[:, None, None]
    joint = (
        0.99 * classes.proportions * np.prod(norm.pdf(blocks.means[:, None], mean, np.sqrt(classes.variances)), axis=2)
    )
    mass = blocks.weights[:, None] * joint / (joint.sum(axis=1) + 0.01 * classes.outlier_density)[:, None]
    K, size = B.shape[1], B.shape[1] + M * p
    A, b = np.zeros((size, size)), np.zeros(size)
    A[:K, :K] = field.penalty * field.basis.bending.dense
    for k in range(M):
        for c in range(p):
            J = np.zeros((len(B), size))
            J[:, :K] = B * (gain * classes.levels[k, c] if field.multiplicative else gain)[:, None]
            if free:
                J[:, K + k * p + c] = gain
            w = mass[:, k] / classes.variances[k, c]
            A += J.T @ (w[:, None] * J)
            b += J.T @ (w * (blocks.means[:, c] - mean[:, k, c] + J[:, :K] @ field.theta))
    if not free:
        return np.linalg.solve(A[:K, :K], b[:K]), classes.levels, B, mass
    found = np.linalg.lstsq(A, b)[0]
    return found[:K], classes.levels + found[K:].reshape(M, p), B, mass


@pytest.mark.parametrize("multiplicative", [True, False])
@pytest.mark.parametrize("p", [1, 2])
def test_a_step_is_that_of_dense_gauss_newton_in_field_and_levels(multiplicative, p):
    rng = np.random.default_rng(0)
    blocks, flat, classes = a_scene(rng, multiplicative, p)
    field = Field(flat.basis, flat.prior, 0.05 * rng.normal(size=flat.theta.size), 3.0, multiplicative)
    fit = fit_joint(blocks, field, classes, max_iter=1, choose_penalty=False)
    theta, levels, B, mass = dense_step(blocks, field, classes, True)
    change = B @ (theta - field.theta)
    moved = B @ field.theta + change - np.average(change, weights=blocks.weights)
    np.testing.assert_allclose(fit.field.at(blocks), moved, atol=2e-5)
    # The constant that f gave up goes to the levels, each by its slope: what is left is the best for them.
    slope = classes.levels if multiplicative else np.ones_like(classes.levels)
    gain = np.exp(B @ field.theta) if multiplicative else np.ones(len(B))
    np.testing.assert_allclose(
        fit.classes.levels, levels + slope * np.average(change, weights=blocks.weights), atol=2e-4
    )
    after = np.exp(moved) if multiplicative else gain
    shift = 0.0 * moved if multiplicative else moved
    error = blocks.means[:, None] - after[:, None, None] * fit.classes.levels - shift[:, None, None]
    squares, total = np.einsum("nk,nkc->kc", mass, error**2), mass.sum(axis=0)
    pooled = squares.sum(axis=0) / total.sum()
    np.testing.assert_allclose(fit.classes.variances, (squares + 10.0 * pooled) / (total[:, None] + 10.0), rtol=1e-4)
    np.testing.assert_allclose(fit.classes.proportions, total / total.sum(), rtol=1e-5)
    assert (fit.n_iter, fit.field.penalty) == (1, 3.0)


@pytest.mark.parametrize("multiplicative", [True, False])
def test_known_levels_stay_and_the_field_takes_the_constant(multiplicative):
    rng = np.random.default_rng(0)
    blocks, field, classes = a_scene(rng, multiplicative)
    fit = fit_joint(blocks, field, classes, max_iter=1, choose_penalty=False, free_levels=False)
    theta, _, B, _ = dense_step(blocks, field, classes, False)
    np.testing.assert_array_equal(fit.classes.levels, classes.levels)
    np.testing.assert_allclose(fit.field.at(blocks), B @ theta, atol=1e-4)


def test_a_step_of_the_field_is_no_longer_than_half():
    rng = np.random.default_rng(0)
    blocks, field, _ = a_scene(rng, True, p=1)
    x = np.unravel_index(blocks.place, blocks.shape)[0]
    blocks = replace(blocks, means=np.exp(0.3 * x)[:, None])  # from 1 to 27
    classes = Classes(np.array([[2.0]]), np.array([[400.0]]), np.ones(1), 1e-6)
    fit = fit_joint(blocks, field, classes, max_iter=1, choose_penalty=False)
    f = fit.field.at(blocks)
    assert np.abs(f).max() == pytest.approx(0.5)
    theta, _, B, _ = dense_step(blocks, field, classes, True)
    whole = B @ theta - np.average(B @ theta, weights=blocks.weights)
    assert np.abs(whole).max() > 0.6
    np.testing.assert_allclose(f, 0.5 * whole / np.abs(whole).max(), atol=1e-3)


def test_without_a_field_a_step_is_one_of_em():
    rng = np.random.default_rng(0)
    blocks, _, classes = a_scene(rng, True)
    none = Field.absent(True)
    fit = fit_joint(blocks, none, classes, max_iter=1)
    sample = sample_of(blocks, none)
    given = (sample.Y, sample.gain, sample.shift, sample.weights)
    expected = updated(class_sums(*given, classes), classes, blocks.least_variance)
    np.testing.assert_allclose(fit.classes.levels, expected.levels, rtol=1e-5)
    np.testing.assert_allclose(fit.classes.variances, expected.variances, rtol=1e-4)
    loglik = class_sums(*given, fit.classes).loglik
    assert fit.loglik == pytest.approx(loglik)
    assert fit.evidence == pytest.approx(loglik)  # a field that is not there costs nothing
    kept = fit_joint(blocks, none, classes, max_iter=1, free_levels=False)
    np.testing.assert_array_equal(kept.classes.levels, classes.levels)


def test_the_evidence_is_the_likelihood_less_the_cost_of_the_field():
    rng = np.random.default_rng(0)
    blocks, field, classes = a_scene(rng, True)
    fit = fit_joint(blocks, field, classes, max_iter=100, tol=1e-9, choose_penalty=False)
    assert fit.converged
    sample = sample_of(blocks, fit.field)
    loglik = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, fit.classes).loglik
    assert fit.loglik == pytest.approx(loglik)
    again = fit_joint(blocks, fit.field, fit.classes, max_iter=1, choose_penalty=False)
    assert again.evidence == pytest.approx(fit.evidence, abs=1e-4)
    occam = fit.evidence - loglik + fit.field.cost
    stiffer = Field(fit.field.basis, fit.field.prior, fit.field.theta, 2.0 * fit.field.penalty, True)
    dearer = fit_joint(blocks, stiffer, fit.classes, max_iter=1, choose_penalty=False)
    other = dearer.evidence - dearer.loglik + dearer.field.cost
    assert 0.0 < other - occam < 0.5 * field.prior.rank * np.log(2.0)
    silent = fit_joint(blocks, field, classes, max_iter=1, weigh=False)
    assert np.isnan(silent.loglik)
    assert np.isnan(silent.evidence)


def test_it_stops_when_field_and_levels_hardly_move():
    rng = np.random.default_rng(0)
    blocks, field, classes = a_scene(rng, True)
    short = fit_joint(blocks, field, classes, max_iter=2, tol=0.0)
    assert (short.n_iter, short.converged) == (2, False)
    steps = [fit_joint(blocks, field, classes, max_iter=n, tol=0.0, choose_penalty=False) for n in (4, 5)]
    moved = steps[1].field.at(blocks) - steps[0].field.at(blocks)
    levels = steps[1].classes.levels - steps[0].classes.levels
    spread = np.ptp(steps[0].classes.levels)
    change = np.sqrt(np.average(moved**2, weights=blocks.weights)) + np.sqrt(np.mean(levels**2)) / spread
    found = fit_joint(blocks, field, classes, tol=1.0001 * change, choose_penalty=False)
    assert found.converged
    assert found.n_iter <= 5
    assert fit_joint(blocks, field, classes, max_iter=5, tol=0.9999 * change, choose_penalty=False).n_iter == 5
    assert not fit_joint(blocks, field, classes, max_iter=5, tol=0.9999 * change, choose_penalty=False).converged
