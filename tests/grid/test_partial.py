"""Mixed components: where they lie, whose they are, and when there are none."""

import numpy as np
import pytest
from scipy.stats import norm

from stepsmooth.grid.classes import Sample
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.partial import Components, with_partial_volume


def a_sample(rng, levels, noise, share, n=2500, pairs=((0, 1),), weighted=False):
    """Pure voxels of all levels, and a share that two of them fill together."""
    levels = np.asarray(levels, dtype=float).reshape(len(levels), -1)
    pure = levels[rng.integers(len(levels), size=n)]
    pair = np.array(pairs)[rng.integers(len(pairs), size=n)]
    a = rng.uniform(size=(n, 1))
    mixed = a * levels[pair[:, 0]] + (1.0 - a) * levels[pair[:, 1]]
    Y = np.where(rng.uniform(size=(n, 1)) < share, mixed, pure) + noise * rng.normal(size=pure.shape)
    weights = rng.uniform(0.5, 1.5, n) if weighted else np.ones(n)
    return Sample(Y, np.ones(n), np.zeros(n), weights)


def some_classes(levels, noise):
    levels = np.asarray(levels, dtype=float).reshape(len(levels), -1)
    return Classes(levels, np.full(levels.shape, noise**2), np.full(len(levels), 1.0 / len(levels)), 0.3)


def plain_em(sample, classes, pairs):
    """Fifteen steps at fixed levels, all in plain sums: levels, variances, shares, owners."""
    M = classes.count
    levels, owner = list(classes.levels), list(range(M))
    for k, j in pairs:
        for own, other in ((k, j), (j, k)):
            levels += [a * classes.levels[own] + (1.0 - a) * classes.levels[other] for a in (0.6, 0.75, 0.9)]
            owner += [own] * 3
    levels = np.array(levels)
    pure, mixed, variances = 0.9 * classes.proportions, np.full(len(pairs), 0.1 / len(pairs)), classes.variances
    for _ in range(15):
        wide = [
            np.minimum(variances[k], variances[j]) + (0.15 * (classes.levels[k] - classes.levels[j])) ** 2 / 12.0
            for k, j in pairs
        ]
        spread, shares = np.vstack([variances, np.repeat(wide, 6, axis=0)]), np.append(pure, np.repeat(mixed / 6.0, 6))
        density = np.prod(norm.pdf(sample.Y[:, None], levels, np.sqrt(spread)), axis=2)
        joint = 0.99 * shares * density
        q = sample.weights[:, None] * joint / (joint.sum(axis=1) + 0.01 * classes.outlier_density)[:, None]
        squares = np.einsum("nk,nkc->kc", q, (sample.Y[:, None] - levels) ** 2)[:M]
        mass = q.sum(axis=0)
        variances = np.minimum((squares + 10.0 * classes.variances) / (mass[:M, None] + 10.0), classes.variances)
        pure = mass[:M] / mass.sum()
        mixed = mass[M:].reshape(len(pairs), 6).sum(axis=1) / mass.sum()
    return levels, spread, shares, np.array(owner)


@pytest.mark.parametrize(
    ("levels", "pairs"), [([1.0, 2.0], [(0, 1)]), ([[1.0, 1.0], [2.0, 1.0], [1.0, 3.0]], [(0, 1), (0, 2), (1, 2)])]
)
def test_mixed_components_are_those_of_plain_em(levels, pairs):
    sample = a_sample(np.random.default_rng(0), levels, 0.05, 0.4, pairs=pairs, weighted=True)
    found = with_partial_volume(sample, some_classes(levels, 0.07))
    assert found.mixed
    for mine, theirs in zip(
        (found.levels, found.variances, found.shares, found.owner), plain_em(sample, some_classes(levels, 0.07), pairs)
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_pair_without_mixed_voxels_is_dropped_and_the_others_fitted_again():
    levels = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    sample = a_sample(np.random.default_rng(0), levels, 0.05, 0.3, pairs=[(0, 2)])
    found = with_partial_volume(sample, some_classes(levels, 0.05))
    assert len(found.levels) == 3 + 6
    expected = plain_em(sample, some_classes(levels, 0.05), [(0, 2)])
    np.testing.assert_allclose(found.shares, expected[2], rtol=1e-6)
    assert found.owner.tolist() == [0, 1, 2, 0, 0, 0, 2, 2, 2]


def test_where_nothing_is_mixed_components_are_the_classes():
    classes = some_classes([1.0, 2.0], 0.05)
    found = with_partial_volume(a_sample(np.random.default_rng(0), [1.0, 2.0], 0.05, 0.0), classes)
    assert not found.mixed
    assert found.levels is classes.levels
    assert found.variances is classes.variances
    assert found.shares is classes.proportions
    assert found.owner.tolist() == [0, 1]


@pytest.mark.parametrize(("half_gap", "mixed"), [(2.4, False), (2.6, True)])
def test_levels_too_close_to_tell_mixed_voxels_have_none(half_gap, mixed):
    noise = 0.5 / half_gap
    classes = Classes(np.array([[0.0], [1.0]]), np.array([[1.5], [0.5]]) * noise**2, np.full(2, 0.5), 0.3)
    sample = a_sample(np.random.default_rng(0), [0.0, 1.0], 0.02, 1.0)
    assert with_partial_volume(sample, classes).mixed == mixed


@pytest.mark.parametrize(
    ("half_gap", "aside", "mixed"), [(4.5, 0.0, False), (5.5, 0.0, True), (4.5, 2.0, False), (4.5, 3.0, True)]
)
def test_a_third_level_on_the_way_asks_for_a_wider_gap(half_gap, aside, mixed):
    """Distances are in standard deviations; the third level has no mixed voxels of its own."""
    noise = 0.5 / half_gap
    levels = [[0.0, 0.0], [1.0, 0.0], [0.45, aside * noise]]
    rng = np.random.default_rng(0)
    a = rng.uniform(size=(2000, 1))
    Y = a * [1.0, 0.0] + 0.2 * noise * rng.normal(size=(2000, 2))
    ends = np.array(levels)[rng.integers(3, size=2000)] + 0.2 * noise * rng.normal(size=(2000, 2))
    sample = Sample(np.vstack([Y, ends]), np.ones(4000), np.zeros(4000), np.ones(4000))
    found = with_partial_volume(sample, some_classes(levels, noise))
    between = np.isclose(found.levels, [0.6, 0.0]).all(axis=1).any()
    assert between == mixed


def test_pure_components_are_one_for_each_class():
    classes = some_classes([1.0, 2.0, 4.0], 0.1)
    pure = Components.pure(classes)
    assert pure.owner.tolist() == [0, 1, 2]
    assert not pure.mixed


def test_levels_that_coincide_have_nothing_to_mix():
    sample = a_sample(np.random.default_rng(4), [1.0, 2.0], 0.02, 0.0)
    found = with_partial_volume(sample, some_classes([1.0, 1.0, 2.0], 0.02))
    assert not np.isin(found.levels[3:, 0], 1.0).any()
