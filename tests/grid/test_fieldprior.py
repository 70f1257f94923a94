"""The prior of the field: its energy, and the solves in which it meets the data, against dense algebra."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from stepsmooth.grid import fieldprior
from stepsmooth.grid.bands import Band
from stepsmooth.grid.fieldprior import FieldPrior, Taken
from stepsmooth.grid.splines import axis_basis
from stepsmooth.grid.tensor import TensorBasis

PENALTY = 10.0


def a_basis(shape=(14, 12), knots=5.0):
    coordinates = [np.arange(float(n)) for n in shape]
    return TensorBasis.on([axis_basis(0.0, x[-1], knots) for x in coordinates], coordinates)


def a_problem(rng):
    """A basis, information, moment, and what two levels take from the information."""
    basis = a_basis()
    weights, image, labels = rng.uniform(0.5, 2.0, (14, 12)), rng.normal(size=(14, 12)), rng.integers(2, size=(14, 12))
    touch = np.stack([basis.project(weights * (labels == k)) for k in range(2)])
    share = 1.0 / np.array([weights[labels == k].sum() for k in range(2)])
    pull = np.array([(weights * image)[labels == k].sum() for k in range(2)])
    moment = basis.project(weights * image)
    return basis, basis.gram(weights), moment, moment - touch.T @ (share * pull), Taken(touch, share)


def test_the_prior_leaves_affine_functions_free():
    assert FieldPrior.of(a_basis()).rank == 6 * 5 - 3
    assert FieldPrior.of(a_basis((14,))).rank == 6 - 2
    assert FieldPrior.of(a_basis((14, 12, 1))).rank == 6 * 5 - 3


def test_the_energy_is_that_of_the_bending_matrix():
    basis, rng = a_basis(), np.random.default_rng(0)
    theta = rng.normal(size=basis.size)
    assert FieldPrior.of(basis).energy(theta) == pytest.approx(theta @ basis.bending.dense @ theta)


@pytest.mark.parametrize("small", [0, 256], ids=["banded", "dense"])
def test_known_levels_the_solve_is_that_of_penalised_least_squares(small, monkeypatch):
    monkeypatch.setattr(fieldprior, "SMALL", small)
    monkeypatch.setattr(fieldprior, "N_PROBES", 4000)
    basis, gram, moment, _, _ = a_problem(np.random.default_rng(0))
    prior, P = FieldPrior.of(basis), basis.bending.dense
    system = gram.dense + PENALTY * P
    found = prior.solve(gram, moment, PENALTY)
    theta = np.linalg.solve(system, moment)
    np.testing.assert_allclose(found.theta, theta, atol=1e-4 * np.abs(theta).max())
    occam = 0.5 * prior.rank * np.log(PENALTY) - 0.5 * np.linalg.slogdet(system)[1]
    assert found.occam == pytest.approx(occam, abs=1e-4)
    # Fellner and Schall: what the data bend, over how much they bend it.
    bent = prior.rank - PENALTY * np.trace(np.linalg.solve(system, P))
    assert found.penalty == pytest.approx(bent / (theta @ P @ theta), rel=1e-4 if small else 0.05)
    kept = prior.solve(gram, moment, PENALTY, choose=False)
    assert kept.penalty == PENALTY
    assert kept.occam == pytest.approx(occam, abs=1e-4)
    np.testing.assert_allclose(kept.theta, found.theta, atol=1e-12)


@pytest.mark.parametrize("small", [0, 256], ids=["banded", "dense"])
def test_free_levels_the_solve_is_that_of_what_they_leave(small, monkeypatch):
    monkeypatch.setattr(fieldprior, "SMALL", small)
    monkeypatch.setattr(fieldprior, "N_PROBES", 4000)
    basis, gram, _, moment, taken = a_problem(np.random.default_rng(0))
    prior, P = FieldPrior.of(basis), basis.bending.dense
    left = gram.dense - (taken.touch.T * taken.share) @ taken.touch
    # The constant is free: it is given back the information that the levels took from it.
    known = gram.dense.sum(axis=1)
    system = left + PENALTY * P + np.outer(known, known) / known.sum()
    theta = np.linalg.solve(system, moment)
    found = prior.solve(gram, moment, PENALTY, taken)
    np.testing.assert_allclose(found.theta, theta, atol=1e-5 * np.abs(theta).max())
    np.testing.assert_allclose((left + PENALTY * P) @ found.theta, moment, atol=1e-6 * np.abs(moment).max())
    occam = 0.5 * prior.rank * np.log(PENALTY) - 0.5 * np.linalg.slogdet(system)[1]
    assert found.occam == pytest.approx(occam, abs=1e-4)
    bent = prior.rank - PENALTY * np.trace(np.linalg.solve(system, P))
    assert found.penalty == pytest.approx(bent / (theta @ P @ theta), rel=1e-4 if small else 0.05)
    kept = prior.solve(gram, moment, PENALTY, taken, choose=False)
    assert kept.penalty == PENALTY
    np.testing.assert_allclose(kept.theta, found.theta, atol=1e-12)


@pytest.mark.parametrize("small", [0, 256], ids=["banded", "dense"])
def test_the_next_penalty_stays_within_bounds_of_the_data(small, monkeypatch):
    monkeypatch.setattr(fieldprior, "SMALL", small)
    basis = a_basis()
    gram, prior = basis.gram(np.ones((14, 12))), FieldPrior.of(basis)
    unit = gram.trace / basis.bending.trace
    # Data without any bend ask for an infinite penalty, an endless bend for none.
    assert prior.solve(gram, np.zeros(basis.size), 1.0).penalty == pytest.approx(1e8 * unit)
    rough = np.random.default_rng(0).normal(size=basis.size)
    assert prior.solve(gram, 1e12 * rough, 1.0).penalty == pytest.approx(1e-8 * unit)


def test_a_field_too_stiff_to_bend_counts_as_bent_a_little(monkeypatch):
    basis, gram, moment, _, _ = a_problem(np.random.default_rng(0))
    prior, stiff = FieldPrior.of(basis), 1e10
    monkeypatch.setattr(fieldprior, "STIFFEST", np.inf)
    dense = prior.solve(gram, moment, stiff)
    assert dense.penalty * prior.energy(dense.theta) == pytest.approx(1e-6 * prior.rank, rel=1e-3)
    monkeypatch.setattr(fieldprior, "SMALL", 0)
    banded = prior.solve(gram, moment, stiff)  # a trace from random vectors is not trusted below one
    assert banded.penalty * prior.energy(banded.theta) == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("choose", [False, True])
def test_a_system_that_is_not_positive_definite_is_refused(choose, monkeypatch):
    basis = a_basis()
    monkeypatch.setattr(fieldprior, "SMALL", 0)
    with pytest.raises(LinAlgError, match="the field's system is not positive definite"):
        FieldPrior.of(basis).solve(basis.gram(np.full((14, 12), -1.0)), np.zeros(basis.size), 1e-3, choose=choose)


def test_a_bending_energy_that_is_not_positive_is_refused_where_a_trace_needs_its_root(monkeypatch):
    basis = a_basis()
    bending = basis.bending
    prior = FieldPrior(Band(-bending.data, bending.layout), basis.size - 3)
    monkeypatch.setattr(fieldprior, "SMALL", 0)
    with pytest.raises(LinAlgError, match="the bending energy is not positive definite"):
        prior.solve(basis.gram(np.full((14, 12), 1e6)), np.zeros(basis.size), 1e-6)


@pytest.mark.parametrize("penalty", [0.0, np.inf])
def test_a_penalty_beyond_the_numbers_determines_nothing(penalty):
    basis, gram, moment, _, _ = a_problem(np.random.default_rng(1))
    with pytest.raises(LinAlgError, match="penalty"):
        FieldPrior.of(basis).solve(gram, moment, penalty)
