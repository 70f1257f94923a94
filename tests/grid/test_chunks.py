"""A chunk of observations: its sums against plain NumPy, and the field's part in them."""

import numpy as np
import pytest

from stepsmooth.grid.chunks import CHUNK, add_sums, channels_first, field_at, weighted_sum


@pytest.mark.parametrize("n", [1, 100, CHUNK])
def test_sums_of_a_class_are_the_plain_ones_and_add_up(n):
    rng = np.random.default_rng(0)
    Y, gain, shift = rng.normal(size=(n + 7, 2)), rng.uniform(0.5, 2.0, n), rng.normal(size=n)
    mass, levels = rng.random(CHUNK), np.array([0.3, -1.0])
    y, part = np.full((2, CHUNK), np.nan), np.ones(6)
    channels_first(Y, 7, n, y)
    np.testing.assert_array_equal(y[:, :n].T, Y[7:])
    add_sums(y, gain, shift, mass, levels, part)
    residual, m = Y[7:] - np.outer(gain, levels) - shift[:, None], mass[:n]
    expected = [m.sum(), m @ gain**2, *(m * gain @ residual), *(m @ residual**2)]
    np.testing.assert_allclose(part, 1.0 + np.array(expected))
    assert weighted_sum(mass[:n], gain) == pytest.approx(mass[:n] @ gain)


@pytest.mark.parametrize("multiplicative", [True, False])
def test_f_is_a_gain_where_it_multiplies_and_a_shift_where_it_adds(multiplicative):
    f = np.linspace(-1.0, 1.0, 5)
    gain, shift = np.empty(5), np.empty(5)
    field_at(f, multiplicative, gain, shift)
    np.testing.assert_allclose(gain, np.exp(f) if multiplicative else 1.0)
    np.testing.assert_array_equal(shift, 0.0 if multiplicative else f)
