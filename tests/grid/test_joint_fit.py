"""The start from differences and the joint fit recover field and levels; fixed parts stay fixed."""

import numpy as np
import pytest

from stepsmooth.grid import fieldprior
from stepsmooth.grid.blocks import pure_blocks
from stepsmooth.grid.classes import Sample, find_classes
from stepsmooth.grid.differences import field_from_differences
from stepsmooth.grid.field import Field
from stepsmooth.grid.fieldprior import FieldPrior, Taken
from stepsmooth.grid.joint import fit_joint, sample_of
from stepsmooth.grid.mixture import Classes, class_sums, posterior
from stepsmooth.grid.splines import axis_basis
from stepsmooth.grid.tensor import TensorBasis


def error_of(f, truth, blocks):
    shape = blocks.shape[:2]
    at_blocks = truth.reshape(shape[0], 2, shape[1], 2).mean(axis=(1, 3)).ravel()[blocks.place]
    return np.std(f - at_blocks)


def test_differences_give_the_field_without_any_class(patches, volume_of):
    image, _, f = patches(shape=(100, 96), noise=0.02)
    blocks = pure_blocks(volume_of(image))
    field = field_from_differences(blocks, Field.flat(blocks, 30.0, True))
    assert error_of(field.at(blocks), f, blocks) < 0.05
    assert np.average(field.at(blocks), weights=blocks.weights) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("multiplicative", [True, False])
def test_the_joint_fit_finds_field_and_levels(patches, volume_of, multiplicative):
    image, labels, f = patches(shape=(100, 96), noise=0.02)
    if not multiplicative:
        image = np.array([1.0, 1.6, 2.4])[labels] + f + 0.02 * np.random.default_rng(0).normal(size=f.shape)
    blocks = pure_blocks(volume_of(image))
    start = field_from_differences(blocks, Field.flat(blocks, 30.0, multiplicative))
    classes, _ = find_classes(sample_of(blocks, start), 3)
    fit = fit_joint(blocks, start, classes)
    assert fit.converged
    assert error_of(fit.field.at(blocks), f, blocks) < 0.01
    levels = fit.classes.ordered().levels[:, 0]
    expected = np.array([1.0, 1.6, 2.4])
    if multiplicative:
        np.testing.assert_allclose(levels / levels[0], expected, rtol=0.02)
    else:
        np.testing.assert_allclose(levels - levels[0], expected - 1.0, atol=0.02)


def test_one_step_is_the_dense_least_squares_of_field_and_levels(patches, volume_of):
    """With labels certain and f additive, one step must land on the penalised least squares of both together."""
    _, labels, f = patches(shape=(60, 56), strength=0.1)
    image = np.array([0.0, 5.0, 10.0])[labels] + f
    blocks = pure_blocks(volume_of(image))
    field = Field.flat(blocks, 25.0, False)
    variances, even = np.full((3, 1), 0.01), np.full(3, 1.0 / 3.0)
    classes = Classes(np.array([[0.1], [4.9], [10.0]]), variances, even, 1e-12)
    fit = fit_joint(blocks, field, classes, max_iter=1, choose_penalty=False)
    B = np.kron(np.kron(*field.basis.values[:2]), field.basis.values[2])[blocks.place]
    Z = np.eye(3)[np.abs(blocks.means - np.array([0.0, 5.0, 10.0])).argmin(axis=1)]
    A = np.hstack([B, Z]) * np.sqrt(blocks.weights / 0.01)[:, None]
    P = np.zeros((A.shape[1],) * 2)
    P[: B.shape[1], : B.shape[1]] = field.penalty * field.prior.bending.dense
    target = blocks.means[:, 0] * np.sqrt(blocks.weights / 0.01)
    exact = np.linalg.lstsq(A.T @ A + P, A.T @ target)[0]
    f_exact, gauge = B @ exact[: B.shape[1]], np.average(B @ exact[: B.shape[1]], weights=blocks.weights)
    np.testing.assert_allclose(fit.field.at(blocks), f_exact - gauge, atol=1e-4)
    np.testing.assert_allclose(fit.classes.levels[:, 0], exact[B.shape[1] :] + gauge, atol=1e-4)


def a_system(shape=(30, 26), knots=6.0):
    """A prior, what data of variance four know about the coefficients, the basis, and the data."""
    rng = np.random.default_rng(0)
    coordinates = [np.arange(float(n)) for n in shape]
    basis = TensorBasis.on([axis_basis(0.0, x[-1], knots) for x in coordinates], coordinates)
    truth = basis.evaluate(rng.normal(size=basis.size))
    image = truth + 2.0 * rng.normal(size=shape)
    return FieldPrior.of(basis), basis.gram(np.full(shape, 0.25)), basis, image


def test_the_chosen_penalty_maximises_the_restricted_likelihood():
    prior, gram, basis, image = a_system()
    moment, penalty = basis.project(0.25 * image), 1.0
    for _ in range(60):
        penalty = prior.solve(gram, moment, penalty).penalty

    def reml(log_penalty):
        system = gram.dense + np.exp(log_penalty) * prior.bending.dense
        fit = moment @ np.linalg.solve(system, moment)
        return 0.5 * fit + 0.5 * prior.rank * log_penalty - 0.5 * np.linalg.slogdet(system)[1]

    here = np.log(penalty)
    assert reml(here) >= max(reml(here - 0.05), reml(here + 0.05))


def test_the_banded_solve_is_the_dense_one_and_its_trace_nearly_so(monkeypatch):
    prior, gram, basis, image = a_system(shape=(30, 26, 20))
    moment = basis.project(0.25 * image)
    labels = np.random.default_rng(1).integers(2, size=(30, 26, 20))
    touch = np.stack([basis.project(0.25 * (labels == k)) for k in range(2)])
    share = 1.0 / np.array([0.25 * np.sum(labels == k) for k in range(2)])
    pull = np.array([0.25 * np.sum(image[labels == k]) for k in range(2)])
    cases = [(moment, None), (moment - touch.T @ (share * pull), Taken(touch, share))]
    monkeypatch.setattr(fieldprior, "SMALL", 10_000)
    dense = [prior.solve(gram, to, 0.01, taken) for to, taken in cases]
    monkeypatch.setattr(fieldprior, "SMALL", 0)
    banded = [prior.solve(gram, to, 0.01, taken) for to, taken in cases]
    assert basis.size > 300
    for one, other in zip(dense, banded):
        np.testing.assert_allclose(one.theta, other.theta, atol=1e-6 * np.abs(one.theta).max())
        assert one.occam == pytest.approx(other.occam, abs=1e-4)
        assert one.penalty == pytest.approx(other.penalty, rel=0.15)


def test_probabilities_do_not_depend_on_threads_and_equal_the_plain_formula():
    rng = np.random.default_rng(0)
    Y, n = rng.normal(size=(90_000, 2)), 90_000
    gain = np.exp(0.1 * rng.normal(size=n))
    classes = Classes(rng.normal(size=(3, 2)), rng.uniform(0.5, 1.0, (3, 2)), np.array([0.2, 0.3, 0.5]), 0.01)
    q, loglik = posterior(Y, gain, np.zeros(n), np.ones(n), classes)
    few, _ = posterior(Y[:100], gain[:100], np.zeros(100), np.ones(100), classes)
    np.testing.assert_array_equal(q[:100], few)
    error = Y[:, None] - gain[:, None, None] * classes.levels
    density = np.exp(-0.5 * np.sum(error**2 / classes.variances + np.log(2 * np.pi * classes.variances), axis=2))
    joint = 0.99 * classes.proportions * density
    total = joint.sum(axis=1) + 0.01 * 0.01
    np.testing.assert_allclose(q, joint / total[:, None], atol=1e-12)
    assert loglik == pytest.approx(np.log(total).sum())
    sums = class_sums(Y, gain, np.zeros(n), np.ones(n), classes)
    np.testing.assert_allclose(sums.mass, q.sum(axis=0))
    np.testing.assert_allclose(sums.pull, np.einsum("nk,n,nkc->kc", q, gain, error))
    np.testing.assert_allclose(sums.squares, np.einsum("nk,nkc->kc", q, error**2))
    assert sums.loglik == pytest.approx(loglik)


def test_split_and_merge_finds_a_rare_class():
    rng = np.random.default_rng(3)
    centres = rng.uniform(0.0, 10.0, size=(8, 3))
    sizes = [4000, 3000, 3000, 2000, 2000, 1000, 500, 60]
    Y = np.concatenate([c + 0.15 * rng.normal(size=(n, 3)) for c, n in zip(centres, sizes)])
    sample = Sample(Y, np.ones(len(Y)), np.zeros(len(Y)), np.ones(len(Y)))
    levels = find_classes(sample, 8)[0].levels
    nearest = np.abs(levels[:, None] - centres[None]).max(axis=2).min(axis=0)
    assert nearest.max() < 0.15
