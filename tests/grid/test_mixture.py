"""Classes and what observations say of them: against the plain formulas of a Gaussian mixture with outliers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from stepsmooth.grid import mixture
from stepsmooth.grid.mixture import (
    Classes,
    Sums,
    class_sums,
    constants,
    gain_and_shift,
    least_variance,
    outlier_density,
    posterior,
    updated,
    with_spread,
)


def some_classes(rng, M=3, p=2):
    share = rng.uniform(0.5, 1.0, M)
    return Classes(rng.normal(size=(M, p)), rng.uniform(0.2, 1.0, (M, p)), share / share.sum(), 0.05)


def observations(rng, n, p=2):
    return rng.normal(size=(n, p)), np.exp(0.3 * rng.normal(size=n)), rng.normal(size=n), rng.uniform(0.5, 2.0, n)


def plain(Y, gain, shift, weights, classes):
    """Probabilities, log density of each observation, and residuals (n, M, p), by SciPy."""
    mean = gain[:, None, None] * classes.levels + shift[:, None, None]
    logs = norm.logpdf(Y[:, None], mean, np.sqrt(classes.variances)).sum(axis=2) + np.log(0.99 * classes.proportions)
    every = np.column_stack([logs, np.full(len(Y), np.log(0.01 * classes.outlier_density))])
    density = logsumexp(every, axis=1)
    return np.exp(logs - density[:, None]), density, Y[:, None] - mean


@pytest.mark.parametrize("many", [1, 32], ids=["threads", "one thread"])
@pytest.mark.parametrize("n", [1, 60, 2100])
def test_probabilities_and_sums_are_those_of_the_plain_mixture(n, many, monkeypatch):
    monkeypatch.setattr(mixture, "MANY", many)
    rng = np.random.default_rng(0)
    classes, given = some_classes(rng), observations(rng, n)
    expected, density, residual = plain(*given, classes)
    gain, weights = given[1], given[3]
    q, loglik = posterior(*given, classes)
    np.testing.assert_allclose(q, expected, atol=1e-12)
    assert loglik == pytest.approx(weights @ density)
    sums, mass = class_sums(*given, classes), weights[:, None] * expected
    assert sums.loglik == pytest.approx(weights @ density)
    np.testing.assert_allclose(sums.mass, mass.sum(axis=0))
    np.testing.assert_allclose(sums.information, mass.T @ gain**2)
    np.testing.assert_allclose(sums.pull, np.einsum("nk,n,nkc->kc", mass, gain, residual), atol=1e-12)
    np.testing.assert_allclose(sums.squares, np.einsum("nk,nkc->kc", mass, residual**2))


def test_what_no_class_explains_is_an_outlier_and_a_far_class_has_no_part():
    classes = Classes(np.array([[0.0], [100.0]]), np.full((2, 1), 0.01), np.array([0.25, 0.75]), 0.5)
    q, loglik = posterior(np.array([[50.0], [0.0]]), np.ones(2), np.zeros(2), np.array([1.0, 0.0]), classes)
    np.testing.assert_array_equal(q[0], [0.0, 0.0])
    assert loglik == pytest.approx(np.log(0.01 * 0.5))
    assert q[1, 1] == 0.0
    assert q[1, 0] == pytest.approx(1.0 / (1.0 + 0.005 / (0.99 * 0.25 / np.sqrt(2.0 * np.pi * 0.01))))


def test_without_observations_all_sums_are_zero():
    classes = some_classes(np.random.default_rng(0))
    sums = class_sums(np.zeros((0, 2)), np.zeros(0), np.zeros(0), np.zeros(0), classes)
    assert sums.loglik == 0.0
    assert not np.any(sums.mass)
    assert not np.any(sums.information)
    assert not np.any(sums.pull)
    assert not np.any(sums.squares)
    assert sums.pull.shape == sums.squares.shape == (3, 2)


def test_a_class_without_share_takes_no_part_and_nobody_is_warned():
    classes = Classes(np.array([[0.0], [1.0]]), np.ones((2, 1)), np.array([0.0, 1.0]), 1.0)
    assert posterior(np.zeros((1, 1)), np.ones(1), np.zeros(1), np.ones(1), classes)[0][0, 0] == 0.0


def test_the_constants_are_those_of_the_log_density():
    classes = some_classes(np.random.default_rng(0))
    precision, logs, outlier = constants(classes)
    np.testing.assert_allclose(precision, 0.5 / classes.variances)
    at_level = norm.logpdf(0.0, 0.0, np.sqrt(classes.variances)).sum(axis=1)
    np.testing.assert_allclose(logs, at_level + np.log(0.99 * classes.proportions))
    assert outlier == pytest.approx(np.log(0.01 * 0.05))


def test_squares_follow_levels_that_move():
    rng = np.random.default_rng(0)
    classes, given = some_classes(rng), observations(rng, 50)
    q, _, residual = plain(*given, classes)
    by = rng.normal(size=(3, 2))
    after = residual - given[1][:, None, None] * by
    expected = np.einsum("nk,nkc->kc", given[3][:, None] * q, after**2)
    np.testing.assert_allclose(class_sums(*given, classes).moved(by), expected)


@pytest.mark.parametrize("keep", [False, True])
def test_a_step_of_em_is_the_weighted_least_squares_of_each_class(keep):
    rng = np.random.default_rng(0)
    classes, (Y, gain, shift, weights) = some_classes(rng), observations(rng, 80)
    q = plain(Y, gain, shift, weights, classes)[0] * weights[:, None]
    found = updated(class_sums(Y, gain, shift, weights, classes), classes, np.zeros(2), keep_levels=keep)
    moved = (q * gain[:, None]).T @ (Y - shift[:, None]) / (q.T @ gain**2)[:, None]
    levels = classes.levels if keep else moved
    np.testing.assert_allclose(found.levels, levels)
    error = Y[:, None] - gain[:, None, None] * levels - shift[:, None, None]
    squares, mass = np.einsum("nk,nkc->kc", q, error**2), q.sum(axis=0)
    # As if ten more observations had the pooled variance.
    pooled = squares.sum(axis=0) / mass.sum()
    np.testing.assert_allclose(found.variances, (squares + 10.0 * pooled) / (mass[:, None] + 10.0))
    np.testing.assert_allclose(found.proportions, mass / mass.sum())
    assert found.outlier_density == classes.outlier_density


def test_a_class_that_nothing_is_known_of_stays_where_it_is():
    classes = Classes(np.array([[1.0], [2.0]]), np.ones((2, 1)), np.full(2, 0.5), 0.1)
    pull, squares = np.array([[3.0], [1e-9]]), np.array([[8.0], [1e-9]])
    sums = Sums(0.0, np.array([6.0, 0.0]), np.array([6.0, 1e-9]), pull, squares)
    found = updated(sums, classes, np.zeros(1))
    np.testing.assert_allclose(found.levels, [[1.5], [2.0]])
    left = 8.0 - 2.0 * 0.5 * 3.0 + 0.25 * 6.0
    np.testing.assert_allclose(found.variances, [[(left + 10.0 * left / 6.0) / 16.0], [left / 6.0]])
    np.testing.assert_allclose(found.proportions, [1.0, 1e-12], rtol=1e-9)


def test_no_variance_falls_below_the_floor_and_no_mass_is_no_error():
    classes = Classes(np.array([[1.0, 1.0]]), np.ones((1, 2)), np.ones(1), 0.1)
    found = with_spread(classes, classes.levels, np.array([5.0]), np.array([[0.0, 10.0]]), np.array([0.3, 0.3]))
    np.testing.assert_allclose(found.variances, [[0.3, 2.0]])
    nothing = with_spread(classes, classes.levels, np.zeros(1), np.zeros((1, 2)), np.array([0.3, 0.4]))
    np.testing.assert_allclose(nothing.variances, [[0.3, 0.4]])
    assert nothing.proportions == 1.0


def test_classes_that_are_alike_have_the_variance_of_all_and_stay_so():
    levels, mass, squares = np.array([[1.0], [2.0]]), np.array([30.0, 10.0]), np.array([[3.0], [5.0]])
    start = Classes(levels, np.ones((2, 1)), np.full(2, 0.5), 1.0, alike=True)
    found = with_spread(start, levels, mass, squares, np.zeros(1))
    np.testing.assert_allclose(found.variances, 8.0 / 40.0)
    np.testing.assert_allclose(found.proportions, [0.75, 0.25])
    assert found.alike
    assert found.chosen(np.array([1, 0])).alike
    assert with_spread(start, levels, mass, squares, np.array([0.3])).variances.tolist() == [[0.3], [0.3]]
    assert np.ptp(with_spread(replace(start, alike=False), levels, mass, squares, np.zeros(1)).variances) > 0.0


def test_classes_are_ordered_by_their_first_channel_then_the_next():
    classes = Classes(np.array([[2.0, 0.0], [1.0, 5.0], [1.0, 4.0]]), np.arange(6.0).reshape(3, 2),
                      np.array([0.2, 0.3, 0.5]), 0.7)  # fmt: skip
    ordered = classes.ordered()
    np.testing.assert_array_equal(ordered.levels, [[1.0, 4.0], [1.0, 5.0], [2.0, 0.0]])
    np.testing.assert_array_equal(ordered.variances, [[4.0, 5.0], [2.0, 3.0], [0.0, 1.0]])
    np.testing.assert_allclose(ordered.proportions, [0.5, 0.3, 0.2])
    assert (ordered.count, ordered.outlier_density) == (3, 0.7)
    some = classes.chosen(np.array([0, 1]))
    np.testing.assert_allclose(some.proportions, [0.4, 0.6])  # they sum to one again


def test_the_field_multiplies_or_adds():
    f = np.array([0.0, np.log(2.0)])
    np.testing.assert_allclose(gain_and_shift(f, True), [[1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_array_equal(gain_and_shift(f, False), [[1.0, 1.0], f])


def test_outliers_fill_the_box_of_the_observations():
    assert outlier_density(np.array([[0.0, 1.0], [4.0, 3.0], [2.0, 2.0]])) == pytest.approx(1.0 / 8.0)
    assert outlier_density(np.array([[0.0, 1.0], [4.0, 1.0]])) == pytest.approx(1.0 / 4.0)  # a channel without spread


def test_the_least_variance_is_a_tiny_part_of_the_spread():
    Y = np.array([[0.0, 7.0], [2.0, 7.0]])
    np.testing.assert_allclose(least_variance(Y), [1e-10 + 1e-20, 1e-20], rtol=1e-6)
