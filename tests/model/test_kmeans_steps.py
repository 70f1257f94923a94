"""Lloyd's algorithm step by step, exact k-means by all cuts, level models by hand."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.model import FreeLevels, KnownLevels, ShiftedLevels, kmeans, kmeans_1d
from stepsmooth.model.kmeans import lloyd
from stepsmooth.model.levels import EXACT_UP_TO, N_LLOYD, nearest_level

SEEDS = st.integers(0, 2**32 - 1)


def plain_lloyd(Y, weights, levels, max_iter):
    """Do what Lloyd's algorithm does, one line for each step."""
    levels, labels, inertia = levels.copy(), None, 0.0
    for _ in range(max_iter):
        squared = np.sum((Y[:, None] - levels) ** 2, axis=2)
        nearest = squared.argmin(axis=1)
        inertia = np.sum(weights * squared.min(axis=1))
        if labels is not None and np.array_equal(nearest, labels):
            break
        labels = nearest
        for k in np.unique(labels):
            levels[k] = np.average(Y[labels == k], axis=0, weights=weights[labels == k])
    return levels, labels, inertia


@settings(max_examples=25)
@given(seed=SEEDS, p=st.integers(1, 2), max_iter=st.integers(1, 4), n_levels=st.integers(1, 4))
def test_each_step_assigns_then_averages_and_tells_the_cost_of_what_it_assigned_to(seed, p, max_iter, n_levels):
    rng = np.random.default_rng(seed)
    Y, w, start = rng.normal(size=(25, p)), rng.uniform(0.1, 3.0, 25), rng.normal(size=(n_levels, p))
    for levels in (start, start[np.argsort(start[:, 0])]):
        before = levels.copy()
        found, expected = lloyd(Y, w, levels, max_iter), plain_lloyd(Y, w, levels, max_iter)
        np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
        np.testing.assert_array_equal(found[1], expected[1])
        assert found[2] == pytest.approx(expected[2])
        np.testing.assert_array_equal(levels, before)


def test_a_tie_goes_to_the_first_level_in_either_path():
    w = np.ones(2)
    assert lloyd(np.array([[0.5], [2.0]]), w, np.array([[0.0], [1.0]]), 1)[1].tolist() == [0, 1]
    both = lloyd(np.array([[0.5, 0.0], [2.0, 0.0]]), w, np.array([[0.0, 0.0], [1.0, 0.0]]), 1)
    assert both[1].tolist() == [0, 1]


@settings(max_examples=30)
@given(seed=SEEDS, n=st.integers(2, 14), n_levels=st.integers(2, 5))
def test_the_cuts_are_the_best_of_all_cuts(seed, n, n_levels):
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=n), rng.uniform(0.1, 3.0, n)
    m = min(n_levels, n)
    order = np.argsort(y)

    def cost(bounds):
        parts = np.split(order, bounds)
        return sum(np.sum(w[i] * (y[i] - np.average(y[i], weights=w[i])) ** 2) for i in parts)

    best = min(combinations(range(1, n), m - 1), key=cost)
    levels, labels = kmeans_1d(y, n_levels, w)
    assert np.sum(w * (y - levels[labels]) ** 2) == pytest.approx(cost(best), abs=1e-12)
    np.testing.assert_array_equal(labels[order], np.searchsorted(best, np.arange(n), side="right"))
    np.testing.assert_allclose(levels, [np.average(y[i], weights=w[i]) for i in np.split(order, best)])


def test_the_best_of_ten_starts_is_kept():
    """Two pairs far apart and one point between: a bad start of k-means++ ends elsewhere, the best of ten does not."""
    Y = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0], [30.0, 0.0]])
    for seed in range(5):
        levels, labels = kmeans(Y, 3, np.ones(5), np.random.RandomState(seed))
        inertia = np.sum((Y - levels[labels]) ** 2)
        assert inertia == pytest.approx(1.0)
        assert len(np.unique(labels)) == 3


def test_weights_pull_the_levels_of_vectors():
    Y, w = np.array([[0.0, 0.0], [3.0, 3.0], [20.0, 0.0]]), np.array([1.0, 2.0, 1.0])
    levels, labels = kmeans(Y, 2, w, np.random.RandomState(0))
    np.testing.assert_allclose(levels[labels], [[2.0, 2.0], [2.0, 2.0], [20.0, 0.0]])


def test_directions_and_starting_points_of_the_level_models():
    known, means = np.array([[1.0], [2.0]]), np.array([[7.0], [9.0]])
    np.testing.assert_array_equal(FreeLevels(2).directions(3), np.eye(3))
    np.testing.assert_array_equal(FreeLevels(2).near(means), means)
    assert KnownLevels(known).directions(3).shape == (3, 0)
    np.testing.assert_array_equal(KnownLevels(known).near(means), known)
    np.testing.assert_array_equal(ShiftedLevels(known).directions(3), np.ones((3, 1)))
    np.testing.assert_array_equal(ShiftedLevels(known).near(means), known)


@settings(max_examples=15)
@given(seed=SEEDS, p=st.integers(1, 3))
def test_known_levels_take_the_nearest_and_never_move(seed, p):
    rng = np.random.default_rng(seed)
    residual, known = rng.normal(size=(20, p)), rng.normal(size=(3, p))
    levels, labels = KnownLevels(known).update(residual, np.ones(20), rng.normal(size=(3, p)))
    np.testing.assert_array_equal(levels, known)
    np.testing.assert_array_equal(labels, np.sum((residual[:, None] - known) ** 2, axis=2).argmin(axis=1))


@settings(max_examples=15)
@given(seed=SEEDS, p=st.integers(1, 3), weighted=st.booleans())
def test_where_shifted_levels_stop_the_shift_is_the_mean_of_what_is_left(seed, p, weighted):
    rng = np.random.default_rng(seed)
    residual, known = rng.normal(size=(20, p)), np.sort(rng.normal(size=(3, p)), axis=0)
    w = rng.uniform(0.1, 3.0, 20) if weighted else np.ones(20)
    for levels, labels in (
        ShiftedLevels(known).start(residual, w),
        ShiftedLevels(known).update(residual, w, known + rng.normal(size=p)),
    ):
        shift = np.average(residual - known[labels], axis=0, weights=w)
        np.testing.assert_allclose(levels, known + shift, atol=1e-12)
        np.testing.assert_array_equal(labels, nearest_level(residual, levels))


def test_vectors_start_from_the_shift_of_the_weighted_means():
    """Far apart, the start decides which labels are met first; here they are all right at once."""
    known = np.array([[0.0, 0.0], [4.0, 4.0]])
    residual = np.array([[10.0, 10.0], [14.0, 14.0], [14.0, 14.0]])
    levels, labels = ShiftedLevels(known).start(residual, np.array([2.0, 1.0, 1.0]))
    np.testing.assert_allclose(levels, known + 10.0)
    assert labels.tolist() == [0, 1, 1]


def test_levels_in_any_order_take_the_nearest_too():
    residual = np.array([[0.1], [0.9], [2.2], [-5.0]])
    assert nearest_level(residual, np.array([[2.0], [0.0], [1.0]])).tolist() == [1, 2, 0, 1]


@settings(max_examples=10)
@given(seed=SEEDS)
def test_free_levels_of_few_vectors_are_no_more_than_there_are(seed):
    rng = np.random.default_rng(seed)
    residual = np.repeat(rng.normal(size=(2, 2)), 3, axis=0)
    levels, labels = FreeLevels(4).start(residual, np.ones(6))
    assert levels.shape == (2, 2)
    np.testing.assert_allclose(levels[labels], residual, atol=1e-12)


def test_an_update_of_vectors_or_of_a_long_signal_is_a_few_steps_of_lloyd():
    rng = np.random.default_rng(0)
    for Y in (rng.normal(size=(50, 2)), rng.normal(size=(EXACT_UP_TO + 1, 1))):
        w, start = rng.uniform(0.5, 1.0, len(Y)), np.linspace(-2.0, 0.0, 4)[:, None] * np.ones(Y.shape[1])
        levels, labels = FreeLevels(4).update(Y, w, start)
        expected = plain_lloyd(Y, w, start, N_LLOYD)
        np.testing.assert_allclose(levels, expected[0], atol=1e-10)
        np.testing.assert_array_equal(labels, expected[1])
    short = rng.normal(size=(40, 1))
    exact = kmeans_1d(short[:, 0], 4)
    np.testing.assert_array_equal(FreeLevels(4).update(short, np.ones(40), start[:, :1])[0][:, 0], exact[0])
