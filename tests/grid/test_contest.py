"""The contest of stiffnesses, on scores that are given: who beats whom, and how many folds that takes."""

import numpy as np
import pytest

from stepsmooth.grid import contest
from stepsmooth.grid.contest import Contest
from stepsmooth.grid.scored_voxels import ScoredVoxels

N = 10  # cubes, two in each fold


def folds_of(cubes):
    return np.arange(cubes) % 5


@pytest.fixture
def ring(monkeypatch):
    """A contest in which a fit is its table of scores, and the folds that were scored."""
    scored = []

    def scores(blocks, fit, voxels, side, folds):
        scored.append(folds)
        return np.where(np.isin(folds_of(N), folds), fit, np.nan)

    monkeypatch.setattr(contest, "held_out_score", scores)
    cubes = np.arange(N)
    none = np.zeros((N, 1))
    voxels = ScoredVoxels(none, np.ones(N), cubes, [], cubes, folds_of(N), 1.0, none)
    return Contest("blocks", voxels, 20.0), scored


def test_a_plain_difference_takes_two_folds_and_is_told(ring):
    match, scored = ring
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, N)
    assert match.best == 0
    assert not match.enter(np.inf, np.zeros(N))  # it beats itself by nothing
    assert match.enter(60.0, np.ones(N) + noise)
    assert not match.enter(40.0, np.full(N, -1.0) + 2.0 * noise)
    assert scored == [(0, 1)] * 3
    assert match.complete == [False] * 3
    assert match.best == 1
    assert match.knots == [np.inf, 60.0, 40.0]
    curve = match.curve()
    assert curve.chosen == 1
    seen = np.isin(folds_of(N), (0, 1))
    np.testing.assert_allclose(curve.score[1], (1.0 + noise)[seen].mean())
    np.testing.assert_allclose(curve.behind[0], (1.0 + noise)[seen].mean())
    assert scored == [(0, 1)] * 3


def test_an_open_difference_takes_all_folds_of_both(ring):
    match, scored = ring
    match.enter(np.inf, np.zeros(N))
    close = np.where(folds_of(N) < 2, np.tile([0.9, -1.0], N // 2), 5.0)
    assert match.enter(60.0, close)
    assert scored == [(0, 1), (0, 1), (2, 3, 4), (2, 3, 4)]
    assert match.complete == [True, True]
    np.testing.assert_array_equal(match.totals[0], np.zeros(N))
    np.testing.assert_array_equal(match.totals[1], close)
    match.enter(40.0, close)  # those that are complete are not scored again
    assert scored[4:] == [(0, 1), (2, 3, 4)]


def test_who_is_behind_by_more_than_the_error_on_the_first_folds_is_out(ring):
    match, scored = ring
    match.enter(np.inf, np.zeros(N))
    slightly = np.where(folds_of(N) < 2, np.tile([-0.1, -0.3], N // 2), 5.0)
    assert not match.enter(60.0, slightly)
    assert scored == [(0, 1), (0, 1)]
    assert match.best == 0


def test_ahead_by_less_than_the_error_is_not_better(ring):
    match, _ = ring
    match.enter(np.inf, np.zeros(N))
    noise = np.tile([1.0, -1.0], N // 2)
    assert not match.enter(60.0, 0.1 + noise)
    assert match.best == 1
    assert match.curve().chosen == 0


def test_a_field_is_told_from_a_stiffer_one_by_less_than_from_none(ring):
    match, _ = ring
    noise = np.tile([1.0, -1.0], N // 2)
    ahead = 0.7 / np.sqrt(N - 1)  # .7 standard errors
    match.enter(np.inf, np.zeros(N))
    match.enter(60.0, 9.0 + 0.1 * noise)
    match.enter(40.0, 9.0 + 0.1 * noise + ahead + noise)
    curve = match.curve()
    np.testing.assert_allclose(curve.behind[1] / curve.error[1], 0.7)
    assert curve.chosen == 2
    match.totals[1] = match.totals[2] - 0.4 / np.sqrt(N - 1) - noise
    assert match.curve().chosen == 1


def test_the_curve_compares_every_stiffer_candidate_with_the_best_on_as_many_folds_as_it_takes(ring):
    match, scored = ring
    noise = np.tile([1.0, -1.0, 1.0, -1.0, 0.0], N // 5) * np.repeat([1.0, -1.0], N // 2)
    match.enter(np.inf, np.zeros(N))
    match.enter(60.0, np.full(N, 5.0))
    match.enter(40.0, np.full(N, 9.1))
    # Far ahead of the others at once; the second is as good where it was not scored yet.
    match.totals[1] = np.where(np.isnan(match.totals[1]), np.nan, 9.0 + noise)
    match.fits[1] = 9.0 + noise
    before = len(scored)
    curve = match.curve()
    assert scored[before:] == [(2, 3, 4), (2, 3, 4)]
    assert match.complete == [False, True, True]
    assert curve.chosen == 1


def test_an_image_within_one_cube_has_no_curve(ring):
    match, _ = ring
    match.enter(np.inf, np.full(N, np.nan))
    match.enter(60.0, np.full(N, np.nan))
    assert match.curve() is None
