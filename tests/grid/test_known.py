"""Known levels: the factor or term that the field has to take over."""

import numpy as np
import pytest

from stepsmooth import GridStepSmooth
from stepsmooth.grid.classes import Sample
from stepsmooth.grid.known import classes_of_known
from stepsmooth.grid.mixture import Classes, class_sums, least_variance, outlier_density, updated

KNOWN = np.array([[1.0], [1.7], [4.0]])


def a_sample(rng, levels, gain, shift, n=900):
    labels = rng.choice(3, p=[0.5, 0.3, 0.2], size=n)
    Y = gain[:, None] * levels[labels] + shift[:, None] + 0.03 * rng.normal(size=(n, 1))
    return Sample(Y, gain, shift, rng.uniform(0.5, 1.5, n))


def likeliest(sample, trials):
    """Each trial after four steps at fixed levels; that of the highest likelihood."""
    found = []
    for levels in trials:
        spread = np.var(sample.corrected, axis=0) / 9.0
        classes = Classes(levels, np.tile(spread, (3, 1)), np.full(3, 1.0 / 3.0), outlier_density(sample.Y))
        for _ in range(4):
            sums = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, classes)
            classes = updated(sums, classes, least_variance(sample.Y), keep_levels=True)
        found.append((sums.loglik, classes))
    return max(found, key=lambda pair: pair[0])[1]


@pytest.mark.parametrize("factor", [0.1, 1.0, 30.0])
def test_where_f_multiplies_levels_come_back_times_one_factor(factor):
    rng = np.random.default_rng(0)
    sample = a_sample(rng, factor * KNOWN, np.exp(0.1 * rng.normal(size=900)), np.zeros(900))
    found = classes_of_known(sample, KNOWN, True)
    scale = found.levels / KNOWN
    np.testing.assert_allclose(scale, scale[0, 0])
    assert abs(np.log(scale[0, 0] / factor)) < 0.026  # half a step of the scan
    centre = np.log(np.median(sample.corrected) / 1.7)
    expected = likeliest(sample, [KNOWN * np.exp(centre + s) for s in np.linspace(-3.0, 3.0, 121)])
    np.testing.assert_allclose(found.levels, expected.levels)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-6)
    np.testing.assert_allclose(found.proportions, expected.proportions, rtol=1e-6)
    assert found.outlier_density == outlier_density(sample.Y)


@pytest.mark.parametrize("term", [-5.0, 0.0, 3.0])
@pytest.mark.parametrize("varies", [0.1, 0.0])
def test_where_f_adds_levels_come_back_plus_one_term(term, varies):
    rng = np.random.default_rng(0)
    sample = a_sample(rng, KNOWN + term, np.ones(900), varies * rng.normal(size=900))
    found = classes_of_known(sample, KNOWN, False)
    shift = found.levels - KNOWN
    np.testing.assert_allclose(shift, shift[0, 0])
    assert shift[0, 0] == pytest.approx(term, abs=0.08)  # the range is three, a step a twentieth of it
    offset = np.median(sample.corrected) - 1.7
    expected = likeliest(sample, [KNOWN + offset + 3.0 * s for s in np.linspace(-3.0, 3.0, 121)])
    np.testing.assert_allclose(found.levels, expected.levels)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-6)
    np.testing.assert_allclose(found.proportions, expected.proportions, rtol=1e-6)


def test_one_known_level_is_placed_though_it_has_no_range():
    rng = np.random.default_rng(0)
    Y = 7.0 + 0.1 * rng.normal(size=(500, 1))
    shift = 0.01 * rng.normal(size=500)
    found = classes_of_known(Sample(Y, np.ones(500), shift, np.ones(500)), np.array([[2.0]]), False)
    assert found.levels[0, 0] == pytest.approx(7.0, abs=0.03)


@pytest.mark.parametrize("free_shift", [False, True])
@pytest.mark.parametrize("knots", [None, "auto"])
def test_known_levels_of_an_image_under_a_field_that_adds_stay_apart(knots, free_shift):
    rng = np.random.default_rng(0)
    labels = np.kron(rng.integers(3, size=(8, 8)), np.ones((7, 7), dtype=int))
    f = 0.0 if knots is None else 0.3 * np.sin(np.linspace(0.0, 3.0, 56))[:, None]
    image = np.array([1.0, 2.0, 3.0])[labels] + f + 0.03 * rng.normal(size=labels.shape)
    g = GridStepSmooth(3, multiplicative=False, levels=[1.0, 2.0, 3.0], free_shift=free_shift, knots=knots).fit(image)
    assert np.mean(g.labels_ == labels) == 1.0
    np.testing.assert_allclose(np.diff(g.levels_), 1.0)
