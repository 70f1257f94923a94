"""The field: its basis over the reach of the voxels, its cost, and how it is carried elsewhere."""

import numpy as np
import pytest

from stepsmooth.grid import field as module
from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.field import Field


def some_blocks(rng, shape=(12, 10, 1), n=150, frames=2):
    space = int(np.prod(shape))
    where = np.sort(rng.choice(frames * space, n, replace=False))
    coordinates = [0.5 + 2.0 * np.arange(m) for m in shape]
    reach = ((0.0, 23.0), (0.0, 19.0), (0.0, 0.0))
    means = rng.normal(size=(n, 1))
    weights = rng.uniform(0.5, 2.0, n)
    return Blocks(means, weights, 0.0 * means, where // space, where % space, shape, coordinates, 4, np.ones(1), reach)


def test_no_field_is_zero_everywhere_and_costs_nothing():
    blocks = some_blocks(np.random.default_rng(0))
    none = Field.absent(True)
    assert (none.basis, none.prior, none.theta.size, none.penalty, none.cost) == (None, None, 0, 0.0, 0.0)
    assert none.multiplicative
    assert not Field.absent(False).multiplicative
    np.testing.assert_array_equal(none.at(blocks), np.zeros(150))
    assert none.on(blocks.coordinates) is none
    assert none.centred(blocks) is none
    assert none.fitted_to(np.ones(150), blocks) is none


def test_a_flat_field_may_bend_over_the_reach_of_the_voxels():
    blocks = some_blocks(np.random.default_rng(0))
    flat = Field.flat(blocks, 8.0, False)
    assert [(axis.start, axis.n_cells) for axis in flat.basis.axes] == [(0.0, 3), (0.0, 2), (0.0, 0)]
    assert [axis.width for axis in flat.basis.axes] == [23.0 / 3.0, 9.5, 1.0]
    assert flat.theta.tolist() == [0.0] * 30
    assert (flat.penalty, flat.multiplicative, flat.cost) == (1.0, False, 0.0)
    assert flat.prior.rank == 27
    np.testing.assert_array_equal(flat.at(blocks), np.zeros(150))


def test_knots_move_apart_until_the_coefficients_are_not_too_many(monkeypatch):
    monkeypatch.setattr(module, "MOST_COEFFICIENTS", 40)
    blocks = some_blocks(np.random.default_rng(0))
    flat = Field.flat(blocks, 4.0, True)
    distance, sizes = 4.0, (9, 8)
    while sizes[0] * sizes[1] > 40:
        distance *= 1.1
        sizes = (round(23.0 / distance) + 3, round(19.0 / distance) + 3)
    assert flat.basis.sizes == (*sizes, 1)


def test_cost_values_and_centring_are_those_of_the_dense_basis():
    rng = np.random.default_rng(0)
    blocks = some_blocks(rng)
    flat = Field.flat(blocks, 8.0, True)
    theta = rng.normal(size=30)
    bent = Field(flat.basis, flat.prior, theta, 0.7, True)
    B = np.kron(np.kron(*flat.basis.values[:2]), flat.basis.values[2])
    f = (B @ theta)[blocks.place]
    np.testing.assert_allclose(bent.at(blocks), f, atol=1e-12)
    assert bent.cost == pytest.approx(0.35 * theta @ flat.basis.bending.dense @ theta)
    centred = bent.centred(blocks)
    np.testing.assert_allclose(centred.at(blocks), f - np.average(f, weights=blocks.weights), atol=1e-12)
    assert centred.cost == pytest.approx(bent.cost)
    there = [np.array([0.0, 3.0, 11.0]), np.array([2.0]), np.array([0.0])]
    moved = bent.on(there)
    values = [axis.at(x) for axis, x in zip(flat.basis.axes, there)]
    np.testing.assert_allclose(moved.basis.evaluate(theta).ravel(), np.kron(np.kron(*values[:2]), values[2]) @ theta)
    assert (moved.penalty, moved.multiplicative) == (0.7, True)


def test_a_field_is_fitted_by_weighted_least_squares():
    rng = np.random.default_rng(0)
    blocks = some_blocks(rng)
    flat = Field.flat(blocks, 8.0, True)
    B = np.kron(np.kron(*flat.basis.values[:2]), flat.basis.values[2])[blocks.place]
    target = rng.normal(size=150)
    gram, P = B.T @ (blocks.weights[:, None] * B), flat.basis.bending.dense
    slight = 1e-6 * np.trace(gram) / np.trace(P)
    theta = np.linalg.solve(gram + slight * P, B.T @ (blocks.weights * target))
    found = flat.fitted_to(target, blocks)
    np.testing.assert_allclose(found.at(blocks), B @ theta, atol=0.01)
    assert found.penalty == 1.0
    own = Field(flat.basis, flat.prior, rng.normal(size=30), 1.0, True)
    np.testing.assert_allclose(flat.fitted_to(own.at(blocks), blocks).at(blocks), own.at(blocks), atol=0.01)
