"""What the theory accepts comes back as plain arrays; what it refuses, at the very edge of what it accepts."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import RBF, DotProduct

from stepsmooth.model import MinKernel
from stepsmooth.topology import Modulus, Monotone, as_modulus
from stepsmooth.topology.arguments import distance_matrix, label_codes, level_columns, point_cloud, positive
from stepsmooth.topology.distance import of_distance, rows
from stepsmooth.topology.modulus import size

TWO = [[0.0, 1.0], [1.0, 0.0]]


def test_points_levels_and_numbers_come_back_as_they_are():
    np.testing.assert_array_equal(point_cloud([[1, 2], [1, 3]]), [[1.0, 2.0], [1.0, 3.0]])
    np.testing.assert_array_equal(point_cloud([2, 1]), [[2.0], [1.0]])
    np.testing.assert_array_equal(distance_matrix(TWO), TWO)
    np.testing.assert_array_equal(level_columns([[1, 2, 3], [4, 5, 6]]), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert level_columns(np.array([3, 1])).tolist() == [[3.0], [1.0]]
    assert (positive("t", 0, zero=True), positive("t", 1e-300)) == (0.0, 1e-300)


def test_labels_come_back_as_whole_numbers():
    codes = label_codes([0.0, 1.0, 0.0], 3)
    assert (codes.dtype, codes.tolist()) == (np.int64, [0, 1, 0])
    assert label_codes([1, 0], 2, 2).tolist() == [1, 0]
    assert label_codes(np.array([True, False]), 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: point_cloud(np.zeros((2, 0))),
            r"X must be points of shape \(n, d\), or \(n,\) on a line; found shape",
        ),
        (lambda: point_cloud(3.0), r"found shape \(\)"),
        (lambda: point_cloud([[0.0, np.inf], [np.nan, 0.0]]), "found 2 of 4 values NaN or infinite"),
        (lambda: distance_matrix([1.0, 2.0]), "must be a square matrix"),
        (lambda: distance_matrix([[0.0, np.nan], [np.nan, 0.0]]), "row 0 is not"),
        (lambda: distance_matrix([[0.0, 1.0], [1.0, 1e-9]]), "row 1 is not"),
        (
            lambda: distance_matrix([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.5, 0.0]]),
            r"entries \(1, 2\) and \(2, 1\) are 3 and 3.5",
        ),
        (lambda: label_codes([0, 1, 2], 3, 2), "labels must be below the number of levels, 2; found 2"),
        (lambda: label_codes([0, 1, 1], 3, 3), "no point has the label 2"),
        (lambda: label_codes([0, 0], 2, 1), "at least two clusters"),
        (lambda: label_codes([0.0, np.nan], 2), "labels must be whole numbers from 0; found nan"),
        (lambda: label_codes([[0, 1]], 2), r"found shape \(1, 2\)"),
        (lambda: level_columns([0.0, np.inf, np.nan]), "levels must be finite; found 2 that are not"),
        (lambda: level_columns([[1.0, 2.0]]), "levels must be at least two"),
        (lambda: positive("t", 0.0), "t must be a finite number above 0; found 0.0"),
        (lambda: positive("t", -1e-300, zero=True), "t must be a finite number of at least 0"),
        (lambda: positive("t", np.nan), "t must be a finite number above 0"),
        (lambda: as_modulus((1.0, MinKernel(), 3)), r"must be \(norm of f, kernel\)"),
        (lambda: as_modulus((-1.0, MinKernel())), "the norm of f in modulus must be a finite number of at least 0"),
        (lambda: rows([0.0, 1.0], lambda A, B: np.zeros((2, 2)))[1](0), r"found shape \(2, 2\) and least value 0"),
        (lambda: rows([0.0, 1.0], lambda A, B: np.full((1, 2), np.nan))[1](0), "must return distances of at least 0"),
        (lambda: Monotone(lambda t: t - 1.0)(np.array([0.5, 2.0])), "must increase with the distance"),
    ],
)
def test_what_is_wrong_is_said(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_matrix_that_is_symmetric_up_to_rounding_is_taken():
    almost = np.array([[0.0, 1.0], [1.0 + 1e-11, 0.0]])
    assert distance_matrix(almost)[1, 0] == 1.0 + 1e-11
    with pytest.raises(ValueError, match="symmetric"):
        distance_matrix([[0.0, 1.0], [1.0 + 1e-9, 0.0]])


def test_every_metric_gives_the_rows_of_its_matrix():
    X = np.random.default_rng(0).random((12, 2))
    D = cdist(X, X)
    kernel = DotProduct(0.5)  # no function of the distance
    gram = kernel(X)
    expected = {
        "euclidean": (X, "euclidean", D),
        "a name": (X, "cityblock", cdist(X, X, "cityblock")),
        "a matrix": (D, "precomputed", D),
        "a function of the distance": (X, Monotone(np.square), D**2),
        "a function": (X, lambda A, B: 3.0 * cdist(A, B), 3.0 * D),
        "a stationary kernel": (X, RBF(0.7), np.sqrt(2.0 - 2.0 * np.exp(-(D**2) / (2.0 * 0.7**2)))),
        "another kernel": (X, kernel, np.sqrt(np.maximum(np.diag(gram)[:, None] - 2 * gram + np.diag(gram), 0.0))),
    }
    for given, metric, matrix in expected.values():
        n, row = rows(given, metric)
        assert n == 12
        np.testing.assert_allclose([row(i) for i in range(n)], matrix, atol=1e-7)


def test_only_what_depends_on_the_distance_alone_is_a_function_of_it():
    t = np.array([0.0, 0.25, 4.0])
    np.testing.assert_array_equal(of_distance("euclidean")(t), t)
    np.testing.assert_array_equal(of_distance(MinKernel())(t), np.sqrt(t))
    np.testing.assert_array_equal(of_distance(Monotone(np.square))(t), t**2)
    np.testing.assert_allclose(of_distance(RBF(2.0))(t), np.sqrt(2.0 - 2.0 * np.exp(-(t**2) / 8.0)))
    for metric in ("cityblock", RBF([1.0, 2.0]), DotProduct(), np.hypot):
        assert of_distance(metric) is None


def test_a_modulus_gives_omega_where_it_is_asked_in_any_order():
    np.testing.assert_array_equal(Modulus(np.sqrt)([4.0, 0.25, 1.0]), [2.0, 0.5, 1.0])
    np.testing.assert_array_equal(as_modulus(3.0)(2.0), [6.0])
    np.testing.assert_array_equal(as_modulus((0.5, MinKernel()))([1.0, 3.0]), [0.5, 1.5])
    np.testing.assert_array_equal(Modulus(lambda t: 1.0)([0.0, 2.0]), [1.0, 1.0])
    assert as_modulus(3.0).metric == "euclidean"
    own = Modulus(np.sqrt)
    assert as_modulus(own) is own


def test_a_dip_between_the_distances_that_are_asked_for_is_seen():
    def dips(t):
        return np.where((t > 0.5) & (t < 0.6), 0.1, 1.0 + t)

    with pytest.raises(ValueError, match=r"must not decrease with the distance; it is 1\.\d+ at 0.5 and 0.1 at 0.50"):
        Modulus(dips)([0.0, 1.0])


def test_rows_have_a_norm_each():
    values = np.array([[3.0, -4.0], [0.0, 2.0]])
    assert size(values, 1).tolist() == [7.0, 2.0]
    assert size(values).tolist() == [5.0, 2.0]
    assert size(values, np.inf).tolist() == [4.0, 2.0]
    assert size(values, lambda rows: rows.sum(axis=1)).tolist() == [-1.0, 2.0]
