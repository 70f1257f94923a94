"""Where the search begins: degrees of freedom, ladders and jumps, by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth.altmin import Problem, altmin
from stepsmooth.line import starts as s
from stepsmooth.line.chain import Signal
from stepsmooth.model.levels import FreeLevels


def signal_of(n=60, p=1, seed=0, **more):
    rng = np.random.default_rng(seed)
    x = np.linspace(0.0, 1.0, n)
    Y = np.sin(5.0 * x)[:, None] + 2.0 * rng.integers(2, size=n)[:, None] + 0.1 * rng.normal(size=(n, p))
    return Signal(x, Y, np.ones(n), **more)


def dofs(signal, taus):
    return [signal.smoother.trace(tau / signal.Y.shape[1]) for tau in taus]


@pytest.mark.parametrize("p", [1, 2])
def test_taus_have_the_degrees_of_freedom_that_the_points_allow(p):
    signal = signal_of(20, p)
    # At most 0.6 * 20 from the list, which begins above the free line; shares of 20 besides.
    assert_allclose(dofs(signal, s._taus(signal, (2.0, 3.0, 11.0, 12.5), (0.05, 0.8))), [3.0, 11.0, 16.0], rtol=1e-3)


def test_where_no_degrees_of_freedom_fit_the_middle_is_taken():
    signal = signal_of(4)
    assert_allclose(dofs(signal, s._taus(signal, (3.0, 6.0), ())), [3.0], rtol=1e-3)


def test_a_tau_that_is_given_is_the_only_one_and_a_line_needs_none():
    assert s._taus(signal_of(tau=0.7), s.DOFS, s.ROUGH) == [0.7]
    assert s._taus(signal_of(2), s.DOFS, s.ROUGH) == [1.0]
    assert len(s._taus(signal_of(3), s.DOFS, ())) == 1
    assert_allclose(dofs(signal_of(3), s._taus(signal_of(3), s.DOFS, ())), [2.5], rtol=1e-3)


def test_jumps_are_differences_of_neighbouring_windows_and_their_halves():
    y = np.repeat([0.0, 4.0, 3.0], 20)
    got = s._jumps(y)
    assert_allclose(got[:2], [4.0, 2.0])
    # Next to the jump windows overlap it by 1 to 4 points of 5: fifths of it; near the second one as well.
    assert_allclose(got[2::2], [3.2, 2.4, 1.6], rtol=1e-9)
    assert_allclose(got[3::2], np.array(got[2::2]) / 2.0)
    assert_allclose(s._jumps(y, most=2), [4.0, 2.0, 3.2, 1.6])


def test_a_signal_shorter_than_four_windows_has_no_jumps():
    assert s._jumps(np.arange(19.0)) == []
    assert s._jumps(np.arange(20.0))[:2] == pytest.approx([5.0, 2.5])


@pytest.mark.parametrize("n_levels, count", [(3, 8), (4, 8), (5, 18)])
def test_ladders_have_gaps_from_a_quarter_of_the_range_to_all_of_it_and_those_of_jumps(n_levels, count):
    y = np.repeat([0.0, 4.0], 20)
    signal = Signal(np.arange(40.0), y[:, None], np.ones(40))
    found = s._ladders(signal, n_levels)
    widest = 4.0 / (n_levels - 1)
    expected = [*np.geomspace(0.25 * widest, widest, count), *s._jumps(y)]
    assert_allclose([gap for _, gap in found], expected)
    for ladder, gap in found:
        assert ladder.shape == (n_levels, 1)
        assert_allclose(np.diff(ladder[:, 0]), gap)
        assert ladder.mean() == pytest.approx(2.0)


def test_jumps_that_are_none_make_no_ladder():
    y = np.append(np.zeros(39), 1.0)  # all windows but the last are alike
    signal = Signal(np.arange(40.0), y[:, None], np.ones(40))
    assert min(s._jumps(y)) == 0.0
    assert min(gap for _, gap in s._ladders(signal, 2)) > 1e-6


def test_the_nearest_ladder_is_the_least_squares_line_of_each_channel():
    levels = np.random.default_rng(0).normal(size=(4, 2))
    rungs = np.arange(4.0)
    fitted = np.column_stack([np.polyval(np.polyfit(rungs, column, 1), rungs) for column in levels.T])
    assert_allclose(s._as_ladder(levels), fitted)
    assert_allclose(s._as_ladder(levels[:1]), levels[:1])


@pytest.mark.parametrize("p", [1, 2])
def test_altmin_starts_are_its_levels_in_order_and_its_noise_a_degree_of_freedom(p):
    signal, tau = signal_of(p=p), 1e-3
    found = s._from_altmin(signal, 2, [tau])
    problem = Problem(signal.Y, signal.smoother, FreeLevels(2))
    for (levels, at, noise), start in zip(found, ("smooth", "kmeans"), strict=True):
        fit = altmin(problem, tau, start=start, max_iter=30)
        assert at == tau
        assert_allclose(levels, fit.levels[np.argsort(fit.levels[:, 0])])
        error = signal.Y - fit.levels[fit.labels] - fit.smooth
        size = 60 * p - signal.smoother.trace(tau / p) - 2 * p
        assert noise == pytest.approx(np.sum(error**2) / size)


def test_noise_of_a_start_is_a_millionth_of_the_variance_at_least():
    x = np.linspace(0.0, 1.0, 30)
    signal = Signal(x, x[:, None], np.ones(30))
    ((_, _, noise), *_) = s._from_altmin(signal, 1, [1e-3])
    assert noise == pytest.approx(1e-6 * signal.variance)


def test_a_run_that_lost_a_level_is_no_start():
    signal = Signal(np.arange(6.0), np.array([0.0, 1.0] * 3)[:, None], np.ones(6))
    runs = [altmin(Problem(signal.Y, signal.smoother, FreeLevels(5)), 1e6, start=by) for by in ("smooth", "kmeans")]
    assert sorted(len(run.levels) for run in runs)[0] < 5
    assert [len(levels) for levels, _, _ in s._from_altmin(signal, 5, [1e6])] == [5]


@pytest.mark.parametrize("structure", ["known", "shifted"])
def test_known_levels_start_as_they_are_or_about_the_centre_of_y(structure):
    signal, known = signal_of(), np.array([[1.0], [2.0], [4.0]])
    found = s.starts(signal, 3, structure, known)
    shift = 0.0 if structure == "known" else signal.centre - 7.0 / 3.0
    taus = s._taus(signal, s.DOFS, s.ROUGH)
    assert len(found) == 3 * len(taus)
    for theta, (tau, ratio) in zip(found, [(tau, r) for tau in taus for r in s.NOISE_TO_GAP]):
        assert_allclose(theta.levels, known + shift)
        assert theta.tau == tau
        assert theta.noise == pytest.approx(ratio**2)  # the smallest gap is 1
        assert_allclose(theta.proportions, 1.0 / 3.0)
        assert (theta.transition, theta.start, theta.ratio) == (None, None, None)


def test_one_known_level_takes_the_spread_of_y_for_a_gap():
    signal = signal_of()
    found = s.starts(signal, 1, "known", np.array([[1.0]]))
    assert found[0].noise == pytest.approx(s.NOISE_TO_GAP[0] ** 2 * signal.variance)


@pytest.mark.parametrize("n, rough", [(60, 2), (500, 0)])
def test_free_levels_start_from_altmin_and_from_ladders(n, rough):
    signal = signal_of(n)
    found = s.starts(signal, 2, "free", None)
    taus = s._taus(signal, s.LADDER_DOFS, s.ROUGH[:rough])
    ladders = s._ladders(signal, 2)
    own = s._from_altmin(signal, 2, s._taus(signal, s.DOFS, ()))
    assert len(found) == len(own) + 3 * len(taus) * len(ladders)
    for theta, (levels, tau, noise) in zip(found, own):
        assert_array_equal(theta.levels, levels)
        assert (theta.tau, theta.noise) == (tau, noise)
    expected = [(ladder, tau, (r * gap) ** 2) for ladder, gap in ladders for tau in taus for r in s.NOISE_TO_GAP]
    for theta, (ladder, tau, noise) in zip(found[len(own) :], expected, strict=True):
        assert_array_equal(theta.levels, ladder)
        assert (theta.tau, theta.noise) == (tau, noise)
        assert_allclose(theta.proportions, 0.5)


def test_one_level_and_several_channels_start_from_altmin_alone():
    for signal, n_levels in ((signal_of(30), 1), (signal_of(30, p=2), 2)):
        found = s.starts(signal, n_levels, "free", None)
        assert len(found) == len(s._from_altmin(signal, n_levels, s._taus(signal, s.DOFS, ())))


def test_a_ladder_starts_from_ladders():
    found = s.starts(signal_of(30), 3, "ladder", None)
    assert_allclose([np.diff(theta.levels[:, 0], 2) for theta in found], 0.0, atol=1e-12)
