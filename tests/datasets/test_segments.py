"""Long segments with uneven levels under unit noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepsmooth.datasets import make_segments

sizes = st.integers(2, 200)
seeds = st.integers(0, 10**6)


def n_pieces(labels):
    return 1 + np.count_nonzero(np.diff(labels))


@settings(deadline=None)
@given(n=sizes, share=st.floats(0, 1), seed=seeds)
def test_the_number_of_segments_is_exact(n, share, seed):
    pieces = 1 + int(share * (n - 1))
    assert n_pieces(make_segments(n, pieces, random_state=seed).labels) == pieces


@settings(deadline=None)
@given(seed=seeds, n_levels=st.integers(2, 8), gap=st.floats(0.01, 10))
def test_the_smallest_gap_is_the_one_asked_for_and_levels_average_to_zero(seed, n_levels, gap):
    levels = make_segments(50, 5, n_levels=n_levels, gap=gap, random_state=seed).levels
    assert len(levels) == n_levels
    assert np.diff(levels).min() == pytest.approx(gap)
    assert np.diff(levels).max() <= 2.5 * gap * (1 + 1e-12)
    assert levels.mean() == pytest.approx(0, abs=1e-12)


@settings(deadline=None)
@given(seed=seeds, n=sizes, wave=st.floats(0, 5), length=st.floats(1, 2000))
def test_the_wave_has_the_stated_spread_and_mean_zero(seed, n, wave, length):
    smooth = make_segments(n, 1, wave=wave, gap=0.6, correlation_length=length, random_state=seed).smooth
    assert smooth.std() == pytest.approx(0.6 * wave, rel=1e-9)
    assert smooth.mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("length", [10, 50, 200])
def test_the_wave_decorrelates_as_its_length_says(length):
    n, lags = 500 * length, length * np.arange(1, 4)
    smooth = make_segments(n, 1, wave=1, gap=1, correlation_length=length, random_state=0).smooth
    found = [np.mean(smooth[lag:] * smooth[:-lag]) for lag in lags]
    # exp(-d^2 / 2 l^2); about 280 independent stretches leave an error of .06 at most.
    np.testing.assert_allclose(found, np.exp(-0.5 * np.arange(1, 4) ** 2), atol=0.15)


def test_the_wave_is_smooth_at_any_length():
    for length in (20, 63, 65, 700, 2000):
        smooth = make_segments(4000, 1, wave=1, gap=1, correlation_length=length, random_state=0).smooth
        # The second derivative of such a process has standard deviation sqrt(3) / l^2.
        assert np.abs(np.diff(smooth, 2)).max() < 8 * np.sqrt(3) / length**2


def test_by_default_three_to_five_levels_are_drawn():
    rng = np.random.default_rng(0)
    assert {len(make_segments(50, 2, random_state=rng).levels) for _ in range(60)} == {3, 4, 5}


def test_the_default_is_the_benchmark_case():
    s = make_segments(random_state=0)
    assert s.y.shape == (20000,)
    assert n_pieces(s.labels) == 40
    assert np.diff(s.levels).min() == pytest.approx(0.6 * np.sqrt(s.noise_variance))
    assert s.smooth.std() == pytest.approx(0.25 * 0.6)
    assert set(s.labels) == set(range(len(s.levels)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_samples": 1}, "n_samples must be a whole number of at least 2; found 1."),
        ({"n_samples": 10, "n_segments": 11}, "n_segments must be at most n_samples = 10; found 11."),
        ({"n_segments": 0}, "n_segments must be a whole number of at least 1; found 0."),
        ({"n_levels": 1}, "n_levels must be a whole number of at least 2; found 1."),
        ({"gap": 0.0}, "gap must be a finite number above 0; found 0.0."),
        ({"wave": -1.0}, "wave must be a finite number of at least 0; found -1.0."),
        (
            {"n_samples": 100, "correlation_length": 0.5},
            "correlation_length must be a finite number between 1 and 100000; found 0.5.",
        ),
    ],
)
def test_a_bad_argument_gets_one_clear_sentence(arguments, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        make_segments(**arguments)
    assert str(caught.value) == sentence
