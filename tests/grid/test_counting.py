"""Counting the classes, on held-out scores that are given."""

from types import SimpleNamespace

import numpy as np
import pytest

from stepsmooth.grid import counting
from stepsmooth.grid.background import Air
from stepsmooth.grid.counting import choose_count
from stepsmooth.grid.search import Search
from stepsmooth.grid.volume import Volume

N = 20
WIGGLE = np.tile([0.5, -0.5], N // 2)


@pytest.fixture
def asked(monkeypatch):
    """Scores by number of classes and knots come from a table; what is asked is listed."""
    calls, tables = [], {}

    def fit_at(blocks, task, knots, stiffer):
        calls.append((task.n_levels, knots))
        return task.n_levels, knots

    def scores(blocks, fit, voxels, side, *, own_proportions):
        assert not own_proportions
        tables["side"] = side
        return tables["of"](*fit)

    def voxels_of(volume, blocks, side):
        tables["present"] = int(volume.present.sum())
        return SimpleNamespace(mass=np.full(N, 10.0))

    monkeypatch.setattr(counting, "fit_at", fit_at)
    monkeypatch.setattr(counting, "freed", lambda blocks, fit, task: fit)
    monkeypatch.setattr(counting, "held_out_score", scores)
    monkeypatch.setattr(counting.ScoredVoxels, "of", voxels_of)
    return calls, tables


def a_volume():
    return Volume(np.random.default_rng(0).uniform(1.0, 2.0, (1, 1, 8, 8, 1)).astype(np.float32), (1.0, 1.0, 1.0))


def test_the_smallest_number_that_is_as_good_as_the_best_is_taken(asked):
    calls, tables = asked
    heights = {1: -90.0, 2: -60.0, 3: -40.0, 4: -39.9, 5: -41.0, 6: -42.0}
    tables["of"] = lambda n, knots: heights[n] + n * WIGGLE - (0.0 if knots == 60.0 else 7.0)
    task, found = choose_count(a_volume(), Search(2, True, seed=4))
    assert (task.n_levels, task.seed) == (3, 4)
    # Counting stops two classes after the best; each number takes its best knots.
    assert calls == [(n, knots) for n in range(1, 7) for knots in (np.inf, 60.0, 28.0)]
    assert found["method"] == "held-out blocks"
    assert found["chosen"] == 3
    assert found["n_levels"].tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(found["score"], [-9.0, -6.0, -4.0, -3.99, -4.1, -4.2])
    np.testing.assert_allclose(found["behind"], [5.01, 2.01, 0.01, 0.0, 0.11, 0.21])
    gaps = np.abs(4.0 - np.arange(1, 7)) * 0.5 / 10.0
    np.testing.assert_allclose(found["error"], gaps * np.sqrt(1.0 / (N - 1)), atol=1e-12)
    assert tables["side"] == 20.0


def test_a_class_that_gains_next_to_nothing_is_none(asked):
    _, tables = asked
    tables["of"] = lambda n, knots: np.full(N, {1: -50.0, 2: -40.0}.get(n, -39.98))  # 0.002 nats a voxel
    assert choose_count(a_volume(), Search(2, True))[0].n_levels == 2
    tables["of"] = lambda n, knots: np.full(N, {1: -50.0, 2: -40.0}.get(n, -39.96))
    assert choose_count(a_volume(), Search(2, True))[0].n_levels == 3


def test_it_counts_to_eight_at_given_knots(asked):
    calls, tables = asked
    tables["of"] = lambda n, knots: np.full(N, float(n))
    assert choose_count(a_volume(), Search(2, True, knots=35.0))[1]["n_levels"].tolist() == list(range(1, 9))
    assert {knots for _, knots in calls} == {35.0}


def test_an_image_within_one_cube_counts_as_one_class(asked):
    calls, tables = asked
    tables["of"] = lambda n, knots: np.full(N, np.nan)
    task, found = choose_count(a_volume(), Search(5, True))
    assert (task.n_levels, found) == (1, {})
    assert {n for n, _ in calls} == {1}


def test_air_is_left_out(asked):
    _, tables = asked
    tables["of"] = lambda n, knots: np.zeros(N)
    volume = a_volume()
    volume.values[0, 0, :4] = 0.0
    choose_count(volume, Search(2, True), Air(np.zeros(1), 0.5))
    assert tables["present"] == 32
    choose_count(volume, Search(2, True))
    assert tables["present"] == 64


def test_every_number_is_scored_with_variances_of_its_own(volume_of, monkeypatch):
    # Four and more classes are looked for with one variance; three are not, and would win where classes differ.
    seen = []
    score = counting.held_out_score
    monkeypatch.setattr(counting, "MOST_LEVELS", 5)
    monkeypatch.setattr(counting, "PATIENCE", 9)
    monkeypatch.setattr(
        counting, "held_out_score", lambda blocks, fit, *a, **k: seen.append(fit.classes) or score(blocks, fit, *a, **k)
    )
    image = np.repeat(np.repeat(np.random.default_rng(0).integers(1, 6, size=(6, 6)), 12, axis=0), 12, axis=1)
    noisy = image + 0.05 * np.random.default_rng(1).normal(size=image.shape)
    counting.choose_count(volume_of(noisy.astype(np.float32)), Search(1, True, knots=np.inf))
    assert [classes.count for classes in seen] == [1, 2, 3, 4, 5]
    assert not any(classes.alike for classes in seen)
