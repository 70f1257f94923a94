"""Lloyd's algorithm and k-means of vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from stepsmooth.model import kmeans, kmeans_1d
from stepsmooth.model.kmeans import lloyd

SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, n=60, p=2, n_levels=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.uniform(0.1, 3.0, n), rng.normal(size=(n_levels, p))


def within(Y, w, levels, labels):
    return float(np.sum(w[:, None] * (Y - levels[labels]) ** 2))


@given(seed=SEEDS, p=st.integers(1, 3), n_levels=st.integers(1, 5), ascending=st.booleans())
def test_lloyd_never_increases_the_sum_of_squares(seed, p, n_levels, ascending):
    Y, w, levels = draw(seed, p=p, n_levels=n_levels)
    levels = levels[np.argsort(levels[:, 0])] if ascending else levels
    nearest = np.sum((Y[:, None] - levels) ** 2, axis=2).argmin(axis=1)
    costs = [within(Y, w, levels, nearest)]
    for n_iter in range(1, 12):
        costs.append(within(Y, w, *lloyd(Y, w, levels, max_iter=n_iter)[:2]))
    assert np.all(np.diff(costs) <= 1e-12 * costs[0])


@given(seed=SEEDS, p=st.integers(1, 3))
def test_lloyd_stops_where_labels_are_nearest_and_levels_are_means(seed, p):
    Y, w, levels = draw(seed, p=p)
    levels, labels, inertia = lloyd(Y, w, levels)
    np.testing.assert_array_equal(labels, np.sum((Y[:, None] - levels) ** 2, axis=2).argmin(axis=1))
    for k in np.unique(labels):
        np.testing.assert_allclose(levels[k], np.average(Y[labels == k], axis=0, weights=w[labels == k]), atol=1e-12)
    assert inertia == pytest.approx(within(Y, w, levels, labels))


@given(seed=SEEDS)
def test_the_path_for_a_line_is_the_path_for_vectors(seed):
    Y, w, levels = draw(seed, p=1)
    levels = np.sort(levels, axis=0)
    line = lloyd(Y, w, levels)
    vectors = lloyd(np.column_stack([Y, np.zeros(len(Y))]), w, np.column_stack([levels, np.zeros(len(levels))]))
    np.testing.assert_array_equal(line[1], vectors[1])
    np.testing.assert_allclose(line[0][:, 0], vectors[0][:, 0], atol=1e-12)


@pytest.mark.parametrize("p", [1, 2])
def test_an_emptied_cluster_keeps_its_level(p):
    Y, w, _ = draw(0, p=p)
    far = np.full(p, 1e3)
    levels, labels, _ = lloyd(Y, w, np.stack([np.zeros(p), far]))
    np.testing.assert_array_equal(levels[1], far)
    assert np.all(labels == 0)


@given(seed=SEEDS, n_levels=st.integers(1, 4))
def test_kmeans_is_no_worse_than_scikit_learn_s_single_run(seed, n_levels):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(80, 2)) + 4.0 * rng.integers(0, n_levels, 80)[:, None]
    w = rng.uniform(0.5, 2.0, 80)
    ours = within(Y, w, *kmeans(Y, n_levels, w, np.random.RandomState(0)))
    theirs = KMeans(n_levels, n_init=1, random_state=0).fit(Y, sample_weight=w)
    assert ours <= within(Y, w, theirs.cluster_centers_, theirs.labels_) * (1.0 + 1e-9)


@given(seed=SEEDS)
def test_kmeans_of_one_column_is_no_better_than_the_exact_one(seed):
    Y, w, _ = draw(seed, p=1)
    exact = kmeans_1d(Y[:, 0], 3, w)
    ours = within(Y, w, *kmeans(Y, 3, w, np.random.RandomState(0)))
    assert within(Y, w, exact[0][:, None], exact[1]) <= ours * (1.0 + 1e-9)


def test_the_same_seed_gives_the_same_bits():
    Y, w, _ = draw(1)
    first, second = (kmeans(Y, 3, w, np.random.RandomState(5)) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
