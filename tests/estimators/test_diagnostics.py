"""Diagnostics: what stands out in residuals is said, what does not is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import lfilter
from sklearn.exceptions import NotFittedError

from stepsmooth import StepSmooth, decompose, diagnostics
from stepsmooth.estimators.autocorrelation import left_by_smoothing
from stepsmooth.estimators.hum import lattice, strongest_line
from stepsmooth.line import LineSmoother

N = 1000
T = np.arange(N) / N
LABELS = np.random.default_rng(0).integers(2, size=N)


def said(noise, t=T, **options):
    """Return the diagnostics of a wave with two levels, three apart, under this noise."""
    y = np.sin(7.0 * t) + 3.0 * LABELS[: len(t)] + noise
    # tau is given: chosen by cross-validation, the smooth part would take up whatever noise is not white.
    return diagnostics(decompose(y, t, tau=1e-6, solver="altmin"), t, y, **options)


def white(seed, n=N):
    return 0.2 * np.random.default_rng(seed).normal(size=n)


def mentions(found, words):
    return any(words in finding for finding in found.findings)


def test_white_noise_is_rarely_remarked_upon():
    remarks = [said(white(seed)).findings for seed in range(60)]
    assert sum(map(len, remarks)) <= 3


@pytest.mark.parametrize("seed", range(5))
def test_correlated_noise_is_found_and_its_lag_1_is_right(seed):
    found = said(lfilter([1.0], [1.0, -0.5], white(seed)))
    assert mentions(found, "neighbouring residuals are correlated (lag 1: .")
    assert mentions(found, "standard errors are too small")
    assert found.autocorrelation[0] == pytest.approx(0.5, abs=0.1)
    assert not mentions(found, "a line at frequency")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tau", [1e-6, "gcv"])
def test_hum_is_found_at_its_frequency_also_where_the_smooth_part_took_it_up(seed, tau):
    y = np.sin(7.0 * T) + 3.0 * LABELS + white(seed) + 0.2 * np.sin(2.0 * np.pi * 50.3 * T)
    found = diagnostics(decompose(y, T, tau=tau, solver="altmin"), T, y)
    assert found.line.frequency == pytest.approx(50.3, abs=0.5)
    assert found.line.share == pytest.approx(1.0 / 3.0, abs=0.08)  # 0.2^2 / 2 beside 0.2^2
    assert mentions(found, "a line at frequency 50")


def test_the_frequency_is_in_the_unit_of_x():
    hum = 0.2 * np.sin(2.0 * np.pi * 50.0 * T)
    y = 3.0 * LABELS + white(0) + hum
    found = diagnostics(decompose(y, 1000.0 * T, tau=1e3, solver="altmin"), 1000.0 * T, y)
    assert found.line.frequency == pytest.approx(0.05, rel=0.01)


def test_drift_is_no_hum():
    y = np.sin(2.0 * np.pi * 5.0 * T) + 3.0 * LABELS + white(1)
    assert not mentions(diagnostics(decompose(y, T, solver="altmin"), T, y), "a line at frequency")


def test_a_few_missing_samples_do_not_hide_the_hum_uneven_steps_have_no_spectrum():
    y = 3.0 * LABELS + white(2) + 0.3 * np.sin(2.0 * np.pi * 50.0 * T)
    y[::37] = np.nan
    m = StepSmooth(2, tau=1e-6, missing="drop", solver="altmin").fit(T[:, None], y)
    assert mentions(diagnostics(m, T, y), "a line at frequency 50")
    uneven = said(white(3), np.sort(np.random.default_rng(1).uniform(size=N)))
    assert uneven.line is None
    assert "x does not go in equal steps" in str(uneven)


def test_rounded_times_still_go_in_equal_steps():
    x = np.round(np.arange(5000) / 30.0, 3)
    assert_array_equal(lattice(x), np.arange(5000))


def test_noise_that_differs_between_levels_is_found():
    found = said(white(4) * np.where(LABELS == 1, 2.0, 1.0))
    assert_allclose(found.sd, [0.2, 0.4], rtol=0.1)
    assert mentions(found, "noise differs between levels (sd 0.")
    assert mentions(found, "at level 1")
    assert not mentions(found, "heavy tails"), "each level is measured by its own sd"


def test_outliers_and_heavy_tails_are_found():
    noise = white(5)
    noise[[100, 300, 500, 700]] += 1.4
    found = said(noise)
    assert found.outlier_share == pytest.approx(4 / N)
    assert mentions(found, "0.40% of the residuals lie beyond 4 noise sds")
    assert mentions(found, "heavy tails")


def test_skew_is_found():
    found = said(0.2 * np.random.default_rng(6).exponential(size=N))
    assert found.skewness > 1.0
    assert mentions(found, "skewed")


@pytest.mark.parametrize("dof", [10.0, 60.0, 150.0])
@pytest.mark.parametrize("sharing", [1, 2])
def test_what_smoothing_leaves_of_white_noise_is_as_expected(dof, sharing):
    n, rng = 600, np.random.default_rng(7)
    smoother = LineSmoother(np.arange(n, dtype=float)[:, None], np.ones(n), order=2)
    taus = np.geomspace(1e-4, 1e9, 200)
    tau = taus[np.argmin([abs(smoother.trace(tau) - dof) for tau in taus])]
    noise = rng.normal(size=(200, sharing, n))
    left = noise - np.stack([smoother.solve(one.mean(axis=0)[:, None], tau)[:, 0] for one in noise])[:, None]
    mean = [np.mean(left[..., lag:] * left[..., :-lag]) / np.mean(left**2) for lag in range(1, 9)]
    assert_allclose(mean, left_by_smoothing(n, smoother.trace(tau), sharing, 8), atol=0.015)


def test_channels_are_pooled_with_an_sd_for_each():
    rng = np.random.default_rng(8)
    y = np.sin(7.0 * T)[:, None] + 3.0 * LABELS[:, None] * [1.0, 0.5] + 0.2 * rng.normal(size=(N, 2))
    found = diagnostics(StepSmooth(2, random_state=0, solver="altmin").fit(T[:, None], y), T, y)
    assert found.sd.shape == (2, 2)
    assert found.n == 2 * N
    assert not found.findings


def test_the_order_of_the_rows_changes_nothing():
    mixed = np.random.default_rng(9).permutation(N)
    y = 3.0 * LABELS + white(9)
    m, other = decompose(y, T, tau=1e-6, solver="altmin"), decompose(y[mixed], T[mixed], tau=1e-6, solver="altmin")
    assert str(diagnostics(m, T, y)) == str(diagnostics(other, T[mixed], y[mixed]))


def test_without_noise_there_is_nothing_to_examine():
    y = 3.0 * LABELS
    m = StepSmooth(levels=[0.0, 3.0], tau=1e6, solver="altmin").fit(T[:, None], y)
    found = diagnostics(m, T, y)
    assert mentions(found, "the residuals vanish")
    assert "the residuals vanish" in str(found)


@pytest.mark.parametrize("n", [1, 2, 5, 31])
def test_few_samples_are_examined_as_far_as_they_go(n):
    x, y = np.arange(float(n)), np.random.default_rng(n).normal(size=n)
    found = diagnostics(StepSmooth(1, tau=1.0, solver="altmin").fit(x[:, None], y), x, y)
    assert len(found.autocorrelation) == min(20, n // 4) * (n > 3)
    assert found.line is None
    assert str(n) in str(found)


def test_a_million_samples_are_examined_at_once():
    n = 1_000_000
    assert strongest_line(np.arange(n) / 1e4, white(0, n)[:, None]).stands_out is False
    assert_allclose(left_by_smoothing(n, 20.0, 1, 20), 0.0, atol=0.005)


def test_bad_input_is_refused_in_a_sentence():
    y = 3.0 * LABELS + white(0)
    m = decompose(y, T, tau=1e-6, solver="altmin")
    with pytest.raises(NotFittedError):
        diagnostics(StepSmooth(solver="altmin"), T, y)
    with pytest.raises(ValueError, match="X and y belong together"):
        diagnostics(m, T)
    with pytest.raises(ValueError, match="X must have one column, the axis of the recording, got 2 columns"):
        diagnostics(m, np.zeros((N, 2)), y)
    with pytest.raises(ValueError, match="n_lags must be a whole number of at least 1, got 0"):
        diagnostics(m, T, y, n_lags=0)
