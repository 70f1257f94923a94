"""Under noise: a region that is shifted by a level is never certified, a clear case is, flips are counted apart."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from stepsmooth.datasets import make_markov_steps, make_sine_steps
from stepsmooth.model import MinKernel
from stepsmooth.topology import Lattice, certify
from stepsmooth.topology.emission import Noise


def nearest(y, smooth, levels):
    return np.abs((y - smooth)[:, None] - levels).argmin(axis=1)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.005, 0.02, 0.05]), st.sampled_from([1, -1]))
def test_a_shifted_region_is_never_called_identified(seed, variance, sign):
    data = make_sine_steps(4000, 3, 1.0, noise_variance=variance, random_state=seed)
    rng, i = np.random.default_rng(seed), np.arange(4000)
    begin, width, ramp = rng.integers(0, 2000), rng.integers(800, 1800), rng.choice([5, 50, 300])
    smooth = data.smooth + sign * np.clip((i - begin) / ramp, 0, 1) * np.clip((begin + width - i) / ramp, 0, 1)
    labels = nearest(data.y, smooth, data.levels)
    found = certify(data.X, labels, data.levels, smooth=smooth, y=data.y, noise_variance=variance)
    assert found.verdict == "cannot tell"


@pytest.mark.parametrize("seed", range(5))
def test_right_labels_of_a_long_signal_are_identified(seed):
    data = make_sine_steps(20_000, 3, 1.0, noise_variance=0.05, random_state=seed)
    labels = nearest(data.y, data.smooth, data.levels)
    found = certify(data.X, labels, data.levels, smooth=data.smooth, y=data.y, noise_variance=0.05)
    assert found.verdict == "identified"
    assert np.mean(found.parts >= 0) >= 0.9
    turned = np.sum(labels != data.labels)
    assert found.flips == pytest.approx(turned, rel=0.2)
    assert "noise alone is expected to turn" in str(found)


def test_labels_that_last_and_an_image_are_identified_too():
    data = make_markov_steps(20_000, 3, 1.0, switching=0.01, noise_variance=0.02, random_state=0)
    found = certify(data.X, data.labels, data.levels, smooth=data.smooth, y=data.y, noise_variance=0.02)
    assert found.verdict == "identified"
    rng = np.random.default_rng(0)
    grid = np.indices((96, 96)).sum(axis=0)
    image = (np.indices((96, 96))[0] // 12 + np.indices((96, 96))[1] // 16) % 2
    field = 0.002 * grid
    y = (field + image + rng.normal(scale=0.2, size=image.shape)).ravel()
    lattice = Lattice(np.ones((96, 96), dtype=bool))
    found = certify(lattice, image, [0.0, 1.0], smooth=field.ravel(), y=y, noise_variance=0.04)
    assert found.verdict == "identified"


def bias_field(seed, noise, shift):
    """Three tissues under a smooth field that multiplies; f is off by a level in a disc if `shift`."""
    rng, shape, levels = np.random.default_rng(seed), (96, 96), np.array([0.3, 0.743, 1.0])
    tissue = np.digitize(gaussian_filter(rng.normal(size=shape), 3.0), [-0.05, 0.03])
    f = gaussian_filter(rng.normal(size=shape), 25.0)
    f = (f - f.mean()) / np.ptp(f) * np.log(1.4)
    y = np.exp(f) * levels[tissue] + noise * rng.normal(size=shape)
    away = np.hypot(*(np.indices(shape) - rng.integers(20, 76, 2)[:, None, None]))
    disc = np.clip((rng.integers(18, 40) - away) / rng.choice([2, 6, 15, 30]) + 0.5, 0.0, 1.0)
    f = f + shift * rng.choice([-1, 1]) * np.log(levels[2] / levels[1]) * disc
    labels = np.abs(y[..., None] - np.exp(f)[..., None] * levels).argmin(axis=-1)
    return certify(
        Lattice(np.ones(shape, dtype=bool)), labels, levels, smooth=f, y=y, noise_variance=noise**2, multiplicative=True
    )


@settings(max_examples=12)
@example(131, 0.01)  # once called identified, by a hair's breadth
@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.03, 0.06]))
def test_a_disc_of_an_image_that_is_shifted_by_a_level_is_never_called_identified(seed, noise):
    found = bias_field(seed, noise, shift=True)
    assert found.verdict == "cannot tell"
    assert found.margin <= 0


@pytest.mark.parametrize("seed", range(3))
def test_a_field_that_multiplies_is_certified_in_the_units_of_the_data(seed):
    found = bias_field(seed, 0.03, shift=False)  # a tenth of the darkest tissue: its logarithms are far from Gaussian
    assert found.verdict == "identified"
    assert 0 <= found.margin == pytest.approx(1 - found.variation / found.allowed)


def test_dark_pixels_may_be_zero_or_below_if_a_field_multiplies():
    rng = np.random.default_rng(0)
    labels = np.indices((64, 64)).sum(axis=0) // 8 % 2
    y = np.array([0.1, 1.0])[labels] + 0.06 * rng.normal(size=labels.shape)
    assert y.min() < 0
    lattice, f = Lattice(np.ones((64, 64), dtype=bool)), np.zeros((64, 64))
    found = certify(lattice, labels, [0.1, 1.0], smooth=f, y=y, noise_variance=0.0036, multiplicative=True)
    assert found.verdict == "identified"


def steep(n=20_000):
    data = make_sine_steps(n, 2, 1.0, noise_variance=0.02, random_state=0)
    rise = 0.6 * (1 + np.tanh((data.x - 0.6) / 0.0004))
    return data, data.smooth + rise, data.y + rise


def test_a_steep_rise_of_f_is_where_the_verdict_fails_and_both_sides_are_parts():
    data, f, y = steep()
    found = certify(data.X, data.labels, data.levels, smooth=f, y=y, noise_variance=0.02)
    assert found.verdict == "cannot tell"
    assert np.all(np.abs(data.x[found.edges] - 0.6) < 0.05)
    assert np.mean(found.parts[data.x < 0.55] == 0) > 0.95
    assert np.mean(found.parts[data.x > 0.65] == 1) > 0.95


def test_a_known_modulus_is_heeded_under_noise():
    data = make_sine_steps(20_000, 2, 1.0, noise_variance=0.02, random_state=0)
    options = {"smooth": data.smooth, "y": data.y, "noise_variance": 0.02}
    found = certify(data.X, data.labels, data.levels, modulus=0.75 * 2 * np.pi, **options)
    assert found.verdict == "identified"
    assert "the Lipschitz constant 4.71" in found.premise
    assert certify(data.X, data.labels, data.levels, modulus=1000.0, **options).verdict == "cannot tell"
    with pytest.raises(ValueError, match="needs a modulus in the Euclidean distance"):
        certify(data.X, data.labels, data.levels, modulus=(1.0, MinKernel()), **options)


def test_noise_that_turns_no_label_is_decided_point_by_point():
    data = make_sine_steps(400, 3, 1.0, noise_variance=1e-4, random_state=0)
    found = certify(data.X, data.labels, data.levels, smooth=data.smooth, y=data.y, noise_variance=1e-4)
    assert (found.verdict, found.region) == ("identified", 1)


def test_two_channels_and_no_data_beside_the_fit():
    data = make_sine_steps(4000, 2, 1.0, random_state=0)
    levels = np.column_stack([data.levels, -2 * data.levels])
    found = certify(data.X, data.labels, levels, smooth=data.smooth, noise_variance=0.02)
    assert found.verdict == "identified"


def test_noise_may_differ_between_levels():
    rng = np.random.default_rng(0)
    labels, f = rng.integers(2, size=20_000), np.sin(np.arange(20_000) / 4000)
    y = f + labels + rng.normal(size=20_000) * np.where(labels == 1, 0.05, 0.3)
    found = certify(np.arange(20_000.0), labels, [0.0, 1.0], smooth=f, y=y, noise_variance=[0.09, 0.0025])
    assert found.verdict == "identified"
    for wrong in ([0.1, 0.1, 0.1], [0.1, 0.0], np.nan):
        with pytest.raises(ValueError, match="noise_variance must be"):
            certify(np.arange(20_000.0), labels, [0.0, 1.0], smooth=f, y=y, noise_variance=wrong)


def test_too_few_points_say_so():
    found = certify([0.0, 1.0, 2.0], [0, 1, 0], [0.0, 1.0], smooth=[0.0, 0.0, 0.0], noise_variance=1.0)
    assert found.verdict == "cannot tell"


@pytest.mark.parametrize("sd", [0.2, 0.3, 0.5])
def test_expected_flips_are_those_of_the_nearest_level(sd):
    rng = np.random.default_rng(0)
    levels, labels = np.array([[0.0], [1.0], [2.5]]), rng.integers(3, size=100_000)
    y = levels[labels, 0] + rng.normal(scale=sd, size=len(labels))
    turned = np.sum(np.abs(y[:, None] - levels[:, 0]).argmin(axis=1) != labels)
    assert Noise.of(levels, sd**2).flips(labels) == pytest.approx(turned, rel=0.1)
