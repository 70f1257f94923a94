"""Exact k-means on a line: the global minimum, whatever the values, weights and ties."""

from itertools import product

import ckwrap
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepsmooth.model import kmeans_1d

VALUES = st.lists(st.one_of(st.integers(-5, 5).map(float), st.floats(-100, 100)), min_size=1, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)


def cost(y, w, levels, labels):
    return float(np.sum(w * (y - levels[labels]) ** 2))


def brute_force(y, w, n_levels):
    """Return the least sum of squares over all ways to label the points."""
    best = np.inf
    for labels in product(range(n_levels), repeat=len(y)):
        labels = np.array(labels)
        total = 0.0
        for k in set(labels.tolist()):
            own = labels == k
            total += np.sum(w[own] * (y[own] - np.average(y[own], weights=w[own])) ** 2)
        best = min(best, total)
    return best


@given(values=VALUES, n_levels=st.integers(1, 3), data=st.data())
def test_no_labelling_has_a_smaller_sum_of_squares(values, n_levels, data):
    y = np.array(values)
    weight = st.sampled_from([0.25, 1.0, 2.0, 10.0])
    w = np.array(data.draw(st.lists(weight, min_size=len(y), max_size=len(y))))
    levels, labels = kmeans_1d(y, n_levels, w)
    rounding = 1e-13 * w.sum() * np.abs(y).max() ** 2
    assert cost(y, w, levels, labels) == pytest.approx(brute_force(y, w, n_levels), rel=1e-9, abs=rounding)


@given(seed=SEEDS, n=st.integers(6, 300), n_levels=st.integers(1, 6))
def test_it_is_as_good_as_ckwrap(seed, n, n_levels):
    y = np.random.default_rng(seed).normal(size=n).round(2)
    levels, labels = kmeans_1d(y, n_levels)
    theirs = ckwrap.ckmeans(y, min(n_levels, len(np.unique(y))))
    assert cost(y, 1.0, levels, labels) == pytest.approx(theirs.withinss.sum(), rel=1e-9, abs=1e-12)


@given(seed=SEEDS, n=st.integers(6, 300), n_levels=st.integers(1, 6))
def test_it_is_as_good_as_ckwrap_with_weights(seed, n, n_levels):
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=n), rng.uniform(0.1, 3.0, n)
    levels, labels = kmeans_1d(y, n_levels, w)
    theirs = ckwrap.ckmeans(y, n_levels, weights=w)
    reached = cost(y, w, theirs.centers, theirs.labels)
    assert cost(y, w, levels, labels) <= reached * (1.0 + 1e-9)


@given(seed=SEEDS, n_levels=st.integers(1, 6))
def test_levels_ascend_and_are_the_means_of_their_points(seed, n_levels):
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=200), rng.uniform(0.1, 3.0, 200)
    levels, labels = kmeans_1d(y, n_levels, w)
    assert np.all(np.diff(levels) > 0)
    means = [np.average(y[labels == k], weights=w[labels == k]) for k in range(n_levels)]
    np.testing.assert_allclose(levels, means, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(labels, np.abs(y[:, None] - levels).argmin(axis=1))


@given(seed=SEEDS, n_levels=st.integers(1, 5), offset=st.sampled_from([1e9, -1e9]))
def test_an_offset_of_a_billion_shifts_the_levels_and_keeps_the_labels(seed, n_levels, offset):
    # Multiples of 2^-20: the shifted values are exact, so the answer must be.
    y = np.round(np.random.default_rng(seed).normal(size=100) * 2**20) / 2**20
    levels, labels = kmeans_1d(y, n_levels)
    shifted, same = kmeans_1d(y + offset, n_levels)
    np.testing.assert_array_equal(same, labels)
    np.testing.assert_allclose(shifted - offset, levels, atol=3e-7)


@given(seed=SEEDS, n_levels=st.integers(1, 5))
def test_a_weight_of_two_is_the_point_twice(seed, n_levels):
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=50), rng.integers(1, 4, 50)
    levels, labels = kmeans_1d(y, n_levels, w.astype(float))
    repeated, copies = kmeans_1d(np.repeat(y, w), n_levels)
    np.testing.assert_allclose(levels, repeated, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(np.repeat(labels, w), copies)


@given(seed=SEEDS, n_levels=st.integers(1, 5))
def test_the_order_of_the_points_does_not_matter(seed, n_levels):
    rng = np.random.default_rng(seed)
    y, order = rng.normal(size=60), rng.permutation(60)
    levels, labels = kmeans_1d(y, n_levels)
    same, permuted = kmeans_1d(y[order], n_levels)
    np.testing.assert_allclose(levels, same, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(labels[order], permuted)


@pytest.mark.parametrize(("y", "distinct"), [([3.0], 1), ([2.0, 2.0, 2.0], 1), ([0.0, 1.0, 0.0, 1.0], 2)])
def test_fewer_distinct_values_than_levels_give_one_level_each(y, distinct):
    levels, labels = kmeans_1d(np.array(y), 5)
    np.testing.assert_array_equal(levels, np.unique(y))
    assert len(levels) == distinct
    np.testing.assert_array_equal(levels[labels], y)


def test_weights_of_more_than_16_digits_are_taken():
    values, weights = np.array([0.0, 1.0, 1.1, 3.0, 3.1]), np.array([1e10, 1e9, 1e3, 1e-8, 1e-15])
    levels, labels = kmeans_1d(values, 2, weights)
    assert np.all(np.isfinite(levels))
    np.testing.assert_array_equal(labels, [0, 1, 1, 1, 1])


def test_the_inputs_stay_as_they_were():
    y, w = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    kmeans_1d(y, 2, w)
    np.testing.assert_array_equal(y, [3.0, 1.0, 2.0])
    np.testing.assert_array_equal(w, [1.0, 2.0, 3.0])
