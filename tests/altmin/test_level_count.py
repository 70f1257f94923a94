"""The number of levels: right where that is easy, with the curve kept."""

import numpy as np
import pytest

from stepsmooth.altmin import LevelCurve, altmin, select_n_levels
from stepsmooth.altmin.level_count import PATIENCE


@pytest.fixture
def maker(problem_of):
    """Build what gives the problem of each number of levels."""

    def build(n_levels, noise, n=120, seed=0):
        rng = np.random.default_rng(seed)
        x = np.arange(1, n + 1) / n
        y = np.sin(5.0 * x) + 2.0 * rng.integers(n_levels, size=n) + noise * rng.normal(size=n)
        return lambda count: problem_of(x, y, 1, count)

    return build


@pytest.mark.parametrize("n_levels", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_evidence_finds_the_number_of_levels_under_noise(maker, n_levels, seed):
    curve = select_n_levels(maker(n_levels, 0.2, seed=seed), "evidence", altmin, most=6)
    assert curve.best == n_levels
    assert curve.criterion[curve.best - 1] == curve.criterion.min()


def test_cross_validation_finds_it_without_noise(maker):
    assert select_n_levels(maker(2, 0.0), "cv", altmin, most=3).best == 2


def test_the_search_stops_when_it_no_longer_pays(maker):
    curve = select_n_levels(maker(1, 0.3), "evidence", altmin, most=8)
    np.testing.assert_array_equal(curve.n_levels, np.arange(1, curve.best + PATIENCE + 1))


def test_the_curve_is_kept_in_plain_values():
    curve = LevelCurve("evidence", np.array([1, 2, 3]), np.array([5.0, 1.0, 2.0]))
    assert curve.best == 2
    assert curve.as_dict()["chosen"] == 2
    assert set(curve.as_dict()) == {"method", "n_levels", "criterion", "chosen"}
