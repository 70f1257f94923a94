"""Connectivity, neighbour graph, cluster distances and label distance, against their definitions."""

import numpy as np
import pytest
from cloud_cases import clouds, labelled_clouds
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from stepsmooth.model import MinKernel
from stepsmooth.topology import (
    cluster_distances,
    cluster_graph,
    connectivity,
    label_distance,
    neighbor_graph,
)
from stepsmooth.topology.reference import all_pairs_cluster_distances, bottleneck


def is_connected(graph):
    return connected_components(graph, directed=False)[0] == 1


@given(clouds())
def test_the_neighbour_graph_is_connected_at_rho_min_and_not_below(X):
    rho = connectivity(X)
    assert is_connected(neighbor_graph(X, rho))
    assert not is_connected(neighbor_graph(X, rho * (1 - 1e-6)))


@given(clouds(), st.floats(0.0, 2.0))
def test_the_neighbour_graph_joins_the_pairs_within_rho_and_no_point_with_itself(X, share):
    rho = share * connectivity(X)
    D = cdist(X, X)
    expected = (rho >= D) & ~np.eye(len(X), dtype=bool)
    sure = np.abs(D - rho) > 1e-9 * (rho + 1e-300)
    np.testing.assert_array_equal(neighbor_graph(X, rho).toarray()[sure], expected[sure])


def test_the_neighbour_graph_in_another_metric():
    X = np.random.default_rng(0).random((30, 2))
    D = cdist(X, X, "cityblock")
    expected = (D <= 0.3) & ~np.eye(30, dtype=bool)
    np.testing.assert_array_equal(neighbor_graph(X, 0.3, metric="cityblock").toarray(), expected)
    np.testing.assert_array_equal(neighbor_graph(D, 0.3, metric="precomputed").toarray(), expected)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_equispaced_points_in_the_metric_of_the_min_kernel_have_the_papers_connectivity(n):
    assert connectivity(np.arange(1, n + 1) / n, metric=MinKernel()) == pytest.approx(n**-0.5)


@given(labelled_clouds())
def test_cluster_distances_equal_their_definition(case):
    X, labels = case
    expected = all_pairs_cluster_distances(X, labels)
    np.testing.assert_allclose(cluster_distances(X, labels), expected, rtol=1e-9, atol=1e-12 * np.ptp(X))
    by_rows = cluster_distances(cdist(X, X), labels, metric="precomputed")
    np.testing.assert_allclose(by_rows, expected, rtol=1e-9)


@given(labelled_clouds())
def test_the_label_distance_equals_the_bottleneck_of_all_cluster_distances(case):
    X, labels = case
    delta = label_distance(X, labels)
    assert delta == pytest.approx(bottleneck(all_pairs_cluster_distances(X, labels)), rel=1e-9)
    assert delta <= connectivity(X)


@given(labelled_clouds())
def test_the_cluster_graph_is_connected_at_the_label_distance_and_not_below(case):
    X, labels = case
    delta = bottleneck(cluster_distances(X, labels))
    assert is_connected(cluster_graph(X, labels, delta))
    if delta > 0:
        assert not is_connected(cluster_graph(X, labels, delta * (1 - 1e-6)))


def test_a_kernel_metric_carries_over_to_clusters():
    x, labels = [0.0, 1.0, 3.0, 7.0], [0, 0, 1, 2]
    np.testing.assert_allclose(cluster_distances(x, labels, metric=MinKernel()), np.sqrt(cluster_distances(x, labels)))
    assert label_distance(x, labels, metric=MinKernel()) == 2.0


def test_the_papers_own_cloud_has_the_published_figures(newsgroups):
    X, labels = newsgroups
    rho = connectivity(X)
    assert rho == pytest.approx(0.929324, abs=5e-7)
    assert neighbor_graph(X, rho).nnz == 2 * 1791
    expected = {(0, 1): 0.1094, (0, 2): 0.2233, (0, 3): 0.2048, (1, 2): 0.1977, (1, 3): 0.1949, (2, 3): 0.4128}
    found = cluster_distances(X, labels)
    for (k, other), distance in expected.items():
        assert found[k, other] == pytest.approx(distance, abs=6e-5)
    assert label_distance(X, labels) == pytest.approx(0.1977, abs=6e-5)
    star = cluster_graph(X, labels, 0.2).toarray()
    assert star.sum(axis=1).tolist() == [1, 3, 1, 1]


@pytest.mark.parametrize("function", [cluster_distances, label_distance, lambda X, z: cluster_graph(X, z, 1.0)])
@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([0, 0, 0], "labels must form at least two clusters; found one"),
        ([0, 2, 2], "labels must use every number from 0 to 2; no point has the label 1"),
        ([0, 1], r"labels must hold one label for each of the 3 points, \(3,\); found shape \(2,\)"),
        ([0, 1, -1], "labels must be whole numbers from 0; found -1"),
        ([0, 1, 0.5], "labels must be whole numbers from 0; found 0.5"),
    ],
)
def test_bad_labels_are_refused_in_one_sentence(function, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        function([[0.0], [1.0], [2.0]], labels)


@pytest.mark.parametrize("rho", [-1.0, np.nan, np.inf])
def test_a_radius_that_is_none_is_refused(rho):
    with pytest.raises(ValueError, match="rho must be a finite number of at least 0"):
        neighbor_graph([0.0, 1.0], rho)
    with pytest.raises(ValueError, match="delta must be a finite number of at least 0"):
        cluster_graph([0.0, 1.0], [0, 1], rho)
