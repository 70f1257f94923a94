"""Checks that every way in for a signal passes, with the answer that arrays have."""

import numpy as np
import pytest
from answers import RefusedError, alike, pairs
from signal_doors import ATOL, DOORS

RNG = np.random.default_rng(0)
N = 40
X = np.sort(RNG.uniform(0.0, 10.0, N))
LABELS = RNG.permutation(np.arange(N) % 2)
Y = np.sin(X) + 3.0 * LABELS + 0.1 * RNG.normal(size=N)
SETTLED = {"solver": "altmin"}
FEW = 20  # for the joint solver, which takes longer


def joint_labels_are_found(fit):
    np.testing.assert_array_equal(fit(X[:FEW], Y[:FEW], label_prior="uniform").labels, LABELS[:FEW])


def altmin_labels_are_found(fit):
    np.testing.assert_array_equal(fit(X, Y, **SETTLED).labels, LABELS)


def lasting_labels_are_found(fit):
    lasting = (np.arange(N) // 10) % 2
    found = fit(X, Y + 3.0 * (lasting - LABELS), solver="joint", label_prior="markov")
    np.testing.assert_array_equal(found.labels, lasting)


def levels_ascend(fit):
    levels = fit(X, Y, n_levels=3, **SETTLED).levels
    assert np.all(np.diff(levels) > 0.0)


def f_has_mean_zero(fit):
    assert np.mean(fit(X, Y, **SETTLED).smooth) == pytest.approx(0.0, abs=1e-9)


def probabilities_add_up(fit):
    found = fit(X, Y, **SETTLED).probabilities
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


def a_missing_y_has_a_smooth_part_and_no_label(fit):
    found = fit(X, np.where(np.arange(N) == 7, np.nan, Y), **SETTLED)
    assert found.labels[7] == -1
    assert np.all(np.isfinite(found.smooth))


def a_weight_of_zero_is_absent(fit):
    spoilt = np.where(np.arange(N) == 7, 1e3, Y)
    found = fit(X, spoilt, weights=(np.arange(N) != 7).astype(float), **SETTLED)
    assert found.levels.max() < 10.0


def weights_are_frequencies_in_altmin(fit):
    times = 1.0 + np.arange(N) % 3
    weighted, repeated = fit(X, Y, weights=times, **SETTLED), np.repeat(np.arange(N), times.astype(int))
    np.testing.assert_allclose(weighted.levels, fit(X[repeated], Y[repeated], **SETTLED).levels, atol=1e-5)


def channels_share_one_f(fit):
    found = fit(X, np.column_stack([Y, Y + 3.0 * LABELS]), **SETTLED)
    assert found.levels.shape == (2, 2)
    assert found.smooth.shape == (N,)


def rows_may_come_in_any_order(fit):
    order = np.random.default_rng(1).permutation(N)
    np.testing.assert_array_equal(fit(X[order], Y[order], **SETTLED).labels, LABELS[order])


def x_may_repeat(fit):
    found = fit(np.round(X), Y, **SETTLED)
    assert np.all(np.isfinite(found.smooth))


def a_second_fit_is_the_same(fit):
    alike(fit(X, Y, **SETTLED), fit(X, Y, **SETTLED), 0.0)


def whole_numbers_are_taken(fit):
    np.testing.assert_array_equal(fit(np.arange(N, dtype=float), np.round(10.0 * Y), **SETTLED).labels, LABELS)


def a_shift_of_y_shifts_the_levels(fit):
    np.testing.assert_allclose(fit(X, Y + 50.0, **SETTLED).levels, fit(X, Y, **SETTLED).levels + 50.0, atol=1e-6)


def one_level_is_a_smoother(fit):
    found = fit(X, Y, n_levels=1, **SETTLED)
    assert set(found.labels) == {0}


def a_ladder_has_equal_gaps(fit):
    levels = fit(X[:FEW], Y[:FEW], n_levels=3, levels="ladder", label_prior="uniform").levels
    assert np.diff(levels, 2) == pytest.approx(0.0, abs=1e-9)


def the_number_of_levels_can_be_chosen(fit):
    assert len(fit(X, Y, n_levels="auto", **SETTLED).levels) == 2


def fewer_distinct_values_than_levels_are_said(fit):
    found = fit(X, LABELS.astype(float), n_levels=3, **SETTLED)
    assert len(found.levels) == 2
    assert any("supports only 2" in words for words in found.said)


def more_levels_than_rows_are_refused(fit):
    with pytest.raises(RefusedError, match="needs at least 5 point"):
        fit(X[:3], Y[:3], n_levels=5, **SETTLED)


def infinity_in_y_is_refused(fit):
    with pytest.raises(RefusedError, match="infinity"):
        fit(X, np.where(np.arange(N) == 3, np.inf, Y))


def a_missing_x_is_refused(fit):
    with pytest.raises(RefusedError, match=r"NaN|has no number"):
        fit(np.where(np.arange(N) == 3, np.nan, X), Y)


def a_negative_weight_is_refused(fit):
    with pytest.raises(RefusedError, match="weight"):
        fit(X, Y, weights=np.where(np.arange(N) == 3, -1.0, 1.0))


def a_y_that_is_all_missing_is_refused(fit):
    with pytest.raises(RefusedError, match=r"no numbers|needs at least|with a y"):
        fit(X, np.full(N, np.nan))


def a_prior_that_the_solver_does_not_have_is_refused(fit):
    with pytest.raises(RefusedError, match=r"altmin, which takes all labels|altmin', which takes all labels"):
        fit(X, Y, solver="altmin", label_prior="markov")


CHECKS = [
    joint_labels_are_found,
    altmin_labels_are_found,
    lasting_labels_are_found,
    levels_ascend,
    f_has_mean_zero,
    probabilities_add_up,
    a_missing_y_has_a_smooth_part_and_no_label,
    a_weight_of_zero_is_absent,
    weights_are_frequencies_in_altmin,
    channels_share_one_f,
    rows_may_come_in_any_order,
    x_may_repeat,
    a_second_fit_is_the_same,
    whole_numbers_are_taken,
    a_shift_of_y_shifts_the_levels,
    one_level_is_a_smoother,
    a_ladder_has_equal_gaps,
    the_number_of_levels_can_be_chosen,
    fewer_distinct_values_than_levels_are_said,
    more_levels_than_rows_are_refused,
    infinity_in_y_is_refused,
    a_missing_x_is_refused,
    a_negative_weight_is_refused,
    a_y_that_is_all_missing_is_refused,
    a_prior_that_the_solver_does_not_have_is_refused,
]


@pytest.mark.parametrize("check, door", pairs(CHECKS, DOORS))
def test_signal(check, door, tmp_path, expected):
    def fit(x, y, **options):
        kept, key = (x.copy(), y.copy()), (x.tobytes(), y.tobytes(), str(options))
        found = DOORS[door](tmp_path, x, y, **options)
        for array, before in zip((x, y), kept):
            np.testing.assert_array_equal(array, before)
        if key not in expected:
            expected[key] = found if door == "array" else DOORS["array"](tmp_path, x, y, **options)
        alike(expected[key], found, ATOL)
        return found

    check(fit)
