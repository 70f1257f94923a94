"""Emissions, labels and margins, by plain formulas."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from stepsmooth.grid.background import Air
from stepsmooth.grid.labelling import Emission, label_voxels
from stepsmooth.grid.partial import Components
from stepsmooth.grid.volume import Volume

COMPONENTS = Components(
    np.array([[1.0, 2.0], [3.0, 1.0], [1.6, 1.7], [2.4, 1.3]]),
    np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.2], [0.2, 0.3]]),
    np.array([0.4, 0.3, 0.2, 0.1]), np.array([0, 1, 0, 1]),
)  # fmt: skip
AIR = Air(np.array([0.4, 0.2]), 0.25)


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("air", [None, AIR])
def test_the_emission_is_the_log_density_of_every_component(air, uniform):
    found = Emission.of(COMPONENTS, air, uniform=uniform)
    levels, variances, share, owner = COMPONENTS.levels, COMPONENTS.variances, COMPONENTS.shares, COMPONENTS.owner
    if air is not None:
        levels, variances = np.vstack([levels, AIR.mean]), np.vstack([variances, AIR.variance])
        share, owner = np.append(0.75 * share, 0.25), np.append(owner, 2)
    if uniform:
        of_class = np.array([share[owner == k].sum() for k in range(owner.max() + 1)])
        share = share / of_class[owner] / len(of_class)
    np.testing.assert_allclose(found.levels, levels)
    np.testing.assert_allclose(found.precision, 0.5 / variances)
    at_level = norm.logpdf(0.0, 0.0, np.sqrt(variances)).sum(axis=1)
    np.testing.assert_allclose(found.logs, at_level + np.log(0.99 * share))
    assert found.owner.tolist() == owner.tolist()
    assert found.touched.tolist() == [True] * 4 + [False] * (air is not None)
    assert found.n_classes == owner.max() + 1


def test_air_without_noise_has_a_little_and_a_share_of_zero_is_no_error():
    components = Components(np.array([[1.0], [2.0]]), np.array([[0.5], [0.2]]), np.array([1.0, 0.0]), np.array([0, 1]))
    found = Emission.of(components, Air(np.zeros(1), 0.3))
    np.testing.assert_allclose(found.precision[2], 0.5 / (1e-6 * 0.2))
    assert found.logs[1] == pytest.approx(np.log(1e-300) - 0.5 * np.log(2.0 * np.pi * 0.2))


@pytest.mark.parametrize("multiplicative", [True, False])
@pytest.mark.parametrize("air", [None, AIR])
@pytest.mark.parametrize("mixed", [True, False])
def test_labels_and_margins_are_those_of_the_mixture(multiplicative, air, mixed):
    rng = np.random.default_rng(0)
    components = COMPONENTS if mixed else Components(*(x[:2] for x in vars(COMPONENTS).values()))
    emission = Emission.of(components, air)
    values = rng.uniform(0.0, 4.0, (2, 2, 4, 3, 5)).astype(np.float32)
    values[:, 1, 2, 1, 3] = np.nan
    f = (0.3 * rng.normal(size=(4, 3, 5))).astype(np.float32)
    labels, margin = label_voxels(Volume(values, (1.0, 1.0, 1.0)), f, multiplicative, emission)
    for at in np.ndindex(2, 4, 3, 5):
        y = values[(slice(None), *at)].astype(float)
        if np.isnan(y[0]):
            assert labels[at] == -1
            assert np.isnan(margin[at])
            continue
        smooth = float(f[at[1:]])
        mean = emission.levels * np.exp(smooth) if multiplicative else emission.levels + smooth
        mean = np.where(emission.touched[:, None], mean, emission.levels)  # no field touches air
        part = emission.logs - np.sum(emission.precision * (y - mean) ** 2, axis=1)
        score = np.array([logsumexp(part[emission.owner == k]) for k in range(emission.n_classes)])
        q = np.sort(np.exp(score - logsumexp(score)))
        assert labels[at] == np.argmax(score)
        assert margin[at] == pytest.approx(q[-1] - q[-2], abs=1e-5)
