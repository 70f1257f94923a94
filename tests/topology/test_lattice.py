"""The tree of a mask equals the tree of its voxels as points, whatever the mask and the spacing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from stepsmooth.topology import Lattice, cluster_distances, connectivity, label_distance, minimum_spanning_tree
from stepsmooth.topology.reference import all_pairs_cluster_distances, all_pairs_tree, bottleneck

shapes = st.sampled_from([(25,), (6, 7), (1, 9), (4, 5, 4), (3, 3, 2, 2)])
spacings = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.7])


@st.composite
def lattices(draw):
    shape = draw(shapes)
    mask = draw(arrays(bool, shape, elements=st.booleans()))
    mask.ravel()[[0, -1]] = True
    return Lattice(mask, [draw(spacings) for _ in shape])


@given(lattices())
def test_the_tree_equals_brute_force(lattice):
    tree, X = minimum_spanning_tree(lattice), lattice.points()
    np.testing.assert_allclose(tree.lengths, all_pairs_tree(X), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X[tree.edges[:, 0]] - X[tree.edges[:, 1]], axis=1), tree.lengths)


@given(lattices(), st.integers(0, 10**6))
def test_cluster_distances_and_label_distance_equal_brute_force(lattice, seed):
    n = lattice.n_points
    labels = np.random.default_rng(seed).permutation(np.r_[0, 1, np.random.default_rng(seed).integers(0, 2, n - 2)])
    X = lattice.points()
    expected = all_pairs_cluster_distances(X, labels)
    np.testing.assert_allclose(cluster_distances(lattice, labels), expected)
    np.testing.assert_allclose(label_distance(lattice, labels), bottleneck(expected))


def test_among_edges_of_one_length_the_last_axis_comes_first_and_voxels_in_c_order():
    lattice = Lattice(np.ones((2, 3), dtype=bool))
    tree = minimum_spanning_tree(lattice)
    assert tree.edges.tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3]]
    np.testing.assert_array_equal(minimum_spanning_tree(lattice).edges, tree.edges)


def test_labels_may_be_an_image():
    mask = np.ones((4, 5), dtype=bool)
    mask[2, 2] = False
    image = np.arange(20).reshape(4, 5) // 10
    lattice = Lattice(mask)
    np.testing.assert_array_equal(cluster_distances(lattice, image), cluster_distances(lattice, image[mask]))
    assert label_distance(lattice, image) == 1.0


def test_pieces_far_apart_are_bridged_at_their_nearest_voxels():
    mask = np.zeros((60, 60, 8), dtype=bool)
    mask[:20, :20], mask[40:, 45:] = True, True
    assert connectivity(Lattice(mask, (1.0, 1.0, 3.0))) == pytest.approx(np.hypot(21, 26))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[1, 0]],), "mask must be an array of bool"),
        (([True, False],), "mask must hold at least two voxels; found 1"),
        (([True, True], (1.0, 2.0)), "spacing must be one number above 0, or one for each of the 1 axes"),
        (([True, True], 0.0), "spacing must be one number above 0"),
    ],
)
def test_bad_masks_and_spacings_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Lattice(*arguments)


def test_labels_of_another_shape_and_another_metric_are_refused():
    lattice = Lattice(np.ones((3, 3), dtype=bool))
    with pytest.raises(ValueError, match="one label for each of the 9 voxels"):
        cluster_distances(lattice, [0, 1])
    with pytest.raises(ValueError, match="measured in its spacing"):
        minimum_spanning_tree(lattice, metric="cityblock")


@pytest.mark.parametrize("ratio", [1e3, 1e9, 1e30])
def test_very_thin_voxels_are_joined_within_their_column_first(ratio):
    """As many thin voxels as one likes fit into the step to the next column, but only those of the mask count."""
    mask = np.ones((5, 4), dtype=bool)
    mask[2, 1] = False
    lattice = Lattice(mask, (1.0, ratio))
    tree = minimum_spanning_tree(lattice)
    np.testing.assert_allclose(tree.lengths, all_pairs_tree(lattice.points()), rtol=1e-12)
    assert np.sum(tree.lengths >= ratio) == 3
