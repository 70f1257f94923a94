"""The certificate of a fitted image is that of its labels on its lattice, on logs where the field multiplies."""

import pickle

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from sklearn.exceptions import NotFittedError

from stepsmooth import GridStepSmooth
from stepsmooth.estimators.grid_certificate import labelled_voxels
from stepsmooth.topology import Lattice, certify

LEVELS = np.array([1.0, 2.0])


def blobs(shape=(64, 64), noise=0.0, seed=0, ratio=1.5):
    rng = np.random.default_rng(seed)
    labels = (gaussian_filter(rng.normal(size=shape), 3.0) > 0).astype(int)
    field = np.exp(np.linspace(-0.5, 0.5, shape[0]) * np.log(ratio)).reshape(-1, *(1 for _ in shape[1:]))
    return field * LEVELS[labels] + noise * rng.normal(size=shape), labels


def fitted(image, mask=None, **options):
    return GridStepSmooth(2, **{"knots": 60.0, "spacing": 1.0, "label_prior": "proportions"} | options).fit(image, mask)


def test_an_image_without_noise_is_certified_on_the_logs_of_its_levels():
    image, _ = blobs()
    g = fitted(image, spacing=(1.0, 2.0))
    found = g.certificate()
    assert found.verdict == "identified"
    lattice = Lattice(np.ones(image.shape, dtype=bool), (1.0, 2.0))
    expected = certify(lattice, g.labels_, np.log(g.levels_), y=np.log(image))
    assert found.margin == pytest.approx(expected.margin, abs=1e-6)
    assert g.certificate(c=8.0).margin < found.margin
    assert pickle.loads(pickle.dumps(g)).certificate().margin == found.margin


def test_a_noisy_image_is_certified_by_regions_and_a_shifted_region_is_not():
    image, _ = blobs((128, 128), noise=0.1)
    g = fitted(image)
    found = g.certificate()
    assert found.verdict == "identified"
    assert found.region > 1
    row, column = np.indices(image.shape)
    disc = np.clip((40.0 - np.hypot(row - 60, column - 60)) / 20.0, 0.0, 1.0)
    before = g.field_
    g.smooth_ = (g.smooth_ + np.log(2.0) * disc).astype(g.smooth_.dtype)
    g.corrected_ = g.corrected_ * before / g.field_
    g.labels_ = np.abs(g.corrected_[..., None] - g.levels_).argmin(axis=-1).astype(np.int16)
    assert g.certificate().verdict == "cannot tell"


def test_background_holes_and_what_lies_outside_the_mask_do_not_count():
    image, _ = blobs((96, 96), noise=0.02)
    inside = np.hypot(*(np.indices(image.shape) - 47.5)) < 40
    image = np.where(inside, image, 0.02 * np.abs(np.random.default_rng(1).normal(size=image.shape)))
    image[40, 40] = np.nan
    for mask in (None, inside):
        g = fitted(image, mask)
        found = g.certificate()
        assert len(found.parts) == np.sum(g.labels_ >= 0) <= inside.sum()
        assert found.verdict == "identified"


def test_a_volume_and_several_channels_that_share_a_field():
    image, labels = blobs((24, 24, 24), noise=0.0)
    field = image / LEVELS[labels]
    both = np.stack([image, field * np.array([3.0, 1.0])[labels]])
    g = GridStepSmooth(2, channel_axis=0, spacing=1.0, knots=60.0, label_prior="proportions", random_state=0).fit(both)
    found = g.certificate()
    assert found.verdict == "identified"
    voxels, y, f = labelled_voxels(g)
    assert voxels.mask.shape == (24, 24, 24)
    np.testing.assert_allclose(y, both.reshape(2, -1).T, rtol=1e-5)
    # A scalar f that two channels share varies by sqrt(2) |df| in the 2-norm.
    gap = np.linalg.norm(np.diff(np.log(g.levels_), axis=0))
    assert found.allowed == pytest.approx(gap / 2)
    step = np.ptp(f[:, 0]) / 23
    assert found.variation == pytest.approx(3.0 * np.sqrt(2.0) * step, rel=0.05)


def test_terms_altmin_and_frames():
    image, labels = blobs((32, 32))
    added = fitted(np.log(image), multiplicative=False).certificate()
    assert added.verdict == "identified"
    altmin = GridStepSmooth(2, solver="altmin").fit(image).certificate()
    assert altmin.verdict == "identified"
    frames = np.stack([image, image * LEVELS[1 - labels] / LEVELS[labels]])
    series = fitted(frames, series_axis=0)
    found = series.certificate()
    assert found.verdict == "identified"
    assert len(found.parts) == frames.size


def test_without_a_fit_or_with_one_level_there_is_nothing_to_certify():
    with pytest.raises(NotFittedError):
        GridStepSmooth().certificate()
    image, _ = blobs((16, 16))
    with pytest.raises(ValueError, match="levels must be at least two; found one"):
        GridStepSmooth(1, spacing=1.0, knots=60.0).fit(image).certificate()
