"""The joint solver through the estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from stepsmooth import StepSmooth
from stepsmooth.datasets import make_markov_steps, make_sine_steps


def _fit(data, n_levels=3, **params):
    return StepSmooth(n_levels, solver="joint", **params).fit(data.X, data.y)


@pytest.mark.parametrize("n_levels, beta", [(2, 1.0), (2, 2.0), (3, 2.0), (3, 3.0)])
@pytest.mark.parametrize("seed", [11, 12])
def test_36_points_without_noise_are_enough_for_every_label(n_levels, beta, seed):
    data = make_sine_steps(36, n_levels, beta, random_state=seed)
    assert_array_equal(_fit(data, n_levels).labels_, data.labels)


@pytest.mark.parametrize("seed", [21, 22])
def test_lasting_labels_are_found_and_known_for_a_chain(seed):
    data = make_markov_steps(300, 2, 2.0, switching=0.05, noise_variance=0.05, random_state=seed)
    m = _fit(data, 2)
    assert np.mean(m.labels_ == data.labels) > 0.97
    assert m.label_prior_ == "markov"
    assert_allclose(m.transition_matrix_.sum(axis=1), 1.0)
    assert 0.01 < 1 - np.diag(m.transition_matrix_).mean() < 0.15


def test_independent_labels_are_not_taken_for_a_chain():
    data = make_sine_steps(200, 2, 2.0, noise_variance=0.05, random_state=3)
    m = _fit(data, 2)
    assert m.label_prior_ != "markov"
    assert set(m.selection_["label_prior"]["score"]) == {"uniform", "proportions", "markov"}


def test_a_ladder_has_equal_gaps():
    data = make_sine_steps(150, 3, 2.0, noise_variance=0.02, random_state=4)
    m = _fit(data, levels="ladder", label_prior="uniform")
    assert_allclose(np.diff(m.levels_, 2), 0.0, atol=1e-10)
    assert np.mean(m.labels_ == data.labels) > 0.97


def test_known_levels_stay_and_f_is_not_centred():
    data = make_sine_steps(150, 3, 2.0, noise_variance=0.02, random_state=5)
    m = StepSmooth(solver="joint", levels=[-1.0, 0.0, 1.0], label_prior="uniform").fit(data.X, data.y)
    assert_array_equal(m.levels_, [-1.0, 0.0, 1.0])
    assert np.mean(m.labels_ == data.labels) > 0.97


def test_the_order_of_the_points_does_not_matter():
    data = make_sine_steps(80, 2, 1.0, noise_variance=0.05, random_state=6)
    order = np.random.default_rng(0).permutation(80)
    m = _fit(data, 2, label_prior="uniform")
    shuffled = StepSmooth(2, solver="joint", label_prior="uniform").fit(data.X[order], data.y[order])
    assert_array_equal(shuffled.labels_, m.labels_[order])
    assert_array_equal(shuffled.smooth_, m.smooth_[order])


def test_weights_are_precisions_so_their_unit_does_not_matter():
    data = make_sine_steps(60, 2, 1.0, noise_variance=0.05, random_state=7)
    weights = np.where(np.arange(60) % 5 == 0, 2.0, 1.0)
    m = StepSmooth(2, solver="joint", label_prior="uniform").fit(data.X, data.y, weights)
    other = StepSmooth(2, solver="joint", label_prior="uniform").fit(data.X, data.y, 3.0 * weights)
    assert_allclose(m.levels_, other.levels_, rtol=1e-6)
    assert_allclose(m.smooth_, other.smooth_, atol=1e-6)
    assert_allclose(3.0 * m.noise_variance_, other.noise_variance_, rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
@pytest.mark.parametrize("free_shift", [False, True])
def test_known_levels_stand_an_offset_of_y(offset, free_shift):
    data = make_sine_steps(80, 3, 1.0, noise_variance=0.02, random_state=13)
    m = StepSmooth(solver="joint", levels=[-1.0, 0.0, 1.0], free_shift=free_shift, label_prior="uniform")
    m.fit(data.X, data.y + offset)
    assert np.mean(m.labels_ == data.labels) > 0.9


def test_a_ladder_stays_one_when_its_length_is_chosen():
    data = make_sine_steps(100, 3, 1.0, noise_variance=0.01, random_state=14)
    m = _fit(data, "auto", levels="ladder", label_prior="uniform")
    assert m.n_levels_ == 3
    assert_allclose(np.diff(m.levels_, 2), 0.0, atol=1e-10)


def test_a_simulated_chain_switches_as_often_as_the_fitted_one():
    data = make_markov_steps(300, 2, 1.0, switching=0.05, noise_variance=0.02, random_state=15)
    m = _fit(data, 2, label_prior="markov")
    expected = 299 * (1 - np.diag(m.transition_matrix_)).mean()
    switches = [np.count_nonzero(np.diff(m.simulate(seed)[1])) for seed in range(20)]
    assert 0.5 * expected < np.mean(switches) < 2.0 * expected


@pytest.mark.parametrize("solver", ["altmin", "joint"])
def test_dates_and_masks_get_a_sentence(solver):
    x, y = np.arange(20.0)[:, None], np.arange(20) % 2 + 0.0
    with pytest.raises(ValueError, match="X must be numbers, got dates"):
        StepSmooth(2, solver=solver).fit(np.arange(20).astype("datetime64[D]")[:, None], y)
    with pytest.raises(ValueError, match="y has masked entries"):
        StepSmooth(2, solver=solver).fit(x, np.ma.masked_array(y, mask=y > 0))
    with pytest.raises(ValueError, match="sample_weight must be numbers"):
        StepSmooth(2, solver=solver).fit(x, y, "balanced")


def test_a_shift_and_a_scale_of_y_shift_and_scale_the_levels():
    data = make_sine_steps(80, 2, 1.0, noise_variance=0.05, random_state=8)
    m = _fit(data, 2, label_prior="uniform")
    other = StepSmooth(2, solver="joint", label_prior="uniform").fit(data.X, 10.0 + 3.0 * data.y)
    assert_allclose(other.levels_, 10.0 + 3.0 * m.levels_, rtol=1e-4)
    assert np.mean(other.labels_ == m.labels_) > 0.97


def test_a_smooth_part_shared_by_channels():
    data = make_sine_steps(150, 3, 2.0, n_channels=2, noise_variance=0.05, random_state=9)
    m = _fit(data, label_prior="uniform")
    assert m.levels_.shape == (3, 2)
    assert np.mean(m.labels_ == data.labels) > 0.97


def test_prediction_interpolates_the_smooth_part_and_missing_points_get_one():
    data = make_sine_steps(120, 2, 1.0, noise_variance=0.02, random_state=10)
    y = data.y.copy()
    y[50] = np.nan
    m = StepSmooth(2, solver="joint", label_prior="uniform", missing="drop").fit(data.X, y)
    assert_allclose(m.predict(data.X), m.smooth_, atol=1e-10)
    assert m.labels_[50] == -1


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_a_handful_of_points_has_an_answer(n):
    m = StepSmooth(2, solver="joint").fit(np.arange(n, dtype=float)[:, None], np.arange(n) % 2 + 0.1 * np.arange(n))
    assert np.all(np.isfinite(m.levels_))
    assert np.all(np.isfinite(m.smooth_))


@pytest.mark.parametrize(
    "params, words",
    [
        ({"kernel": "rbf"}, "kernel='spline' or 'min'"),
        ({"field": "per_channel"}, "field='per_channel'"),
        ({"tau": "gcv"}, "own criterion"),
        ({"start": "kmeans"}, "own starts"),
        ({"n_levels": "cv"}, "n_levels='cv'"),
        ({"callback": print}, "callback"),
        ({"levels": "stairs"}, "levels must be None, 'ladder'"),
        ({"robust": 3}, "robust must be"),
    ],
)
def test_what_does_not_go_with_the_joint_solver_gets_a_sentence(params, words):
    data = make_sine_steps(20, 2, 1.0, random_state=0)
    with pytest.raises(ValueError, match=words):
        StepSmooth(**{"n_levels": 2, "solver": "joint", **params}).fit(data.X, data.y)


def test_points_in_a_plane_are_sent_to_altmin():
    with pytest.raises(ValueError, match="solver='altmin'"):
        StepSmooth(2, solver="joint").fit(np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2)


@pytest.mark.parametrize(
    "params",
    [
        {"tau": "gcv"},
        {"start": "kmeans"},
        {"n_init": 3},
        {"kernel": "sobolev1"},
        {"callback": lambda state: None},
        {"field": "per_channel"},
        {"n_levels": "cv"},
    ],
)
def test_auto_is_the_joint_solver_on_a_line_and_altmin_where_a_parameter_asks_for_it(params):
    data = make_sine_steps(60, 2, 1.0, noise_variance=0.01, random_state=0)
    assert_array_equal(
        StepSmooth(2).fit(data.X, data.y).levels_, StepSmooth(2, solver="joint").fit(data.X, data.y).levels_
    )
    assert "label_prior" in StepSmooth(2).fit(data.X, data.y).selection_
    assert "label_prior" not in StepSmooth(**params).fit(data.X, data.y).selection_


def test_levels_with_noises_of_their_own_are_found_and_kept_apart_from_equal_ones():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=2000)
    x, sd = np.arange(2000.0), np.array([0.1, 0.4])
    smooth = np.sin(x / 200.0)
    unequal = StepSmooth(2).fit(x[:, None], smooth + 2.0 * labels + sd[labels] * rng.normal(size=2000))
    assert unequal.noise_variance_ == pytest.approx(sd**2, rel=0.25)
    equal = StepSmooth(2).fit(x[:, None], smooth + 2.0 * labels + 0.2 * rng.normal(size=2000))
    assert np.ndim(equal.noise_variance_) == 0
    y, drawn = unequal.simulate(0)
    rest = y - unequal.smooth_ - unequal.levels_[drawn]
    assert [rest[drawn == k].std() for k in range(2)] == pytest.approx(np.sqrt(unequal.noise_variance_), rel=0.1)
    assert np.isfinite(unequal.score(x[:, None], y))
    assert "noise: standard deviation 0." in unequal.summary()


def test_a_level_that_lasts_for_hundreds_of_points_can_be_left():
    rng = np.random.default_rng(1)
    labels = np.repeat(np.tile([0, 1, 2, 1, 0, 2], 2), 500)
    y = np.array([0.0, 0.8, 2.2])[labels] + rng.normal(size=6000)
    m = StepSmooth(3, label_prior="markov").fit(np.arange(6000.0)[:, None], y)
    assert np.mean(m.labels_ == labels) > 0.98
    errors = m.transition_matrix_se_
    assert errors.shape == (3, 3)
    assert np.all((errors > 0) & (errors < 0.02))


def test_a_shift_of_y_shifts_known_levels_with_a_free_shift_alone():
    data = make_sine_steps(90, 3, 2.0, noise_variance=0.02, random_state=3)
    params = {"kernel": "min", "levels": [0.0, 1.0, 2.0], "free_shift": True, "tau": 1e-4}
    one, other = (StepSmooth(**params).fit(data.X, data.y + shift) for shift in (0.0, 7.0))
    assert_array_equal(one.labels_, other.labels_)
    assert_allclose(one.levels_ + 7.0, other.levels_, atol=1e-9)
    assert_allclose(one.smooth_, other.smooth_, atol=1e-9)


@pytest.mark.parametrize("seed", [800_002, 800_004])
def test_independent_labels_on_a_wave_that_is_not_slow_are_found(seed):
    # Means over many points differ because of f: that is no sign of labels that last.
    data = make_sine_steps(3600, 3, 3, noise_variance=0.15, random_state=seed)
    m = StepSmooth(3).fit(data.X, data.y)
    assert m.label_prior_ == "uniform"
    assert np.mean(m.labels_ == data.labels) > 0.84
