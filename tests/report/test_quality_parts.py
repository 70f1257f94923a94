"""The parts of quality: figures by hand, regions that had no say, and the error of a paired comparison."""

import numpy as np
import pytest

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.datasets import make_sine_steps
from stepsmooth.grid.blocks import pure_blocks
from stepsmooth.grid.classes import Sample
from stepsmooth.grid.mixture import Classes
from stepsmooth.report.quality_check import figures
from stepsmooth.report.quality_check.cubes import _as_fitted, _placed
from stepsmooth.report.quality_check.heldout import compare, score_regions
from stepsmooth.report.quality_check.image import ThinImage
from stepsmooth.report.quality_check.points import Points, points_in_reach
from stepsmooth.report.quality_check.stretches import _predicted, regions


def seen(values, labels, **more):
    values, labels = np.asarray(values, dtype=float)[:, None], np.asarray(labels)
    levels = np.array([[values[labels == k].mean()] for k in range(labels.max() + 1)])
    n = len(values)
    given = {
        "before": values,
        "after": values,
        "residual": values - levels[labels],
        "field": np.ones((n, 1)),
        "labels": labels,
        "margin": np.ones(n),
        "weights": np.ones(n),
        "levels": levels,
        "pairs": np.stack([np.arange(n - 1), np.arange(1, n)], axis=1),
        "multiplicative": True,
    }
    return figures.Seen(**{**given, **more})


def test_variation_within_and_between_levels_is_what_one_computes_by_hand():
    found = seen([1.0, 3.0, 8.0, 12.0], [0, 0, 1, 1])
    assert figures.within_level_variation(found.after, found) == pytest.approx((1.0 / 2.0 + 2.0 / 10.0) / 2.0)
    assert figures.joint_variation(found.after, found) == pytest.approx(3.0 / 8.0)
    adding = seen([1.0, 3.0, 8.0, 12.0], [0, 0, 1, 1], multiplicative=False)
    assert figures.within_level_variation(adding.after, adding) == pytest.approx((1.0 + 2.0) / 2.0 / 8.0)


def test_weights_count_as_repetitions():
    once = seen([1.0, 3.0, 8.0, 12.0], [0, 0, 1, 1], weights=np.array([2.0, 1.0, 1.0, 1.0]))
    twice = seen([1.0, 1.0, 3.0, 8.0, 12.0], [0, 0, 0, 1, 1])
    for figure in (figures.within_level_variation, figures.joint_variation):
        assert figure(once.after, once) == pytest.approx(figure(twice.after, twice))


def test_one_level_has_no_joint_variation():
    found = seen([1.0, 3.0], [0, 0])
    assert np.isnan(figures.joint_variation(found.after, found))


def test_close_calls_are_counted():
    found = seen([1.0, 3.0, 8.0, 12.0], [0, 0, 1, 1], margin=np.array([0.1, 0.9, 0.4, 1.0]))
    assert figures.near_boundary(found) == 0.5


def test_neighbours_of_white_noise_do_not_correlate_and_those_of_a_slow_wave_do():
    white = np.random.default_rng(0).normal(size=4000)
    labels = np.zeros(4000, dtype=int)
    assert abs(figures.residual_autocorrelation(seen(white, labels))) < 0.05
    assert figures.residual_autocorrelation(seen(np.sin(np.arange(4000) / 50.0), labels)) > 0.99


@pytest.mark.parametrize("solver, kernel", [("joint", "auto"), ("altmin", "spline"), ("altmin", "min")])
def test_a_region_has_no_say_in_the_f_that_it_meets(solver, kernel):
    data = make_sine_steps(300, 2, 2.0, noise_variance=0.05, random_state=0)
    m = StepSmooth(2, solver=solver, kernel=kernel).fit(data.X, data.y)
    points = Points.of(m)
    fold = regions(points.X, 20.0) % 5
    before = _predicted(points, fold)
    points.part.residual[fold == 2] += 100.0
    after = _predicted(points, fold)
    np.testing.assert_allclose(after[fold == 2], before[fold == 2], atol=1e-4)
    assert np.abs(after[fold != 2] - before[fold != 2]).max() > 1.0


def test_the_prediction_is_that_of_a_fit_to_the_others_as_stiff_as_the_first():
    from stepsmooth.line import LineSmoother

    data = make_sine_steps(300, 2, 2.0, noise_variance=0.05, random_state=0)
    m = StepSmooth(2, solver="altmin").fit(data.X, data.y)
    points = Points.of(m)
    fold = regions(points.X, 20.0) % 5
    kept = fold != 2
    alone = LineSmoother(points.X[kept, 0], order=2)
    expected = alone.at(points.X[~kept, 0], points.part.residual[kept, 0], points.part.tau * 300 / kept.sum())
    np.testing.assert_allclose(_predicted(points, fold)[~kept, 0], expected - points.part.shift[0], atol=1e-5)


def test_regions_are_compact_and_about_equally_large():
    X = np.random.default_rng(0).random((1000, 2))
    found = regions(X, 20.0)
    counts = np.bincount(found)
    assert 40 <= len(counts) <= 60
    assert counts.max() <= 2 * counts.min() + 1
    spans = [np.ptp(X[found == k], axis=0).max() for k in range(len(counts))]
    assert np.mean(spans) < 0.3


def test_a_faster_wave_has_a_shorter_reach():
    x = np.linspace(0.0, 1.0, 2000)[:, None]
    slow, fast = (points_in_reach(x, np.sin(2.0 * np.pi * beta * x)) for beta in (2.0, 8.0))
    assert slow == pytest.approx(4.0 * fast, rel=0.3)


def test_the_error_of_the_gain_is_its_spread_over_datasets():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        mass = rng.uniform(5.0, 15.0, 40)
        gain = mass * rng.normal(0.1, 0.3, 40)
        found.append(compare(gain, gain, mass))
    assert np.mean([f.gain for f in found]) == pytest.approx(0.1, abs=0.01)
    assert np.mean([f.error for f in found]) == pytest.approx(np.std([f.gain for f in found]), rel=0.1)


def test_proportions_of_a_region_are_no_news():
    rng = np.random.default_rng(0)
    region = np.repeat(np.arange(20), 100)
    labels = (region % 2) ^ (rng.random(2000) < 0.02)
    Y = (labels + 0.1 * rng.normal(size=2000))[:, None]
    sample = Sample(Y, np.ones(2000), np.zeros(2000), np.ones(2000))
    classes = Classes(np.array([[0.0], [1.0]]), np.full((2, 1), 0.01), np.full(2, 0.5), 1.0)
    own = score_regions(sample, classes, region, 20, region % 5).sum()
    shuffled = rng.permutation(2000)
    mixed = Sample(Y[shuffled], np.ones(2000), np.zeros(2000), np.ones(2000))
    assert own > score_regions(mixed, classes, region, 20, region % 5).sum() + 500.0


def test_the_field_that_is_fitted_again_to_pure_blocks_is_the_one_that_is_judged():
    rng = np.random.default_rng(0)
    labels = np.kron(rng.integers(2, size=(8, 8)), np.ones((8, 8), dtype=int))
    wave = 0.4 * np.sin(np.linspace(0.0, 3.0, 64))[:, None] * np.ones((64, 64))
    g = GridStepSmooth(2, spacing=2.0, knots=60.0).fit(np.exp(wave) * (1.0 + labels) + 0.03 * rng.normal(size=(64, 64)))
    image = ThinImage.of(g)
    volume, scale, _ = image.in_units()
    places = [x + 10.0 for x in image.coordinates]
    blocks = _placed(pure_blocks(volume), places)
    field = _as_fitted(blocks, image.smooth, image.levels / scale, image, places).field.on(places)
    assert blocks.voxels_per_block == 4
    assert np.std(field.basis.evaluate(field.theta) - image.smooth) < 0.05 * np.std(image.smooth)


def test_thinning_keeps_pairs_of_neighbours_at_their_places(monkeypatch):
    monkeypatch.setattr("stepsmooth.report.quality_check.image.N_LOOKED_AT", 500)
    rng = np.random.default_rng(0)
    image = 1.0 + np.kron(rng.integers(2, size=(8, 8)), np.ones((8, 8))) + 0.05 * rng.normal(size=(64, 64))
    g = GridStepSmooth(2, spacing=(1.0, 2.0), knots=None).fit(image)
    thin = ThinImage.of(g)
    np.testing.assert_array_equal(thin.coordinates[0][:4], [0.0, 1.0, 6.0, 7.0])
    np.testing.assert_array_equal(thin.coordinates[1][:4], [0.0, 2.0, 12.0, 14.0])
    rows, columns = (thin.coordinates[a].astype(int) // step for a, step in ((0, 1), (1, 2)))
    np.testing.assert_allclose(thin.values[0, 0, :, :, 0], image[np.ix_(rows, columns)], rtol=1e-6)
    assert len(figures.Seen.of_image(thin).pairs) == 2 * (len(rows) * len(columns) // 2)
