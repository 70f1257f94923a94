"""Whether labels last: ratios by hand, and independent, lasting and alternating labels told apart."""

import numpy as np
import pytest

from stepsmooth.line.independence import TOLD_BY, block_ratio, is_independent


def test_the_ratio_of_blocks_to_points_by_hand():
    y = np.array([0.0, 2.0, 4.0, 4.0, 1.0])[:, None]  # blocks (1, 4), one point left over; steps 2, 2, 0, -3
    assert block_ratio(y, 2) == pytest.approx(2.0 * 9.0 / (17.0 / 4.0))
    assert block_ratio(y, 1) == pytest.approx(1.0)


def test_channels_add_up_and_constant_data_have_no_ratio():
    y = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 7.0], [4.0, 5.0]])  # blocks (1, 1), (4, 6); steps 4, 40, 4
    assert block_ratio(y, 2) == pytest.approx(2.0 * 34.0 / (48.0 / 3.0))
    assert block_ratio(np.ones((8, 1)), 2) == 0.0


def labels(n=4000, seed=0):
    return np.random.default_rng(seed).integers(2, size=(n, 1)) + 0.0


@pytest.mark.parametrize("seed", range(4))
def test_independent_labels_on_a_slow_f_are_independent(seed):
    assert is_independent(labels(seed=seed) + np.sin(np.arange(4000) / 2000.0)[:, None])


def test_labels_that_last_are_not():
    assert not is_independent(labels(100).repeat(40, axis=0))


def test_labels_that_alternate_are_not():
    assert not is_independent(np.arange(4000)[:, None] % 2 + 0.1 * labels())


@pytest.mark.parametrize("n, independent", [(2_000, True), (200_000, False)])
def test_what_few_points_cannot_tell_many_can(n, independent):
    # A point that leans a little on its neighbour: five per cent between blocks of two.
    e = np.random.default_rng(0).normal(size=(n + 1, 1))
    assert is_independent(e[1:] + 0.03 * e[:-1]) == independent


@pytest.mark.parametrize("seed", range(3))
def test_short_blocks_do_not_take_a_wave_for_labels_that_last(seed):
    y = labels(seed=seed) + np.sin(np.arange(4000) / 150.0)[:, None]
    assert not is_independent(y)
    assert is_independent(y, TOLD_BY[:-1])
    assert not is_independent(labels(100).repeat(40, axis=0), TOLD_BY[:-1])
