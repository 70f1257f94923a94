"""Held-out scores and the choice of a stiffness, number by number (`stiffness`)."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.classes import Sample, run_em
from stepsmooth.grid.field import Field
from stepsmooth.grid.joint import fit_joint
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.scored_voxels import ScoredVoxels, cubes
from stepsmooth.grid.stiffness import best_of, choose_stiffness, held_out_score, lead


def test_a_lead_is_a_ratio_of_sums_with_the_error_of_one():
    rng = np.random.default_rng(0)
    one, other, mass = rng.normal(size=8), rng.normal(size=8), rng.uniform(1.0, 2.0, 8)
    one[2] = other[5] = np.nan
    both = [0, 1, 3, 4, 6, 7]
    gap, weight = (one - other)[both], mass[both]
    ahead, error = lead(one, other, mass)
    assert ahead == pytest.approx(gap.sum() / weight.sum())
    assert error == pytest.approx(np.sqrt(6.0 / 5.0 * np.sum((gap - ahead * weight) ** 2)) / weight.sum())
    assert lead(other, one, mass) == pytest.approx((-ahead, error))
    nowhere = np.full(8, np.nan)
    assert lead(one, nowhere, mass) == (0.0, 0.0)
    assert lead(np.array([3.0]), np.array([1.0]), np.array([4.0])) == (0.5, 0.0)


def test_the_best_is_the_stiffest_that_no_other_beats():
    mass = np.ones(3)
    totals = [np.array(total) for total in ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.5, 1.5], [0.5, 1.0, 1.0])]
    assert best_of(totals, mass) == 1
    assert best_of(totals[:1], mass) == 0


def test_the_curve_says_how_far_each_is_behind():
    mass = np.array([1.0, 2.0, 1.0, np.nan])[:3]
    totals = [np.array([-6.0, -13.0, -8.0]), np.array([-4.0, -8.4, -4.2]), np.array([-4.0, -8.0, -4.0])]
    curve = choose_stiffness([np.inf, 60.0, 30.0], totals, mass)
    np.testing.assert_allclose(curve.score, [-27.0 / 4.0, -16.6 / 4.0, -4.0])
    np.testing.assert_allclose(curve.behind, [11.0 / 4.0, 0.6 / 4.0, 0.0])
    np.testing.assert_allclose(curve.error, [lead(totals[2], total, mass)[1] for total in totals])
    assert curve.chosen == 2
    assert choose_stiffness([np.inf, 60.0, 30.0], totals, mass, 0.2).chosen == 1  # some slack
    assert choose_stiffness([np.inf, 60.0, 30.0], totals, mass, 3.0).chosen == 0
    plain = curve.as_dict()
    assert (plain["method"], plain["chosen"]) == ("held-out blocks", 30.0)
    assert plain["knots"].tolist() == [np.inf, 60.0, 30.0]
    for name in ("score", "behind", "error"):
        assert plain[name] is getattr(curve, name)
    assert "proof" not in plain
    assert replace(curve, proof=(0.3, 0.1)).as_dict()["proof"].tolist() == [0.3, 0.1]


def test_where_nothing_was_scored_the_stiffest_stays_without_a_score():
    nowhere = np.full(3, np.nan)
    curve = choose_stiffness([np.inf, 60.0], [nowhere, nowhere], np.ones(3))
    assert curve.chosen == 0
    assert np.all(np.isnan(curve.score))


def a_scene(rng, n=200):
    """Blocks along a plane of 20 x 10 with two channels, and a voxel to score at each."""
    shape = (20, 10, 1)
    coordinates = [2.0 * np.arange(m) for m in shape]
    labels, where = rng.integers(2, size=n), np.arange(n)
    f = 0.02 * (where // 10)
    levels = np.array([[1.0, 3.0], [2.0, 1.0]])
    means, values = (np.exp(f)[:, None] * levels[labels] + s * rng.normal(size=(n, 2)) for s in (0.1, 0.2))
    reach = ((0.0, 38.0), (0.0, 18.0), (0.0, 0.0))
    blocks = Blocks(means, np.ones(n), 0.0 * means, 0 * where, where, shape, coordinates, 4, np.ones(2), reach)
    cube, fold = cubes(where, shape, coordinates, 8.0)
    weights = rng.uniform(0.5, 2.0, n)
    voxels = ScoredVoxels(values, weights, where, coordinates, cube, fold, 4.0, 0.0 * values)
    classes = Classes(levels, np.full((2, 2), 0.01), np.full(2, 0.5), 0.05)
    return blocks, voxels, classes


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("bends", [True, False])
def test_a_cube_is_scored_under_a_fit_that_has_not_seen_it(own, bends):
    rng = np.random.default_rng(0)
    blocks, voxels, classes = a_scene(rng)
    field = Field.flat(blocks, 30.0, True) if bends else Field.absent(True)
    fit = fit_joint(blocks, field, classes)
    folds = (1, 3)
    found = held_out_score(blocks, fit, voxels, 8.0, folds, own_proportions=own)
    expected = np.full(len(voxels.mass), np.nan)
    for fold in folds:
        out = voxels.fold == fold
        refit = fit_joint(
            blocks.part(~out), fit.field, fit.classes, max_iter=2, tol=0.0, choose_penalty=False, weigh=False
        )
        gain = np.exp(refit.field.at(blocks))
        seen = Sample(voxels.values[~out], gain[~out], np.zeros(np.sum(~out)), voxels.weights[~out])
        wide = replace(refit.classes, variances=4.0 * refit.classes.variances)
        after = run_em(seen, wide, 3)[0]
        for cube in np.unique(voxels.cube[out]):
            here = voxels.cube == cube
            mean = gain[here, None, None] * after.levels
            density = np.prod(norm.pdf(voxels.values[here, None], mean, np.sqrt(after.variances)), axis=2)
            share, weights = after.proportions, voxels.weights[here]
            for _ in range(5 if own else 1):
                mixed = 0.99 * density @ share + 0.01 * after.outlier_density
                counts = weights @ (0.99 * density * share / mixed[:, None])
                share = (counts + 20.0 * after.proportions) / (counts.sum() + 20.0)
            expected[cube] = weights @ np.log(mixed)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.isfinite(found).sum() == np.isin(voxels.fold[np.unique(voxels.cube, return_index=True)[1]], folds).sum()


def test_an_image_within_one_cube_holds_nothing_out():
    blocks, voxels, classes = a_scene(np.random.default_rng(0))
    cube, fold = cubes(voxels.place, blocks.shape, blocks.coordinates, 1000.0)
    fit = fit_joint(blocks, Field.absent(True), classes)
    assert np.all(np.isnan(held_out_score(blocks, fit, replace(voxels, cube=cube, fold=fold), 1000.0)))
