"""What a fit costs, counted: blocks searched, folds scored, passes over the voxels, memory."""

import tracemalloc

import numpy as np
import pytest

from stepsmooth import GridStepSmooth
from stepsmooth.grid import Search, closing, contest, fit_grid, fitting, joint, labelling, moments, search
from stepsmooth.grid.blocks import merge_blocks, pure_blocks
from stepsmooth.grid.scored_voxels import N_FOLDS, ScoredVoxels, cubes
from stepsmooth.grid.search import fit_at
from stepsmooth.grid.stiffness import FIRST_FOLDS
from stepsmooth.grid.tensor_smoother import TensorSmoother


@pytest.fixture(scope="module")
def large(patches):
    """A volume that is worth merging blocks for."""
    return patches(shape=(72, 64, 64), patch=8, noise=0.04)


def test_merged_blocks_are_few_keep_the_weight_and_do_not_mix_classes(large, volume_of):
    image, labels, f = large
    blocks = pure_blocks(volume_of(image))
    merged = merge_blocks(blocks, 6000)
    assert len(merged) <= 6000 < len(blocks)
    kept = merged.merged * merged.weights.sum()
    assert 0.6 * blocks.weights.sum() < kept <= blocks.weights.sum() + 1e-6
    at = [np.round(x).astype(int) for x in merged.coordinates]
    truth, field = labels[np.ix_(*at)].ravel()[merged.place], f[np.ix_(*at)].ravel()[merged.place]
    off = np.abs(merged.means[:, 0] / np.exp(field) - np.array([1.0, 1.6, 2.4])[truth])
    assert np.mean(off < 0.1) > 0.97


def test_a_small_image_is_searched_on_all_its_blocks(patches, volume_of):
    blocks = pure_blocks(volume_of(patches(shape=(60, 56))[0]))
    assert merge_blocks(blocks, 40_000) is blocks


def test_merged_blocks_know_as_much_of_the_field_as_all(large, volume_of):
    image, _, _ = large
    blocks, task = pure_blocks(volume_of(image)), Search(3, True)
    fits = [fit_at(some, task, 60.0, None) for some in (blocks, merge_blocks(blocks, 6000))]
    at_blocks = [fit.field.on(blocks.coordinates).at(blocks) for fit in fits]
    assert np.std(at_blocks[0] - at_blocks[1]) < 0.003


def test_candidates_that_differ_plainly_are_told_apart_by_two_folds(patches, volume_of, monkeypatch):
    scored = []

    def counting(blocks, fit, voxels, side, folds):
        scored.append(folds)
        return original(blocks, fit, voxels, side, folds)

    original = contest.held_out_score
    monkeypatch.setattr(contest, "held_out_score", counting)
    volume, task = volume_of(patches(shape=(160, 150), noise=0.03)[0]), Search(3, True)
    blocks = pure_blocks(volume)
    rivals = contest.Contest(blocks, ScoredVoxels.of(volume, blocks, 20.0), 20.0)
    assert not rivals.enter(np.inf, fit_at(blocks, task, np.inf, None))
    assert rivals.enter(60.0, fit_at(blocks, task, 60.0, None))
    assert scored == [FIRST_FOLDS, FIRST_FOLDS]
    rivals.enter(60.0, rivals.fits[-1])
    assert sum(len(folds) for folds in scored) == 2 + 2 * N_FOLDS
    assert rivals.curve().chosen == 1


def test_the_folds_that_are_scored_first_spread_over_all_space():
    coordinates = [20.0 * np.arange(10.0)] * 3
    fold = cubes(np.arange(1000), (10, 10, 10), coordinates, 20.0)[1].reshape(10, 10, 10)
    first = np.isin(fold, FIRST_FOLDS)
    assert all(first.any(axis=a).mean() > 0.9 for a in range(3))


@pytest.mark.parametrize(("noise", "most"), [(0.04, 1), (0.2, 3)], ids=["clear", "noisy"])
def test_a_clear_image_is_labelled_once_and_a_noisy_one_once_a_round_besides(
    patches, volume_of, monkeypatch, noise, most
):
    passes = []

    def counting(*given):
        passes.append(1)
        return original(*given)

    original = fitting.label_voxels
    monkeypatch.setattr(fitting, "label_voxels", counting)
    image = patches(shape=(72, 64, 64), patch=8, noise=noise)[0]
    fit_grid(volume_of(image), Search(3, True, knots=60.0), "auto")
    assert 1 <= len(passes) <= most
    assert (len(passes) == 1) == (most == 1)


def counted(monkeypatch, module, name):
    """Count the calls of a function that a module calls by name."""
    calls = []
    original = getattr(module, name)

    def counting(*given, **options):
        calls.append(1)
        return original(*given, **options)

    monkeypatch.setattr(module, name, counting)
    return calls


def test_the_voxels_of_a_clear_image_are_passed_over_four_times(large, volume_of, monkeypatch):
    # Blocks, blocks that the levels show to be pure, f, labels: the search in between looks at blocks alone.
    passes = [(moments, "_moments", 2), (closing, "_evaluate", 1), (labelling, "_label", 1)]
    counts = [(counted(monkeypatch, module, name), most) for module, name, most in passes]
    monkeypatch.setattr(search, "N_SEARCHED", 2000)
    fit_grid(volume_of(large[0]), Search(3, True), "auto")
    assert [len(calls) for calls, _ in counts] == [most for _, most in counts]


def test_a_search_takes_few_steps_and_most_of_them_on_merged_blocks(large, volume_of, monkeypatch):
    sizes = []

    def counting(blocks, *given):
        sizes.append(len(blocks))
        return original(blocks, *given)

    original = joint._step
    monkeypatch.setattr(joint, "_step", counting)
    monkeypatch.setattr(search, "N_SEARCHED", 2000)
    fit_grid(volume_of(large[0]), Search(3, True), "auto")
    merged = [size for size in sizes if size <= 2000]
    assert len(sizes) < 90
    assert len(sizes) - len(merged) <= 4


def test_a_start_that_is_behind_is_left_after_as_many_steps_as_the_other_took(large, volume_of, monkeypatch):
    steps = []

    def noting(*given, **options):
        fit = original(*given, **options)
        steps.append((fit.n_iter, fit.evidence))
        return fit

    blocks = merge_blocks(pure_blocks(volume_of(large[0])), 2000)
    none = fit_at(blocks, Search(3, True), np.inf, None)
    original = search.fit_joint
    monkeypatch.setattr(search, "fit_joint", noting)
    fit = fit_at(blocks, Search(3, True), 60.0, none)
    (first, ahead), (second, behind) = steps[:2]
    assert second <= max(first, search.FEWEST_STEPS)
    assert (len(steps) == 2) == (behind <= ahead or second < max(first, search.FEWEST_STEPS))
    assert fit.evidence == max(evidence for _, evidence in steps)


@pytest.mark.parametrize("kind", ["mask", "whole", "air"])
def test_peak_memory_is_below_six_images(patches, kind):
    # So large that samples of a fixed size do not count.
    image = patches(shape=(120, 104, 112), patch=8, noise=0.04)[0].astype(np.float32)
    axes = np.meshgrid(*(np.linspace(-1.0, 1.0, n) for n in image.shape), indexing="ij")
    ball = sum(x**2 for x in axes) < 0.8**2
    if kind == "air":
        noise = np.random.default_rng(0).normal(size=(2, *image.shape)).astype(np.float32)
        image = np.where(ball, image, 0.03 * np.hypot(*noise))
    mask = ball if kind == "mask" else None
    found = GridStepSmooth(3, spacing=1.0, knots=60.0).fit(image, mask)  # compiles
    assert found.has_background_ == (kind == "air")
    tracemalloc.start()
    GridStepSmooth(3, spacing=1.0, knots=60.0).fit(image, mask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * image.nbytes


def test_altmin_asks_for_the_degrees_of_freedom_of_each_tau_once(monkeypatch):
    asked = []
    trace = TensorSmoother.trace

    def counted(self, tau):
        if not self.present.all():  # candidates are spread by those of the whole grid
            asked.append(tau)
        return trace(self, tau)

    monkeypatch.setattr(TensorSmoother, "trace", counted)
    rng = np.random.default_rng(0)
    image = np.exp(rng.integers(2, size=(16, 18)) + 0.1 * rng.normal(size=(16, 18)))
    mask = np.ones(image.shape, dtype=bool)
    mask[5:9, 4:8] = False
    g = GridStepSmooth(2, solver="altmin").fit(image, mask)
    assert sorted(asked) == sorted(g.selection_["tau"]["tau"])
