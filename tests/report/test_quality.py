"""Quality without truth: the verdict follows held-out regions, for signals, scattered points and images."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.datasets import make_head_phantom, make_markov_steps, make_sine_steps
from stepsmooth.report import Quality, quality

BRAIN = ("CSF", "GM", "WM")


def head(seed, **more):
    options = {"classes": BRAIN, "noise": 3.0, "partial_volume": 1.5, "texture": 0.1, "random_state": seed, **more}
    return make_head_phantom((60, 72), **options)


@pytest.fixture(scope="module")
def corrected():
    scan = head(0, field="coil", ratio=2.0)
    return scan, GridStepSmooth(3, spacing=scan.spacing, knots=90.0).fit(scan.image, mask=scan.mask)


@pytest.mark.parametrize("make, solver", [(make_sine_steps, "altmin"), (make_markov_steps, "joint")])
def test_taking_a_drift_from_a_signal_helps(make, solver):
    data = make(300, 2, 2.0, noise_variance=0.05, random_state=0)
    found = quality(StepSmooth(2, solver=solver).fit(data.X, data.y))
    assert found.verdict == "helped"
    assert found.confidence > 0.995
    assert found.cv_after < found.cv_before
    assert found.cjv_after < found.cjv_before


@pytest.mark.parametrize("seed", [0, 1])
def test_a_signal_without_drift_has_nothing_to_win(seed):
    data = make_sine_steps(400, 2, amplitude=0.0, noise_variance=0.05, random_state=seed)
    assert quality(StepSmooth(2, solver="altmin").fit(data.X, data.y)).verdict == "no change"


@pytest.mark.parametrize("seed", [0, 1])
def test_steps_that_f_has_swallowed_make_it_worse_although_spread_within_labels_falls(seed):
    data = make_markov_steps(600, 3, 2.0, amplitude=0.0, noise_variance=0.02, random_state=seed)
    found = quality(StepSmooth(3, solver="altmin").fit(data.X, data.y))
    assert found.verdict == "made worse"
    assert found.cjv_after < found.cjv_before


def test_a_bias_field_taken_away_helps(corrected):
    found = quality(corrected[1])
    assert found.verdict == "helped"
    assert found.n_regions > 20
    assert 1.2 < found.field_range < 2.0


def test_no_field_is_no_change():
    scan = head(1, field=None)
    found = quality(GridStepSmooth(3, spacing=scan.spacing, knots=None).fit(scan.image, mask=scan.mask))
    assert found.verdict == "no change"
    assert found.gain == found.gain_error == 0.0
    assert "nothing was changed" in found.words()


def test_a_field_that_swallows_texture_is_found_out():
    scan = head(3, field=None, texture=0.15)
    found = quality(GridStepSmooth(3, spacing=scan.spacing, knots=20.0).fit(scan.image, mask=scan.mask))
    assert found.verdict == "made worse"
    assert found.cv_after < found.cv_before


def test_scattered_points_are_judged_and_a_kernel_matrix_says_the_same():
    rng = np.random.default_rng(0)
    X, labels = rng.random((400, 2)), rng.integers(2, size=400)
    y = np.sin(4.0 * X[:, 0] + X[:, 1]) + 2.0 * labels + 0.2 * rng.normal(size=400)

    def kernel(A, B):
        return np.exp(-np.sum((A[:, None] - B[None]) ** 2, axis=2))

    plain = quality(StepSmooth(2, kernel=kernel, tau=1e-3).fit(X, y))
    matrix = quality(StepSmooth(2, kernel="precomputed", tau=1e-3).fit(kernel(X, X), y))
    assert plain.verdict == matrix.verdict == "helped"
    assert matrix.cv_after == pytest.approx(plain.cv_after, rel=1e-3)


def test_channels_weights_and_absent_points_of_a_signal_are_taken_along():
    data = make_sine_steps(400, 2, 2.0, n_channels=2, noise_variance=0.05, random_state=0)
    y, weights = data.y.copy(), np.ones(400)
    weights[::7] = 0.0
    y[::11] = np.nan
    for more in ({}, {"field": "per_channel"}):
        m = StepSmooth(2, missing="drop", solver="altmin", **more).fit(data.X, y, sample_weight=weights)
        found = quality(m)
        assert found.n_observations == np.count_nonzero((weights > 0) & ~np.isnan(y[:, 0]))
        assert found.verdict == "helped"


@pytest.mark.parametrize("multiplicative", [True, False])
def test_units_and_offset_of_an_image_do_not_matter(multiplicative):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.repeat(rng.integers(2, size=(12, 12)), 4, axis=0), 4, axis=1)
    wave = 0.4 * np.sin(np.linspace(0.0, 3.0, 48))[:, None]
    clean = np.exp(wave) * (1.0 + labels) if multiplicative else wave + labels
    image = clean + 0.1 * rng.normal(size=clean.shape)
    image -= 0.0 if not multiplicative else min(image.min(), 0.0)
    options = {"multiplicative": multiplicative, "knots": 60.0}
    one = quality(GridStepSmooth(2, **options).fit(image))
    other = quality(GridStepSmooth(2, **options).fit(500.0 * image + (0.0 if multiplicative else 40.0)))
    assert one.verdict == other.verdict == "helped"
    assert other.gain == pytest.approx(one.gain, rel=0.02)
    assert other.cv_after == pytest.approx(one.cv_after, rel=0.02)


def test_a_volume_with_channels_mask_holes_and_weights_is_judged():
    shape = (16, 20, 16)
    scan = make_head_phantom(
        shape, contrasts=["T1w", "T2w"], classes=BRAIN, field="poly", ratio=2.0, noise=2.0, random_state=0
    )
    image = scan.image.copy()
    image[::5, ::5, ::5] = np.nan
    weights = np.where(np.arange(shape[0]) % 2, 2.0, 1.0)[:, None, None] * np.ones(shape)
    g = GridStepSmooth(3, channel_axis=-1, spacing=scan.spacing, knots=120.0).fit(image, scan.mask, weights)
    found = quality(g, weights=weights)
    assert found.n_observations == np.count_nonzero(g.labels_ >= 0)
    assert found.verdict == "helped"
    assert quality(g).gain == pytest.approx(found.gain, rel=0.3)


def test_frames_and_altmin_images_are_judged():
    rng = np.random.default_rng(1)
    wave = np.exp(0.5 * np.sin(np.linspace(0.0, 3.0, 40)))[:, None]
    labels = np.repeat(np.repeat(rng.integers(2, size=(3, 10, 10)), 4, axis=1), 4, axis=2)
    frames = wave * (1.0 + labels) + 0.1 * rng.normal(size=labels.shape)
    assert quality(GridStepSmooth(2, series_axis=0, knots=90.0).fit(frames)).verdict == "helped"
    altmin = GridStepSmooth(2, solver="altmin", tau=300.0).fit(np.maximum(frames[0], 0.05))
    assert quality(altmin).verdict == "helped"


def test_a_part_of_a_large_image_says_what_all_of_it_says(corrected, monkeypatch):
    whole = quality(corrected[1])
    monkeypatch.setattr("stepsmooth.report.quality_check.image.N_LOOKED_AT", 600)
    part = quality(corrected[1])
    assert part.n_observations < 0.5 * whole.n_observations
    assert part.gain == pytest.approx(whole.gain, abs=4.0 * whole.gain_error)
    assert part.cv_after == pytest.approx(whole.cv_after, rel=0.1)
    assert part.residual_autocorrelation == pytest.approx(whole.residual_autocorrelation, abs=0.1)


def test_judging_changes_nothing_and_is_repeatable(corrected):
    before = pickle.dumps(corrected[1])
    assert quality(corrected[1]) == quality(corrected[1])
    assert pickle.dumps(corrected[1]) == before


def test_the_figures_go_into_json_and_into_sentences(corrected):
    found = quality(corrected[1])
    kept = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert kept["verdict"] == found.verdict
    assert kept["field_high"] == found.field_high
    assert all(line.endswith(".") for line in found.words().splitlines())
    assert str(found).startswith("helped")
    one_level = replace(found, cjv_before=np.nan, cjv_after=np.nan)
    assert one_level.as_dict()["cjv_before"] is None
    assert "nan" not in one_level.words()


def test_what_cannot_be_told_from_chance_or_is_tiny_is_no_change():
    sure = Quality(900, 0.3, 0.2, 1.1, 0.7, 0.8, 1.2, 0.1, 0.0, 0.05, 0.01, 0.05, 0.01, 40, True)
    assert sure.verdict == "helped"
    assert replace(sure, gain=-0.05).verdict == "made worse"
    assert replace(sure, gain_error=0.03).verdict == "no change"
    assert replace(sure, far_gain=0.01).verdict == "no change"
    assert replace(sure, gain=0.001, gain_error=0.0001).verdict == "no change"
    few = replace(sure, n_regions=3)
    assert few.verdict == "no change"
    assert "Too few regions" in few.words()


def test_a_few_points_get_figures_and_no_verdict():
    found = quality(StepSmooth(2, tau=1e3, start="kmeans").fit(np.arange(8.0)[:, None], [0, 3, 0, 3, 3, 0, 0.1, 3.1]))
    assert found.verdict == "no change"
    assert found.near_boundary == 0.0


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        (lambda g: (StepSmooth(2), None), NotFittedError, "not fitted"),
        (lambda g: ("text", None), TypeError, "m must be a fitted StepSmooth or GridStepSmooth, got str"),
        (lambda g: (g, np.ones(3)), ValueError, "weights must have the shape of the labels"),
    ],
)
def test_bad_input_gets_a_sentence(corrected, arguments, error, words):
    m, weights = arguments(corrected[1])
    with pytest.raises(error, match=words):
        quality(m, weights=weights)
