"""Labels cut from a uniform source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from stepsmooth.datasets import make_self_mixing


def constant(*cuts):
    return lambda x: np.tile(cuts, (len(x), 1))


def test_without_cutoffs_the_labels_are_uniform():
    counts = np.bincount(make_self_mixing(20000, 5, random_state=0).labels, minlength=5)
    assert chisquare(counts).pvalue > 1e-3


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n_levels=st.integers(1, 9))
def test_equal_cutoffs_give_the_labels_of_the_papers_floor(seed, n_levels):
    equal = constant(*(np.arange(1, n_levels) / n_levels))
    floor, cut = (make_self_mixing(40, n_levels, cutoffs=c, random_state=seed) for c in (None, equal))
    np.testing.assert_array_equal(floor.labels, cut.labels)


def test_a_label_is_as_frequent_as_its_part_of_the_unit_interval_is_long():
    labels = make_self_mixing(20000, 3, cutoffs=constant(0.2, 0.3), random_state=0).labels
    assert chisquare(np.bincount(labels), 20000 * np.array([0.2, 0.1, 0.7])).pvalue > 1e-3


def test_cutoffs_that_depend_on_x_move_the_frequencies_with_x():
    s = make_self_mixing(20000, 2, cutoffs=lambda x: 0.05 + 0.9 * x[:, None], random_state=0)
    upper = s.labels.reshape(10, -1).mean(axis=1)
    np.testing.assert_allclose(upper, 0.95 - 0.9 * s.x.reshape(10, -1).mean(axis=1), atol=4 / np.sqrt(4 * 2000))


def test_moving_a_cutoff_up_moves_no_label_up():
    low, high = (make_self_mixing(500, 2, cutoffs=constant(c), random_state=0).labels for c in (0.3, 0.6))
    assert np.all(high <= low)


def test_cutoffs_cannot_change_the_points():
    def spoil(x):
        x[:] = 0.5
        return x[:, None]

    np.testing.assert_allclose(make_self_mixing(4, 2, cutoffs=spoil).x, [0.25, 0.5, 0.75, 1.0])


@pytest.mark.parametrize("cuts", [(0.5, 0.5), (0.6, 0.4), (0.0, 0.5), (0.5, 1.0), (0.5, np.nan), (-1, 0.5)])
def test_cutoffs_that_do_not_increase_inside_the_unit_interval_are_refused_with_the_place(cuts):
    with pytest.raises(ValueError, match=r"^cutoffs must .*strictly increasing; found \[.*\] at x = 0.1\.$"):
        make_self_mixing(10, 3, cutoffs=constant(*cuts))


def test_the_first_bad_point_is_the_one_named():
    with pytest.raises(ValueError, match=r"at x = 0.7\."):
        make_self_mixing(10, 2, cutoffs=lambda x: 0.4 + 0.9 * x[:, None])


def test_cutoffs_of_the_wrong_shape_are_refused_with_both_shapes():
    with pytest.raises(ValueError, match=r"shape \(10, 2\); found shape \(10, 1\)"):
        make_self_mixing(10, 3, cutoffs=constant(0.5))


def test_cutoffs_that_are_not_a_function_are_refused():
    with pytest.raises(TypeError, match="cutoffs must be None or a function of the points x; found list"):
        make_self_mixing(10, 3, cutoffs=[0.3, 0.6])
