"""The criteria at their ends: too few points for any tau, an exact fit, fewer points than folds."""

from dataclasses import replace

import numpy as np
import pytest

from stepsmooth.altmin import Problem, altmin
from stepsmooth.altmin.selection import cross_validate, gcv, reml
from stepsmooth.line import LineSmoother
from stepsmooth.model import FreeLevels


def problem(n, p=1, per_channel=False, n_levels=2):
    x = np.arange(1, n + 1) / n
    Y = np.column_stack([(c + 1.0) * (np.arange(n) % 2) + np.sin(3.0 * x) for c in range(p)])

    def without(held_out):
        keep = np.setdiff1d(np.arange(n), held_out)
        return Problem(Y[keep], LineSmoother(x[keep], order=1), FreeLevels(n_levels), per_channel), x[held_out]

    return Problem(Y, LineSmoother(x, order=1), FreeLevels(n_levels), per_channel, without)


def test_as_many_parameters_as_points_are_never_the_best():
    two = problem(2)
    fit = altmin(two, 1e-9, start=np.array([0, 1]))
    assert gcv(two, fit) == np.inf
    assert reml(two, fit) == np.inf


def test_an_exact_fit_is_the_best_that_restricted_likelihood_knows():
    some = problem(12)
    exact = replace(altmin(some, 1e-3), objective=0.0)
    assert reml(some, exact) == -np.inf


def test_fewer_points_than_folds_are_each_left_out_once():
    few = problem(4)
    assert np.all(np.isfinite(cross_validate(few, np.array([1e-3, 1.0]), altmin)))


def test_channels_with_fields_of_their_own_are_predicted_one_by_one():
    both = problem(10, p=2, per_channel=True)
    new = np.array([0.15, 0.55])
    together = both.smooth_at(new, both.Y, 0.01)
    apart = [both.smoother.at(new, both.Y[:, c], 0.01) for c in range(2)]
    np.testing.assert_allclose(together, np.column_stack(apart), rtol=1e-12)


def test_cross_validation_without_a_way_to_leave_points_out_is_a_sentence():
    with pytest.raises(ValueError, match="cross-validation needs a problem that can leave points out"):
        cross_validate(replace(problem(6), without=None), np.array([1.0]), altmin)
