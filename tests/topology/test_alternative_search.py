"""Which labels are possible on a tree, in every norm and from every root, by trying all of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.topology.alternatives import Rooted, alternative, possible_labels, same_division, sure_parts

SEEDS = st.integers(0, 10**6)


def random_tree(rng, n):
    """Return edges in any order and direction, numbers of points shuffled."""
    name = rng.permutation(n)
    edges = np.array([[name[rng.integers(i)], name[i]] for i in range(1, n)])
    return np.where(rng.random((n - 1, 1)) < 0.5, edges, edges[:, ::-1])[rng.permutation(n - 1)]


def all_fits(edges, Y, levels, tolerance, norm):
    every = np.array(list(product(range(len(levels)), repeat=len(Y))))
    f = Y - levels[every]
    change = np.linalg.norm(f[:, edges[:, 0]] - f[:, edges[:, 1]], ord=norm, axis=2)
    return every[np.all(change <= tolerance, axis=1)]


@pytest.mark.parametrize("norm", [1, 2, np.inf])
@settings(max_examples=15)
@given(seed=SEEDS, p=st.integers(1, 3), m=st.integers(2, 3))
def test_possible_labels_and_alternatives_of_vectors_are_those_of_all_labellings(norm, seed, p, m):
    rng, n = np.random.default_rng(seed), 6
    edges, levels, Y = random_tree(rng, n), rng.normal(size=(m, p)), rng.normal(size=(n, p))
    tolerance = rng.uniform(0.5, 2.5, n - 1) * p
    fits = all_fits(edges, Y, levels, tolerance, norm)
    expected = np.array([[np.any(fits[:, i] == k) for k in range(m)] for i in range(n)])
    np.testing.assert_array_equal(possible_labels(edges, Y, levels, tolerance, norm), expected)
    labels = fits[rng.integers(len(fits))] if len(fits) else rng.integers(m, size=n)
    found, possible = alternative(edges, Y, levels, labels, tolerance, norm)
    np.testing.assert_array_equal(possible, expected)
    rivals = [z for z in fits if not same_division(z, labels)]
    if found is not None:
        assert any(np.array_equal(found, z) for z in rivals)
        # What can keep its label does: from the point that must change, the old labels stand as far as they fit.
        moved = np.flatnonzero(found != labels)
        assert any(is_nearest(edges, fits, found, labels, i) for i in moved)
    if any(np.sum(z != labels) == 1 for z in rivals):
        assert found is not None


def is_nearest(edges, fits, found, labels, root):
    """Whether `found` is the labelling that walks from the root and keeps each old label that some fit allows."""
    order, parent = Rooted.of(edges, np.zeros(len(edges)), int(root)).order, {}
    left = fits[fits[:, root] == found[root]]
    seen = {int(root)}
    for i in order[1:]:
        neighbours = edges[np.any(edges == i, axis=1)].ravel()
        parent[i] = next(int(j) for j in neighbours if j in seen)
        seen.add(int(i))
        options = left[left[:, parent[i]] == found[parent[i]]][:, i]
        wanted = labels[i] if labels[i] in options else options.min()
        if found[i] != wanted:
            return False
    return True


@settings(max_examples=20)
@given(SEEDS, st.integers(2, 12))
def test_a_rooted_tree_lists_parents_before_children_with_the_tolerance_between_them(seed, n):
    rng = np.random.default_rng(seed)
    edges, tolerance, root = random_tree(rng, n), rng.random(n - 1), int(rng.integers(n))
    tree = Rooted.of(edges, tolerance, root)
    assert tree.order[0] == root
    assert sorted(tree.order) == list(range(n))
    assert tree.parent[root] == -1
    assert tree.toll[root] == 0.0
    place = np.argsort(tree.order)
    between = {frozenset(edge): t for edge, t in zip(edges.tolist(), tolerance)}
    for i in set(range(n)) - {root}:
        assert place[tree.parent[i]] < place[i]
        assert tree.toll[i] == between[frozenset((i, int(tree.parent[i])))]
    np.testing.assert_array_equal(tree.scaled(3.0).toll, 3.0 * tree.toll)
    assert tree.scaled(3.0).parent is tree.parent


@pytest.mark.parametrize("m", [2, 3])
@settings(max_examples=20)
@given(seed=SEEDS)
def test_a_part_is_sure_just_if_each_label_of_its_first_point_leaves_one_way_that_divides_alike(m, seed):
    rng, n = np.random.default_rng(seed), 6
    edges, levels = random_tree(rng, n), np.array([0.0, 1.0, 2.0])[:m, None]
    labels, tolerance = rng.integers(m, size=n), rng.uniform(0.05, 0.9, n - 1)
    Y = levels[labels] + 0.3 * rng.normal(size=(n, 1))
    cut = int(rng.integers(n - 1))
    tolerance[cut] = np.inf
    tree, part = Rooted.of(edges, tolerance), np.zeros(n, dtype=int)
    for i in tree.order[1:]:
        part[i] = 1 - part[tree.parent[i]] if tree.toll[i] == np.inf else part[tree.parent[i]]
    fits = all_fits(edges, Y, levels, tolerance, 2)
    for k, sure in enumerate(sure_parts(tree, part, Y, levels, labels)):
        own = tree.order[part[tree.order] == k]  # from its own root on
        ways = np.unique(fits[:, own], axis=0)
        expected = (
            any(np.array_equal(z, labels[own]) for z in ways)
            and len(np.unique(ways[:, 0])) == len(ways)
            and all(same_division(z, labels[own]) for z in ways)
        )
        if len(fits):  # where the other part fits in no way, nothing is possible here either
            assert sure == expected


@given(SEEDS, st.integers(1, 8), st.integers(1, 4))
def test_divisions_are_the_same_just_if_the_same_pairs_are_together(seed, n, m):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(m, size=n), rng.integers(m, size=n)
    if seed % 2:
        other = rng.permutation(m)[one]
    together = (one[:, None] == one) == (other[:, None] == other)
    assert same_division(one + 3, other) == together.all()
