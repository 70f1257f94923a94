"""Neighbour differences: their values and variances one by one, and the field that a dense robust fit gives."""

import numpy as np
import pytest

from stepsmooth.grid import differences
from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.differences import field_from_differences, neighbour_differences
from stepsmooth.grid.field import Field

NOISE = np.array([0.0004, 0.0025])


def some_blocks(rng, shape=(6, 5, 4), frames=2, share=0.8, p=2):
    space = int(np.prod(shape))
    where = np.flatnonzero(rng.uniform(size=frames * space) < share)
    where[-1] = frames * space - 1
    n = len(where)
    means = rng.uniform(1.0, 3.0, (n, p))
    coordinates = [2.0 * np.arange(m) for m in shape]
    reach = tuple((0.0, 2.0 * (m - 1)) for m in shape)
    return Blocks(
        means, np.ones(n), 0.0 * means, where // space, where % space, shape, coordinates, 8, NOISE[:p], reach
    )


def plain_difference(blocks, one, other, multiplicative):
    """The difference of two blocks, channels averaged by their precision; nothing where one is missing or dark."""
    total = precision = 0.0
    for c in range(blocks.means.shape[1]):
        known = blocks.means[:, c] > 0.0
        y, v = blocks.means[[one, other], c], np.full(2, blocks.noise[c])
        extra = 1e-4 * np.var(blocks.means[:, c])
        if multiplicative:
            if not known[one] or not known[other]:
                continue
            y, v, extra = np.log(y), v / y**2, 1e-4
        total += (y[1] - y[0]) / (v.sum() + extra)
        precision += 1.0 / (v.sum() + extra)
    return (total / precision, 1.0 / precision) if precision else (0.0, np.inf)


@pytest.mark.parametrize("multiplicative", [True, False])
@pytest.mark.parametrize("stride", [1, 2])
def test_differences_are_those_of_each_pair(multiplicative, stride, monkeypatch):
    rng = np.random.default_rng(0)
    blocks = some_blocks(rng)
    blocks.means[3, 0] = -0.5  # has no logarithm
    monkeypatch.setattr(differences, "N_PLACES", 240 / stride**2)
    at = {
        (t, *place): i
        for i, (t, place) in enumerate(zip(blocks.frame.tolist(), zip(*np.unravel_index(blocks.place, blocks.shape))))
    }
    for axis, found in enumerate(neighbour_differences(blocks, multiplicative)):
        shape = [n - 1 if a == axis else -(-n // stride) for a, n in enumerate(blocks.shape)]
        assert found.values.shape == found.variances.shape == (2, *shape)
        for place in np.ndindex(2, *shape):
            low = [i if a == axis else i * stride for a, i in enumerate(place[1:])]
            high = [i + (a == axis) for a, i in enumerate(low)]
            one, other = at.get((place[0], *low)), at.get((place[0], *high))
            expected = (0.0, np.inf)
            if one is not None and other is not None:
                expected = plain_difference(blocks, one, other, multiplicative)
            assert found.values[place] == pytest.approx(expected[0], abs=1e-12)
            assert found.variances[place] == pytest.approx(expected[1])
        for a, x in enumerate(found.coordinates):
            np.testing.assert_array_equal(x, blocks.coordinates[a] if a == axis else blocks.coordinates[a][::stride])


def test_the_field_is_that_of_a_dense_robust_fit():
    rng = np.random.default_rng(0)
    blocks = some_blocks(rng, (14, 12, 1), frames=2, share=0.9, p=1)
    index = np.unravel_index(blocks.place, blocks.shape)
    f = 0.3 * np.sin(index[0] / 4.0) + 0.02 * index[1]
    blocks.means[:, 0] = rng.choice([1.0, 2.0], p=[0.9, 0.1], size=len(blocks)) * np.exp(
        f + 0.01 * rng.normal(size=len(blocks))
    )
    flat = Field.flat(blocks, 10.0, True)
    theta, penalty = np.zeros(flat.basis.size), 1.0
    P, rank = flat.basis.bending.dense, flat.prior.rank
    rows, values, variances = [], [], []
    for axis, pair in enumerate(neighbour_differences(blocks, True)[:2]):
        grid = flat.basis.changing(axis, pair.coordinates).values
        B = np.kron(np.kron(*grid[:2]), grid[2])
        rows += [B, B]
        values.append(pair.values.ravel())
        variances.append(pair.variances.ravel())
    A, d, v = np.vstack(rows), np.concatenate(values), np.concatenate(variances)
    for scale in (8.0, 5.0, 3.5, 2.5, 2.5, 2.5):
        weight = np.exp(-0.5 * (d - A @ theta) ** 2 / (scale**2 * v)) / v
        gram = A.T @ (weight[:, None] * A)
        system = gram + penalty * P + 1e-6 * np.trace(gram) / len(gram) ** 2  # the constant is free
        theta = np.linalg.solve(system, A.T @ (weight * d))
        penalty = (rank - penalty * np.trace(np.linalg.solve(system, P))) / (theta @ P @ theta)
    found = field_from_differences(blocks, flat)
    B = np.kron(np.kron(*flat.basis.values[:2]), flat.basis.values[2])[blocks.place]
    expected = B @ theta - np.mean(B @ theta)
    np.testing.assert_allclose(found.at(blocks), expected, atol=1e-4)
    assert found.penalty == pytest.approx(penalty, rel=1e-3)
    given = field_from_differences(blocks, flat, neighbour_differences(blocks, True))
    np.testing.assert_array_equal(given.theta, found.theta)


def test_without_a_basis_or_a_pair_the_field_stays_flat():
    rng = np.random.default_rng(0)
    none = Field.absent(True)
    blocks = some_blocks(rng)
    assert field_from_differences(blocks, none) is none
    flat = Field.flat(blocks, 10.0, True)
    alone = field_from_differences(blocks, flat, [])
    np.testing.assert_array_equal(alone.theta, 0.0)
    assert alone.penalty == 1.0
