"""The k-d tree node by node, and Boruvka's rounds from points that are joined already."""

import numpy as np
import pytest
from cloud_cases import clouds
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from stepsmooth.topology import Lattice, minimum_spanning_tree
from stepsmooth.topology.boruvka import boruvka, find
from stepsmooth.topology.kdtree import LEAF, build
from stepsmooth.topology.lattice import lattice_tree

SEEDS = st.integers(0, 10**6)


@given(clouds(most=150))
def test_each_node_is_cut_at_the_median_of_its_widest_side_down_to_small_leaves(X):
    tree = build(X)
    nodes = len(tree.begin)
    assert (tree.begin[0], tree.end[0]) == (0, len(X))
    for v in range(nodes):
        begin, end = tree.begin[v], tree.end[v]
        if 2 * v + 2 >= nodes:
            assert LEAF / 2 - 1 < end - begin <= LEAF
            continue
        middle = (begin + end) // 2
        assert (tree.begin[2 * v + 1], tree.end[2 * v + 1]) == (begin, middle)
        assert (tree.begin[2 * v + 2], tree.end[2 * v + 2]) == (middle, end)
        widest = np.argmax(tree.high[v] - tree.low[v])
        assert tree.points[begin:middle, widest].max() <= tree.points[middle:end, widest].min()


def kruskal(X, components):
    """Return the lengths of the edges that join components, shortest first, from the matrix of distances."""
    D, component, lengths = cdist(X, X), components.copy(), []
    first, second = np.triu_indices(len(X), k=1)
    for e in np.argsort(D[first, second], kind="stable"):
        i, j = first[e], second[e]
        if component[i] != component[j]:
            component[component == component[i]] = component[j]
            lengths.append(D[i, j])
    return lengths


@settings(max_examples=30)
@given(clouds(most=60), SEEDS)
def test_components_that_are_joined_already_are_bridged_by_the_shortest_edges(X, seed):
    components = np.random.default_rng(seed).integers(0, 6, len(X)) * 7 - 3
    edges, lengths = boruvka(X, components)
    np.testing.assert_allclose(lengths, kruskal(X, components), rtol=1e-9, atol=1e-12 * np.ptp(X))
    np.testing.assert_allclose(np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1), lengths)
    assert np.all(edges[:, 0] < edges[:, 1])
    left = components.copy()
    for i, j in edges:
        assert left[i] != left[j]
        left[left == left[i]] = left[j]
    assert len(np.unique(left)) == 1


@settings(max_examples=10)
@given(SEEDS)
def test_edges_of_one_length_are_listed_by_their_points(seed):
    X = np.random.default_rng(seed).permutation(np.argwhere(np.ones((4, 5)))).astype(float)
    edges, lengths = boruvka(X)
    assert np.all(lengths == 1.0)
    assert edges.tolist() == sorted(edges.tolist())


def test_the_root_of_a_forest_is_found_and_the_path_to_it_halved():
    parent = np.array([0, 0, 1, 2, 3])
    assert find(parent, 4) == 0
    assert parent.tolist() == [0, 0, 0, 2, 2]
    assert find(parent, 0) == 0


@settings(max_examples=20)
@given(SEEDS, st.sampled_from([(30,), (6, 7), (3, 4, 3)]), st.sampled_from([0.3, 0.8]))
def test_the_tree_of_a_mask_lists_edges_from_the_lower_to_the_higher_voxel_in_ascending_length(seed, shape, share):
    rng = np.random.default_rng(seed)
    mask = rng.random(shape) < share
    mask.ravel()[[0, -1]] = True
    lattice = Lattice(mask, rng.choice([0.5, 1.0, 2.0], len(shape)))
    edges, lengths = lattice_tree(lattice)
    assert np.all(edges[:, 0] < edges[:, 1])
    assert np.all(np.diff(lengths) >= 0.0)
    np.testing.assert_allclose(lengths, kruskal(lattice.points(), np.arange(lattice.n_points)), rtol=1e-12)


def test_a_lattice_knows_its_voxels_and_puts_labels_on_them():
    mask = np.array([[True, False, True], [False, True, True]])
    lattice = Lattice(mask, (2.0, 0.5))
    assert lattice.n_points == 4
    assert lattice.points().tolist() == [[0.0, 0.0], [0.0, 1.0], [2.0, 0.5], [2.0, 1.0]]
    assert lattice.on_grid([5, 6, 7, 8]).tolist() == [[5, -1, 6], [-1, 7, 8]]
    assert lattice.on_grid([5, 6, 7, 8], outside=9).tolist() == [[5, 9, 6], [9, 7, 8]]
    assert lattice.on_grid([[1, 2, 3], [4, 5, 6]]).tolist() == [[1, -1, 3], [-1, 5, 6]]
    assert Lattice(mask, 3.0).spacing.tolist() == [3.0, 3.0]
    assert Lattice([True, True]).on_grid([4, 5]).tolist() == [4, 5]


@pytest.mark.parametrize("spacing", [-1.0, np.nan, np.inf, (1.0, 0.0), (1.0, 1.0, 1.0)])
def test_a_spacing_that_is_none_is_refused(spacing):
    with pytest.raises(ValueError, match="spacing must be one number above 0"):
        Lattice(np.ones((2, 2), dtype=bool), spacing)


def test_points_on_a_line_are_joined_to_their_neighbours():
    tree = minimum_spanning_tree([5.0, 0.0, 2.0, 9.0])
    assert tree.edges.tolist() == [[1, 2], [0, 2], [0, 3]]
    assert tree.lengths.tolist() == [2.0, 3.0, 4.0]
    assert tree.n_points == 4
