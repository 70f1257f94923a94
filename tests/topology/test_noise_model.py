"""The noise of what a fit leaves, against integrals and sums written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm as normal

from stepsmooth.topology.emission import Noise, level_variances

LEVELS = np.array([[4.0], [1.0], [2.5]])  # in rank: 1.0, 2.5, 4.0


def test_noise_that_adds_is_measured_in_the_units_of_the_data():
    noise = Noise.of(LEVELS, [0.04, 0.09, 0.16])
    np.testing.assert_allclose(noise.variance, [[0.04], [0.09], [0.16]])
    np.testing.assert_allclose(noise.worst, [0.4, 0.4, 0.4])
    np.testing.assert_allclose(noise.jumps, [[0.0, 3.0, 1.5], [3.0, 0.0, 1.5], [1.5, 1.5, 0.0]])
    inf = np.inf  # no point passes over the level in between
    np.testing.assert_allclose(
        noise.spans, [[inf, inf, 0.75 / 0.2], [inf, inf, 0.75 / 0.3], [0.75 / 0.4, 0.75 / 0.4, inf]]
    )
    assert noise.gain is None
    assert not noise.in_logs


def test_noise_under_a_field_that_multiplies_is_relative_to_level_and_field():
    smooth = np.log([[2.0, 1.0], [0.5, 4.0]])
    noise = Noise.of(np.array([[1.0, 2.0], [4.0, 8.0]]), [[0.04, 0.16], [0.01, 0.64]], smooth)
    np.testing.assert_allclose(noise.variance, [[0.04, 0.04], [0.01 / 16, 0.01]])
    np.testing.assert_allclose(noise.worst, [0.4, 0.1])  # the noisiest class in its noisiest channel, over the level
    np.testing.assert_allclose(noise.jumps, [[0.0, np.sqrt(18.0)], [np.sqrt(2 * 0.75**2), 0.0]])
    half = np.hypot(3.0, 6.0) / 2.0
    np.testing.assert_allclose(noise.spans, [[np.inf, half / 0.4], [half / 0.8, np.inf]])
    np.testing.assert_allclose(noise.gain, [1.0, 2.0])  # e^-f where the field is weakest
    assert noise.in_logs


def test_vectors_may_turn_to_any_other_level():
    levels = np.column_stack([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    assert np.isfinite(Noise.of(levels, 1.0).spans).sum() == 6


def test_outputs_are_the_remainder_or_its_logarithm_with_the_slope_at_the_far_end():
    plain, relative = Noise.of(LEVELS, 0.1), Noise.of(LEVELS, 0.1, np.zeros((1, 1)))
    rest, error = np.array([[0.5, 0.2], [-0.5, 1.0], [-2.0, 0.0]]), np.array([0.3, 0.1, 0.1])
    same, slope = plain.outputs(rest, error)
    np.testing.assert_array_equal(same, rest)
    np.testing.assert_array_equal(slope, 1.0)
    logs, slope = relative.outputs(rest, error)
    np.testing.assert_allclose(logs[:2], np.log1p(rest[:2]))
    assert logs[2, 0] == -np.inf
    np.testing.assert_allclose(slope, [1.0 / (1.2 - 0.3), 1.0 / (0.5 - 0.1), np.inf])


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.booleans())
def test_turned_labels_bias_a_mean_by_points_that_came_and_by_the_tail_of_those_that_left(seed, multiplicative):
    rng = np.random.default_rng(seed)
    variance, counts = rng.uniform(0.1, 1.0, 3), rng.integers(1, 30, (2, 3)).astype(float)
    gain = rng.uniform(0.5, 2.0, 2) if multiplicative else np.ones(2)
    noise = Noise.of(LEVELS, variance, np.zeros((1, 1)) if multiplicative else None)
    found = noise.turned(counts, gain)
    for cell in range(2):
        for k, neighbours in ((0, [2]), (1, [2]), (2, [0, 1])):
            unit, expected = LEVELS[k, 0] if multiplicative else 1.0, 0.0
            for other in neighbours:
                half = abs(LEVELS[k, 0] - LEVELS[other, 0]) / 2.0
                came = normal.sf(half / (np.sqrt(variance[other]) * gain[cell])) * counts[cell, other] / counts[cell, k]
                sd = np.sqrt(variance[k]) * gain[cell] / unit
                t = np.linspace(half / unit, half / unit + 12.0 * sd, 4001)
                left = np.trapezoid(t * normal.pdf(t, scale=sd), t)
                expected += came * 2.0 * half / unit + left
            assert found[cell, k] == pytest.approx(expected, rel=1e-5)


def test_a_cell_without_points_is_bounded_as_if_it_had_one():
    noise = Noise.of(LEVELS, 0.25)
    expected = normal.sf(1.5) * 7.0 * 1.5 + 0.5 * normal.pdf(1.5)
    assert noise.turned(np.array([[0.0, 3.0, 7.0]]), np.ones(1))[0, 0] == pytest.approx(expected)


def test_of_the_channels_the_noisiest_decides_how_far_those_that_leave_are_off():
    noise = Noise.of(np.array([[0.0, 0.0], [3.0, 4.0]]), [[0.25, 1.0], [0.25, 0.09]])
    came = normal.sf([2.5 / 0.5, 2.5 / 1.0]) * 5.0  # half the distance, in deviations of the level they came from
    left = np.array([1.0, 0.5]) * normal.pdf([2.5 / 1.0, 2.5 / 0.5])
    np.testing.assert_allclose(noise.turned(np.array([[3.0, 3.0]]), np.ones(1))[0], came + left)


def test_flips_are_counted_point_by_point_where_the_noise_differs():
    labels, smooth = np.array([0, 0, 1, 2]), np.log([[1.0], [2.0], [4.0], [0.5]])
    variance = np.array([0.25, 0.36, 0.49])
    noise = Noise.of(LEVELS, variance, smooth)
    expected = 0.0
    for k, f in zip(labels, np.exp(smooth[:, 0])):  # the field widens the half distance of 0.75
        expected += (2 if k == 2 else 1) * normal.sf(0.75 * f / np.sqrt(variance[k]))
    assert noise.flips(labels) == pytest.approx(expected)
    plain = sum((2 if k == 2 else 1) * normal.sf(0.75 / np.sqrt(variance[k])) for k in labels)
    assert Noise.of(LEVELS, variance).flips(labels) == pytest.approx(plain)


@pytest.mark.parametrize(
    ("given", "shape", "expected"),
    [
        (2.0, (2, 3), [[2.0] * 3] * 2),
        ([1.0, 2.0], (2, 1), [[1.0], [2.0]]),
        ([1.0, 2.0], (3, 2), [[1.0, 2.0]] * 3),
        ([[1.0, 2.0], [3.0, 4.0]], (2, 2), [[1.0, 2.0], [3.0, 4.0]]),
        ([1.0, 2.0], (2, 2), [[1.0, 2.0]] * 2),  # by channel, where both would do
    ],
)
def test_variances_are_spread_over_levels_and_channels(given, shape, expected):
    np.testing.assert_array_equal(level_variances(given, *shape), expected)


@pytest.mark.parametrize("given", [[1.0, 2.0, 3.0], [[1.0, 2.0]], [1.0], [1.0, -1.0], [1.0, 0.0], np.inf])
def test_variances_of_another_shape_or_size_are_refused(given):
    with pytest.raises(ValueError, match="noise_variance must be"):
        level_variances(given, 2, 1)
