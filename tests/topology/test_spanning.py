"""Every way to the minimum spanning tree gives the tree that all pairs give."""

import numpy as np
import pytest
from cloud_cases import CLOUDS, clouds
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, Matern

from stepsmooth.model import CubicSplineKernel, MinKernel, SobolevKernel, kernel_metric
from stepsmooth.topology import Monotone, minimum_spanning_tree
from stepsmooth.topology.kdtree import build
from stepsmooth.topology.prim import prim
from stepsmooth.topology.reference import all_pairs_tree


def spans(tree):
    n = tree.n_points
    graph = coo_array((np.ones(n - 1), (tree.edges[:, 0], tree.edges[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[0] == 1


@given(clouds())
def test_the_tree_in_space_equals_brute_force(X):
    tree = minimum_spanning_tree(X)
    np.testing.assert_allclose(tree.lengths, all_pairs_tree(X), rtol=1e-9, atol=1e-12 * np.ptp(X))
    assert spans(tree)
    np.testing.assert_allclose(np.linalg.norm(X[tree.edges[:, 0]] - X[tree.edges[:, 1]], axis=1), tree.lengths)


@pytest.mark.parametrize("kind", CLOUDS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_tree_of_many_points_equals_brute_force(kind, d):
    X = CLOUDS[kind](np.random.default_rng(d), 1500, d)
    tree = minimum_spanning_tree(X)
    unit = {"huge": 1e200, "tiny": 1e-200}.get(kind, 1.0)
    np.testing.assert_allclose(tree.lengths / unit, all_pairs_tree(X / unit), rtol=1e-9, atol=1e-12)
    assert spans(tree)


def test_high_dimensions_take_the_way_of_all_pairs():
    X = np.random.default_rng(0).normal(size=(100, 30))
    np.testing.assert_allclose(minimum_spanning_tree(X).lengths, all_pairs_tree(X))


@given(clouds(), st.integers(0, 10**6))
def test_order_of_the_points_does_not_matter(X, seed):
    shuffled = np.random.default_rng(seed).permutation(X)
    np.testing.assert_allclose(minimum_spanning_tree(shuffled).lengths, minimum_spanning_tree(X).lengths)


@given(clouds(), st.floats(1e-3, 1e3))
def test_lengths_scale_with_the_points(X, factor):
    scaled, rounding = factor * minimum_spanning_tree(X).lengths, 1e-14 * factor * np.abs(X).max()
    np.testing.assert_allclose(minimum_spanning_tree(factor * X).lengths, scaled, atol=rounding)


def test_points_are_not_changed():
    X = np.random.default_rng(0).random((50, 2))
    before = X.copy()
    minimum_spanning_tree(X)
    np.testing.assert_array_equal(X, before)


@given(clouds(most=100))
def test_the_k_d_tree_holds_every_point_once_within_the_boxes(X):
    tree = build(X)
    assert sorted(tree.order) == list(range(len(X)))
    np.testing.assert_array_equal(tree.points, X[tree.order])
    for v in range(len(tree.begin)):
        own = tree.points[tree.begin[v] : tree.end[v]]
        np.testing.assert_array_equal(own.min(axis=0), tree.low[v])
        np.testing.assert_array_equal(own.max(axis=0), tree.high[v])


# Other distances


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine"])
def test_any_named_metric_gives_the_tree_of_its_matrix(metric):
    X = np.random.default_rng(1).normal(size=(60, 3))
    D = cdist(X, X, metric)
    D = np.maximum((D + D.T) / 2, 0)
    np.fill_diagonal(D, 0)
    expected = minimum_spanning_tree(D, metric="precomputed").lengths
    np.testing.assert_allclose(minimum_spanning_tree(X, metric=metric).lengths, expected, atol=1e-12)
    by_function = minimum_spanning_tree(X, metric=lambda A, B: np.maximum(cdist(A, B, metric), 0)).lengths
    np.testing.assert_allclose(by_function, expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [MinKernel(), SobolevKernel(1), SobolevKernel(2), RBF(0.3), Matern(0.5, nu=1.5)])
def test_a_kernel_stands_for_its_kernel_metric(kernel):
    x = np.random.default_rng(2).random((40, 1))
    D = kernel_metric(kernel, x)
    expected = prim(len(x), lambda i: D[i])[1]
    np.testing.assert_allclose(minimum_spanning_tree(x, metric=kernel).lengths, expected, rtol=1e-6, atol=1e-7)


def test_isotropic_kernels_in_space_keep_the_euclidean_tree():
    X = np.random.default_rng(3).random((80, 3))
    tree, plain = minimum_spanning_tree(X, metric=RBF(0.4)), minimum_spanning_tree(X)
    np.testing.assert_array_equal(tree.edges, plain.edges)
    np.testing.assert_allclose(tree.lengths, np.sqrt(2 - 2 * np.exp(-((plain.lengths / 0.4) ** 2) / 2)))


@pytest.mark.parametrize("kernel", [RBF([0.4, 1.0, 0.2]), ExpSineSquared()])
def test_kernels_that_are_no_function_of_distance_take_the_way_of_all_pairs(kernel):
    X = np.random.default_rng(3).random((50, 3))
    D = kernel_metric(kernel, X)
    np.testing.assert_allclose(
        minimum_spanning_tree(X, metric=kernel).lengths, prim(len(X), lambda i: D[i])[1], rtol=1e-6, atol=1e-7
    )


def test_a_monotone_function_keeps_the_tree_and_one_that_is_not_is_refused():
    X = np.random.default_rng(4).random((50, 2))
    plain = minimum_spanning_tree(X)
    np.testing.assert_allclose(minimum_spanning_tree(X, metric=Monotone(np.sqrt)).lengths, np.sqrt(plain.lengths))
    with pytest.raises(ValueError, match="must increase with the distance; this function does not"):
        minimum_spanning_tree(X, metric=Monotone(lambda t: 1.0 / (1.0 + t)))


def test_the_spline_has_no_metric_and_says_why():
    with pytest.raises(ValueError, match="leaves some functions free"):
        minimum_spanning_tree([0.0, 1.0, 2.0], metric=CubicSplineKernel())


# Bad input


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[1.0, 2.0]], "X must hold at least two points; found 1"),
        ([], "X must hold at least two points; found 0"),
        ([[1.0, 2.0]] * 3, "X must hold at least two distinct points; all 3 are equal"),
        ([[1.0], [np.nan]], "X must be finite; found 1 of 2 values NaN or infinite"),
        (np.zeros((2, 2, 2)), r"X must be points of shape \(n, d\)"),
    ],
)
def test_points_that_are_no_cloud_are_refused(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimum_spanning_tree(X)


@pytest.mark.parametrize(
    ("D", "sentence"),
    [
        (np.zeros((2, 3)), "square matrix"),
        (np.zeros((1, 1)), "at least two points"),
        (np.zeros((3, 3)), "all 3 are equal"),
        ([[0, 1], [2, 0]], r"entries \(0, 1\) and \(1, 0\) are 1 and 2"),
        ([[0, -1], [-1, 0]], "row 0 is not"),
        ([[1, 1], [1, 0]], "row 0 is not"),
    ],
)
def test_a_matrix_that_holds_no_distances_is_refused(D, sentence):
    with pytest.raises(ValueError, match=sentence):
        minimum_spanning_tree(D, metric="precomputed")


def test_a_function_that_returns_no_distances_is_refused():
    with pytest.raises(ValueError, match=r"metric\(X, Y\) must return distances of at least 0"):
        minimum_spanning_tree([0.0, 1.0], metric=lambda A, B: A - B.T)
