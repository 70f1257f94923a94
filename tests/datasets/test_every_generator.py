"""What holds for every generator of signals."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.datasets import make_markov_steps, make_segments, make_self_mixing, make_sine_steps

SINE_GENERATORS = [make_sine_steps, make_markov_steps, make_self_mixing]
GENERATORS = [*SINE_GENERATORS, partial(make_segments, 400, correlation_length=40)]

every_generator = pytest.mark.parametrize("make", GENERATORS)
every_sine_generator = pytest.mark.parametrize("make", SINE_GENERATORS)
shapes = {"n_samples": st.integers(2, 60), "n_levels": st.integers(2, 6), "n_channels": st.integers(1, 4)}
seeds = st.integers(0, 2**32 - 1)


def assert_same(one, other):
    for field in dataclasses.fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)


@every_generator
def test_a_seed_gives_the_same_data_every_time(make):
    assert_same(make(random_state=7), make(random_state=7))


@every_generator
def test_a_seed_and_the_generator_made_from_it_give_the_same_data(make):
    assert_same(make(random_state=7), make(random_state=np.random.default_rng(7)))


@every_generator
def test_a_generator_moves_on_and_so_does_no_seed(make):
    rng = np.random.default_rng(7)
    assert not np.array_equal(make(random_state=rng).y, make(random_state=rng).y)
    assert not np.array_equal(make().y, make().y)


@every_generator
def test_the_global_random_state_is_neither_read_nor_changed(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    make(random_state=0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@every_generator
def test_labels_are_int64_and_levels_ascend(make):
    signal = make(random_state=1)
    assert signal.labels.dtype == np.int64
    assert np.all(np.diff(signal.levels) > 0)


@every_generator
def test_points_ascend_and_form_the_column_that_estimators_take(make):
    signal = make(random_state=1)
    assert np.all(np.diff(signal.x) > 0)
    np.testing.assert_array_equal(signal.X, signal.x.reshape(-1, 1))


@every_generator
def test_what_is_left_of_y_has_the_stated_noise_variance(make):
    signal = make(noise_variance=0.7, random_state=2) if make in SINE_GENERATORS else make(random_state=2)
    residual = signal.y - signal.smooth - signal.levels[signal.labels]
    # Four standard errors of a sample variance.
    assert residual.var() == pytest.approx(signal.noise_variance, rel=4 * np.sqrt(2 / len(residual)))


@every_sine_generator
@settings(deadline=None)
@given(**shapes, seed=seeds, equispaced=st.booleans())
def test_without_noise_y_is_the_sum_of_its_parts(make, n_samples, n_levels, n_channels, seed, equispaced):
    s = make(n_samples, n_levels, n_channels=n_channels, equispaced=equispaced, random_state=seed)
    assert s.labels.min() >= 0
    assert s.labels.max() < n_levels
    columns = s.y.reshape(n_samples, n_channels) - s.levels.reshape(n_levels, n_channels)[s.labels]
    np.testing.assert_allclose(columns, np.repeat(s.smooth[:, None], n_channels, axis=1), atol=1e-14)


@every_sine_generator
@settings(deadline=None)
@given(seed=seeds, variance=st.floats(1e-3, 10))
def test_the_noise_level_scales_the_noise_and_changes_nothing_else(make, seed, variance):
    clean, unit, noisy = (make(30, noise_variance=v, random_state=seed) for v in (0, 1, variance))
    np.testing.assert_array_equal(clean.labels, noisy.labels)
    np.testing.assert_allclose(noisy.y - clean.y, np.sqrt(variance) * (unit.y - clean.y), atol=1e-12)


@every_sine_generator
def test_the_noise_of_two_channels_is_independent(make):
    s = make(20000, n_channels=2, noise_variance=1.0, random_state=3)
    noise = s.y - s.smooth[:, None] - s.levels[s.labels]
    assert abs(np.corrcoef(noise.T)[0, 1]) < 4 / np.sqrt(20000)


@every_sine_generator
@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("n_samples", 0, ValueError),
        ("n_samples", 10.0, TypeError),
        ("n_samples", True, TypeError),
        ("n_levels", 0, ValueError),
        ("n_levels", "auto", TypeError),
        ("beta", -1.0, ValueError),
        ("beta", np.inf, ValueError),
        ("noise_variance", -0.1, ValueError),
        ("noise_variance", np.nan, ValueError),
        ("amplitude", None, TypeError),
        ("phase", np.nan, ValueError),
        ("n_channels", 0, ValueError),
        ("equispaced", 1, TypeError),
        ("random_state", -1, ValueError),
        ("random_state", "seed", TypeError),
        ("random_state", np.random.RandomState(0), TypeError),
    ],
)
def test_a_bad_argument_is_named_with_what_was_found(make, argument, value, error):
    with pytest.raises(error, match=rf"^{argument} must be .*; found .*\.$") as caught:
        make(**{argument: value})
    assert repr(value) in str(caught.value)


@every_generator
def test_a_signal_cannot_be_reassigned(make):
    with pytest.raises(dataclasses.FrozenInstanceError):
        make(random_state=0).noise_variance = 2.0
