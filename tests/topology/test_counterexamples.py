"""Counterexamples are what they say: two explanations of one set of data, as near to each other as levels allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.topology.alternatives import same_division
from stepsmooth.topology.counterexamples import KINDS, _pair, counterexample
from stepsmooth.topology.reference import all_pairs_cluster_distances, best_levels, bottleneck, divisions
from stepsmooth.topology.spanning import minimum_spanning_tree

SEEDS = st.integers(0, 10**6)


def most(tree, f):
    return np.abs(f[tree.edges[:, 0]] - f[tree.edges[:, 1]]).max()


@settings(max_examples=25)
@given(SEEDS, st.integers(2, 4), st.integers(1, 2), st.sampled_from(KINDS), st.sampled_from([0.5, 1.0, 3.0]))
def test_both_explanations_give_the_data_and_the_true_f_varies_by_c_times_the_other_at_most(seed, m, d, kind, c):
    case = counterexample(seed, n_points=14, n_levels=m, dimensions=d, kind=kind, c=c)
    assert case.X.shape == (14, d)
    assert 0.0 <= case.X.min() <= case.X.max() <= 1.0
    np.testing.assert_allclose(case.y, case.smooth + case.levels[case.labels])
    np.testing.assert_allclose(case.y, case.true_smooth + case.true_levels[case.true_labels])
    assert sorted(np.unique(case.labels)) == list(range(m))
    assert not same_division(case.labels, case.true_labels)
    gaps = np.diff(case.levels)
    assert np.array_equal(case.levels, np.arange(m)) or np.all((gaps >= 1.0) & (gaps <= 2.0))
    assert most(case.tree, case.true_smooth) <= c * most(case.tree, case.smooth)
    # The difference is divided 1 : c, and what both share is at most a tenth of it.
    apart = case.true_levels[case.true_labels] - case.levels[case.labels]
    np.testing.assert_allclose(case.smooth - case.true_smooth, apart, atol=1e-12)
    share = c / (1.0 + c) * (1.0 - 1e-6)
    common = case.smooth - (1.0 - share) * apart
    np.testing.assert_allclose(case.true_smooth + share * apart, common, atol=1e-12)
    largest = np.abs(common).max() / np.abs(apart).max()
    halvings = np.log2(np.array([0.01, 0.1]) / largest) if largest > 1e-12 else np.zeros(1)
    assert np.any((np.abs(halvings - np.round(halvings)) < 1e-6) & (halvings > -0.5))
    # Halved no more often than the premise asks for: twice as much in common would break it.
    if largest > 1e-12 and not np.any(np.abs(halvings) < 1e-6):
        doubled = most(case.tree, 2.0 * common - share * apart) > c * most(
            case.tree, 2.0 * common + (1.0 - share) * apart
        )
        assert doubled


@settings(max_examples=15)
@given(SEEDS, st.integers(2, 4))
def test_the_chain_walks_over_all_true_labels_and_back_to_the_first(seed, m):
    n = 24
    case = counterexample(seed, n_points=n, n_levels=m, kind="chain")
    order = np.argsort(case.X[:, 0])
    stretch = np.minimum(np.arange(n) * (m + 1) // n, m)
    labels = np.where(stretch == m, 1, 0)
    labels[n - (m - 2) :] = np.arange(2, m)
    ways = [(case.true_labels[way].tolist(), case.labels[way].tolist()) for way in (order, order[::-1])]
    assert ((stretch % m).tolist(), labels.tolist()) in ways


@settings(max_examples=15)
@given(SEEDS, st.integers(2, 4), st.integers(4, 20))
def test_pairs_of_labellings_differ_as_their_kind_says(seed, m, n):
    rng = np.random.default_rng(seed)
    tree = minimum_spanning_tree(rng.random((n, 2)))
    for kind in ("moved points", "shifted region", "unrelated"):
        labels, true = _pair(rng, tree, m, kind)
        assert sorted(np.unique(labels)) == list(range(m))
        assert len(labels) == len(true) == n
        assert set(true) <= set(range(m))
        if kind == "moved points":
            assert np.sum(labels != true) <= max(1, n // 4 - 1)
        if kind == "shifted region":
            raised = true != labels
            assert np.all(true[raised] == labels[raised] + 1)
            # The region is one side of one edge: cut there, no raised point lies on the other side.
            assert any(np.all(raised == (side & (labels < m - 1))) for side in sides(tree))


def sides(tree):
    for e in range(len(tree.edges)):
        side = np.arange(tree.n_points)
        for i, j in np.delete(tree.edges, e, axis=0):
            side[side == side[i]] = side[j]
        yield side == side[0]
        yield side != side[0]


@settings(max_examples=15)
@given(SEEDS, st.integers(2, 3))
def test_no_other_levels_leave_a_smaller_worst_change(seed, m):
    rng, n = np.random.default_rng(seed), 8
    tree = minimum_spanning_tree(rng.random((n, 2)))
    y, labels = rng.normal(size=n), rng.permutation(np.r_[np.arange(m), rng.integers(m, size=n - m)])
    levels, change = best_levels(tree.edges, y, labels)
    assert most(tree, y - levels[labels]) == pytest.approx(change, abs=1e-9)
    for scale in (1e-3, 0.1, 1.0):
        for move in rng.normal(scale=scale, size=(20, m)):
            assert most(tree, y - (levels + move)[labels]) >= change - 1e-9


@pytest.mark.parametrize(("n", "m", "count"), [(1, 3, 1), (4, 2, 8), (4, 4, 15), (5, 3, 41), (3, 1, 1)])
def test_divisions_are_counted_by_stirlings_numbers_and_are_all_different(n, m, count):
    every = list(divisions(n, m))
    assert len(every) == count
    for k, z in enumerate(every):
        assert z.max() < m
        assert not any(same_division(z, other) for other in every[:k])


def test_the_definitions_over_all_pairs_in_a_case_done_by_hand():
    X, labels = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [10.0, 0.0]]), np.array([0, 1, 1, 2])
    expected = [[0.0, 3.0, 10.0], [3.0, 0.0, 7.0], [10.0, 7.0, 0.0]]
    np.testing.assert_allclose(all_pairs_cluster_distances(X, labels), expected)
    assert bottleneck(np.array(expected)) == 7.0
