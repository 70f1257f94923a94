"""Probabilities are calibrated when they are the frequencies of being right."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.metrics import calibration_error
from stepsmooth.metrics.calibration import calibration_bins, pooled_error

seeds = st.integers(0, 10**6)


def drawn(seed, n=4000, m=3):
    """Give labels drawn from the probabilities beside them."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(m, 0.7), size=n)
    labels = (rng.random(n)[:, None] > np.cumsum(share, axis=1)).sum(axis=1)
    return np.minimum(labels, m - 1), share


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_labels_drawn_from_their_probabilities_are_calibrated_to_chance(seed):
    assert calibration_error(*drawn(seed)) < 0.05


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_overconfidence_is_an_error(seed):
    labels, share = drawn(seed)
    sure = np.eye(3)[share.argmax(axis=1)]
    assert calibration_error(labels, sure) == pytest.approx(np.mean(share.argmax(axis=1) != labels))


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(1, 20))
def test_the_error_is_the_gap_between_frequency_and_probability_averaged_over_points(seed, n_bins):
    labels, share = drawn(seed, n=200)
    largest, hit = share.max(axis=1), share.argmax(axis=1) == labels
    edges = np.linspace(0, 1, n_bins + 1)
    inside = [(largest >= low) & ((largest < high) | (high == 1)) for low, high in pairwise(edges)]
    gaps = [own.sum() * abs(largest[own].mean() - hit[own].mean()) for own in inside if own.any()]
    assert calibration_error(labels, share, n_bins=n_bins) == pytest.approx(sum(gaps) / 200)


def test_bins_of_several_datasets_add_up_to_those_of_all_points():
    one, other = drawn(0, n=50), drawn(1, n=90)
    together = calibration_error(*(np.concatenate(pair) for pair in zip(one, other)))
    assert pooled_error(calibration_bins(*one) + calibration_bins(*other)) == pytest.approx(together)


def test_certain_and_right_is_no_error_and_certain_and_wrong_is_all_of_it():
    assert calibration_error([0, 1], np.eye(2)) == 0.0
    assert calibration_error([1, 0], np.eye(2)) == 1.0


@pytest.mark.parametrize(
    ("labels", "share", "message"),
    [
        ([0], [[0.5, 0.5]] * 2, "one label per row"),
        ([0], [[0.5, 0.6]], "sum to 1; found the row"),
        ([0], [[-0.5, 1.5]], "at least 0"),
        ([0], [[np.nan, 1.0]], "must be finite"),
    ],
)
def test_what_is_no_distribution_is_refused(labels, share, message):
    with pytest.raises(ValueError, match=message):
        calibration_error(labels, share)


def test_at_least_one_bin_is_needed():
    with pytest.raises(ValueError, match="n_bins must be at least 1; found 0"):
        calibration_error([0], [[1.0]], n_bins=0)
