"""A signal that is permuted, shifted, scaled, turned over or mirrored has its answer moved alike."""

import numpy as np
import pytest
from cases import LINE_ALTMIN, LINE_JOINT, SEEDS, cloud, named, share, signal
from hypothesis import assume, example, given
from hypothesis import strategies as st

from stepsmooth import StepSmooth


def permuted(rng, X, y, m):
    order = rng.permutation(len(y))
    return (X[order], y[order]), (m.labels_[order], m.smooth_[order], m.levels_)


def shifted(rng, X, y, m):
    by = rng.uniform(-100.0, 100.0)
    return (X, y + by), (m.labels_, m.smooth_, m.levels_ + by)


def scaled(rng, X, y, m):
    by = 10.0 ** rng.uniform(-3.0, 3.0)
    return (X, by * y), (m.labels_, by * m.smooth_, by * m.levels_)


def turned_over(rng, X, y, m):
    order = np.lexsort(-np.atleast_2d(m.levels_.T)[::-1])
    return (X, -y), (np.argsort(order)[m.labels_], -m.smooth_, -m.levels_[order])


def channels_swapped(rng, X, y, m):
    order = np.argsort(m.levels_[:, ::-1][:, 0])
    return (X, y[:, ::-1]), (np.argsort(order)[m.labels_], m.smooth_, m.levels_[order, ::-1])


def mirrored(rng, X, y, m):
    # Sobolev kernels live on [0, 1] if all points do, else on their range: the mirror stands in its middle.
    inside = X.min() >= 0.0 and X.max() <= 1.0
    middle = 0.5 if inside else (X.min(axis=0) + X.max(axis=0)) / 2.0
    return (2.0 * middle - X, y), (m.labels_, m.smooth_, m.levels_)


EXACT = pytest.mark.parametrize("move", [permuted, shifted, scaled, turned_over, channels_swapped])


def check(rng, X, y, params, move, atol=1e-6):
    """Fit both, and compare; tolerances are in units of y."""
    m = StepSmooth(2, random_state=0, **params).fit(X, y)
    (moved_X, moved_y), (labels, smooth, levels) = move(rng, X, y, m)
    other = StepSmooth(2, random_state=0, **params).fit(moved_X, moved_y)
    unit = np.ptp(moved_y) / np.ptp(y)
    np.testing.assert_array_equal(other.labels_, labels)
    np.testing.assert_allclose(other.smooth_, smooth, atol=atol * unit)
    np.testing.assert_allclose(other.levels_, levels, atol=atol * unit)
    np.testing.assert_allclose(other.noise_variance_, unit**2 * m.noise_variance_, rtol=max(100.0 * atol, 1e-3))
    return m, other


def drawn(seed, move):
    X, y, _ = signal(seed, channels=2 if move is channels_swapped else None)
    return np.random.default_rng(seed), X, y


@EXACT
@given(seed=SEEDS, way=named(LINE_ALTMIN))
@share(0.1)
def test_altmin(move, seed, way):
    m, other = check(*drawn(seed, move), LINE_ALTMIN[way], move)
    assert other.tau_ == pytest.approx(m.tau_)


@EXACT
@given(seed=SEEDS, way=named(LINE_JOINT))
@share(0.025)
def test_joint(move, seed, way):
    """Levels are searched in the order of the first channel: with another, f agrees to a tenth of the noise."""
    check(*drawn(seed, move), LINE_JOINT[way], move, atol=0.01 if move is channels_swapped else 1e-6)


@pytest.mark.parametrize("move", [permuted, shifted, scaled, turned_over, mirrored])
@given(seed=SEEDS)
@share(0.1)
def test_points_in_a_plane(move, seed):
    X, y, _ = cloud(seed)
    check(np.random.default_rng(seed), X, y, {"kernel": LINE_ALTMIN["rbf"]["kernel"], "tau": 1e-3}, move)


@given(seed=SEEDS, way=named({k: v for k, v in LINE_ALTMIN.items() if "min" not in k}))
@example(seed=4094675, way="sobolev1")
@share(0.2)
def test_altmin_from_right_to_left(seed, way):
    check(*drawn(seed, mirrored), LINE_ALTMIN[way], mirrored)


@given(seed=SEEDS, way=named({"joint, markov", "joint"}))
@example(seed=4177, way="joint")
@share(0.05)
def test_joint_from_right_to_left(seed, way):
    """The beam runs along x and prunes on its way: the levels agree to a third of the noise, the labels exactly."""
    check(*drawn(seed, mirrored), LINE_JOINT[way], mirrored, atol=0.03)


@pytest.mark.parametrize("kernel, power", [("min", 1), ("spline", 3)])
@given(seed=SEEDS, log_unit=st.floats(-6, 6))
@share(0.1)
def test_the_unit_of_x_does_not_matter_where_tau_is_chosen(kernel, power, seed, log_unit):
    X, y, _ = signal(seed, n=40)
    unit = 10.0**log_unit
    one, other = (StepSmooth(2, kernel=kernel, solver="altmin").fit(s * X, y) for s in (1.0, unit))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    if other.tau_ == pytest.approx(unit**power * one.tau_, rel=1e-2):
        np.testing.assert_allclose(other.smooth_, one.smooth_, atol=1e-2)
    else:  # two candidates that are equally good
        best = np.sort(one.selection_["tau"]["criterion"])
        assert best[1] == pytest.approx(best[0], rel=1e-3)


@given(seed=SEEDS, by=st.floats(-50, 50))
@share(0.1)
def test_known_levels_with_a_free_shift_move_with_y(seed, by):
    X, y, _ = signal(seed)
    assume(np.ptp(y) > 1.0)
    params = {"kernel": "min", "levels": [0.0, 2.0], "free_shift": True, "tau": 1e-4, "solver": "altmin"}
    one, other = (StepSmooth(**params).fit(X, y + b) for b in (0.0, by))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.smooth_, one.smooth_, atol=1e-6)
    np.testing.assert_allclose(other.levels_, one.levels_ + by, atol=1e-6)
