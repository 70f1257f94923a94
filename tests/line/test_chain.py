"""What a signal knows of itself, by hand, and that the E-step hands the beam the model that the text describes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal, norm

from stepsmooth.line.chain import SEARCH, Signal, Theta, _switching_cost
from stepsmooth.line.maximise import sticky

X, W = np.array([1.0, 2.0, 4.0, 7.0]), np.array([1.0, 2.0, 1.0, 4.0])
Y = np.array([[0.0, 2.0], [3.0, 5.0], [1.0, 1.0], [2.0, 4.0]])


def test_a_signal_measures_itself():
    signal = Signal(X, Y, W)
    assert len(signal) == 4
    assert signal.unit == 2.0
    assert_allclose(signal.dx, [0.0, 0.5, 1.0, 1.5])
    assert_allclose(signal.mean, [1.0, 4.0, 1.0, 3.0])
    assert signal.centre == pytest.approx(22.0 / 8.0)
    assert signal.range == 3.0
    assert signal.variance == pytest.approx((1.75**2 + 2 * 1.25**2 + 1.75**2 + 4 * 0.25**2) / 8.0)
    assert signal.smoother.order == 2
    assert_array_equal(signal.smoother.weights, W)


def test_one_point_or_one_value_has_units_of_one():
    alone = Signal(np.array([3.0]), np.array([[5.0]]), np.ones(1))
    assert (alone.unit, alone.range, alone.variance, alone.centre) == (1.0, 1.0, 1.0, 5.0)
    assert_array_equal(alone.dx, [0.0])


def test_n_tau_is_measured_in_mean_steps():
    assert Signal(X, Y, W).lam(0.5) == pytest.approx(8.0 * 0.5 / 2.0**3)
    assert Signal(X, Y, W, order=1).lam(0.5) == pytest.approx(8.0 * 0.5 / 2.0)


def test_a_part_keeps_its_points_and_n_tau():
    part = Signal(X, Y, W, order=1, outlier=0.2, tau=0.3).part(slice(1, 3))
    assert_array_equal(part.x, X[1:3])
    assert_array_equal(part.Y, Y[1:3])
    assert_array_equal(part.weights, W[1:3])
    assert (part.order, part.outlier) == (1, 0.2)
    assert part.tau == pytest.approx(0.3 * 8.0 / 3.0)
    assert Signal(X, Y, W).part(np.array([0, 2])).tau is None


def test_blocks_are_weighted_means_and_what_is_left_over_is_not_used():
    x, y = np.append(X, 9.0), np.append(Y, [[50.0, 60.0]], axis=0)
    blocks = Signal(x, y, np.append(W, 3.0), order=1, outlier=0.2, tau=0.3).blocks(2)
    assert_allclose(blocks.x, [5.0 / 3.0, 32.0 / 5.0])
    assert_allclose(blocks.Y, [[2.0, 4.0], [9.0 / 5.0, 17.0 / 5.0]])
    assert_allclose(blocks.weights, [3.0, 5.0])
    assert (blocks.order, blocks.outlier, blocks.tau) == (1, 0.2, 0.3)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("start", [None, (0.6, 0.5)])
def test_with_one_level_log_p_is_a_gaussian_s(order, start):
    signal = Signal(X, Y, W, order=order, outlier=0.0)
    levels = np.array([[0.5, 1.5]])
    theta = Theta(levels, 0.1, 0.4, np.ones(1), start=start)
    lam = signal.lam(0.1 / 2)
    scale, t = 0.4 / 2 / lam, (X - X[0]) / 2.0
    low, high = np.minimum.outer(t, t), np.maximum.outer(t, t)
    mean, sd = start or (signal.centre - 1.0, 3.0)
    V = sd**2 + scale * (low if order == 1 else low**2 * (3.0 * high - low) / 6.0) + np.diag(0.2 / W)
    if order == 2:
        V += (scale * 2.8 * lam**0.25 + (2.0 * 3.0 / 4) ** 2) * np.outer(t, t)
    expected = multivariate_normal(np.full(4, mean), V).logpdf(Y.mean(axis=1) - 1.0)
    # The difference of two channels over the root of two has the noise of one, and no f in it.
    contrast = (Y[:, 0] - Y[:, 1]) / np.sqrt(2.0) - (0.5 - 1.5) / np.sqrt(2.0)
    expected += W @ norm(0.0, np.sqrt(0.4)).logpdf(contrast)
    # A start that is known is the share of all starts that it stands for: none is likelier for being told.
    expected += np.log(sd / 3.0) - 0.5 * ((mean - signal.centre + 1.0) / 3.0) ** 2
    assert signal.loglik(theta) == pytest.approx(expected)
    found = signal.expect(theta)
    assert found.loglik == pytest.approx(expected)
    assert_allclose(found.gamma, 1.0)


def test_contrasts_tell_labels_apart_and_one_channel_has_none():
    theta = Theta(np.array([[0.0, 1.0], [2.0, 2.0]]), 0.1, 0.4, np.full(2, 0.5))
    difference = (Y[:, 1] - Y[:, 0])[:, None] / np.sqrt(2.0) - np.array([1.0, 0.0]) / np.sqrt(2.0)
    expected = W[:, None] * norm(0.0, np.sqrt(0.4)).logpdf(difference)
    assert_allclose(Signal(X, Y, W)._contrasts(theta), expected)
    alone = Theta(np.array([[0.0], [1.0]]), 0.1, 0.4, np.full(2, 0.5))
    assert Signal(X, Y[:, :1], W)._contrasts(alone).shape == (0, 2)


def test_three_channels_have_two_contrasts():
    data = np.array([[1.0, 2.0, 6.0]])
    signal = Signal(np.zeros(1), data, np.ones(1))
    theta = Theta(np.array([[0.0, 0.0, 3.0]]), 0.1, 0.7, np.ones(1))
    rest = data[0] - 3.0 - np.array([-1.0, -1.0, 2.0])
    assert_allclose(signal._contrasts(theta), -0.5 * rest @ rest / 0.7 - np.log(2.0 * np.pi * 0.7))


def test_one_point_is_a_mixture_of_levels_outliers_and_class_variances():
    signal = Signal(np.zeros(1), np.array([[1.7]]), np.array([2.0]), order=1, outlier=0.1)
    ratio, shares = np.array([0.5, 2.0]), np.array([0.3, 0.7])
    theta = Theta(np.array([[0.0], [1.0]]), 0.1, 0.4, shares, start=(0.2, 0.6), ratio=ratio)
    noise = 0.4 / 2.0 * ratio
    plain = norm.pdf(1.7, 0.2 + np.array([0.0, 1.0]), np.sqrt(0.36 + noise))
    wide = norm.pdf(1.7, 0.2 + np.array([0.0, 1.0]), np.sqrt(0.36 + 9.0 * noise))
    each = shares * (0.9 * plain + 0.1 * wide)
    found = signal.expect(theta)
    share = np.log(0.6) - 0.5 * (0.2 - (1.7 - 0.5)) ** 2
    assert found.loglik == pytest.approx(np.log(each.sum()) + share)
    assert_allclose(found.gamma[0], each / each.sum())


def test_a_level_without_a_share_and_a_switch_that_never_happens_are_no_warning():
    signal = Signal(X, Y[:, :1], W)
    never = Theta(np.array([[0.0], [1.0]]), 0.1, 0.4, np.array([1.0, 0.0]), np.eye(2))
    assert_allclose(signal.expect(never).gamma, [[1.0, 0.0]] * 4)


def test_the_cost_of_a_switch_is_minus_the_log_of_its_mean_probability():
    assert _switching_cost(None) == 0.0
    assert _switching_cost(np.ones((1, 1))) == 0.0
    assert _switching_cost(np.array([[0.7, 0.3], [0.1, 0.9]])) == pytest.approx(-np.log(0.2))
    assert _switching_cost(np.eye(3)) == pytest.approx(-np.log(1e-12))


def test_a_switch_that_is_rarer_than_the_cut_off_is_found_all_the_same():
    rng = np.random.default_rng(0)
    n = 120
    y = 1.0 * (np.arange(n) >= 60) + 0.3 * rng.normal(size=n)
    signal = Signal(np.arange(n) / n, y[:, None], np.ones(n), outlier=0.0)
    theta = Theta(np.array([[0.0], [1.0]]), 10.0, 0.09, np.full(2, 0.5), sticky(2, 1e-8), start=(0.0, 0.1))
    assert SEARCH[2] < -np.log(1e-8)
    pairs = signal.expect(theta).pairs
    assert_allclose([pairs[0, 1], pairs[1, 0]], [1.0, 0.0], atol=0.01)


def test_a_start_where_f_begins_is_worth_as_much_as_any_start():
    x = np.arange(60.0)
    signal = Signal(x, (np.sin(x / 9.0) + np.arange(60) % 2)[:, None], np.ones(60))
    theta = Theta(np.array([[0.0], [1.0]]), 10.0, 0.01, np.full(2, 0.5))
    told = Theta(theta.levels, 10.0, 0.01, theta.proportions, start=(0.0, 0.3))
    assert signal.loglik(told) == pytest.approx(signal.loglik(theta), abs=0.5)
