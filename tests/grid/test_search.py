"""The search: what a task fixes beforehand stays fixed, and of several starts the likeliest is taken."""

from dataclasses import replace

import numpy as np
import pytest

from stepsmooth import GridStepSmooth
from stepsmooth.datasets import make_head_labels, simulate_scan
from stepsmooth.grid import search as module
from stepsmooth.grid.blocks import merge_blocks, pure_blocks
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.search import Search, fit_at, refit, search, settle
from stepsmooth.metrics import label_accuracy


@pytest.fixture(scope="module")
def scene(patches, volume_of):
    volume = volume_of(patches(shape=(60, 56), levels=(1.0, 2.0), noise=0.03, strength=0.3)[0])
    return volume, pure_blocks(volume)


def test_a_given_tau_is_the_penalty_a_block(scene):
    _, blocks = scene
    task = Search(2, True, tau=0.01)
    fit = fit_at(blocks, task, 30.0, None)
    assert fit.field.penalty == pytest.approx(0.01 * len(blocks))
    merged = replace(blocks, merged=2.5)
    assert refit(merged, fit.field, fit.classes, task).field.penalty == pytest.approx(0.025 * len(blocks))
    assert fit_at(blocks, Search(2, True), 30.0, None).field.penalty != pytest.approx(0.01 * len(blocks))


def test_known_levels_keep_their_ratios(scene):
    _, blocks = scene
    for knots in (np.inf, 30.0):
        fit = fit_at(blocks, Search(2, True, known=np.array([[10.0], [20.0]])), knots, None)
        assert fit.classes.levels[1, 0] / fit.classes.levels[0, 0] == pytest.approx(2.0)


def test_infinite_knots_are_no_field(scene):
    _, blocks = scene
    fit = fit_at(blocks, Search(2, False), np.inf, None)
    assert fit.field.basis is None
    assert not fit.field.multiplicative
    assert fit.classes.count == 2


def test_the_likeliest_of_the_starts_that_a_task_allows_is_taken(scene, monkeypatch):
    _, blocks = scene
    evidence = []

    def noting(*given):
        fit = original(*given)
        evidence.append(fit.evidence)
        return fit

    original = module.refit
    stiffer = fit_at(blocks, Search(2, True), 60.0, None)
    monkeypatch.setattr(module, "refit", noting)
    large = replace(blocks, merged=8.0)  # as volumes are: classes are not looked for anew
    for start, given, starts, where in [
        ("auto", stiffer, 3, blocks),
        ("auto", stiffer, 2, large),
        ("auto", None, 1, blocks),
        ("kmeans", stiffer, 1, blocks),
        ("differences", stiffer, 2, blocks),
        ("differences", stiffer, 1, large),
    ]:
        evidence.clear()
        fit = fit_at(where, Search(2, True, start=start), 30.0, given)
        assert starts <= len(evidence) <= 2 * starts - 1  # a rival that is ahead goes on
        assert fit.evidence == max(evidence)
    monkeypatch.setattr(module, "MANY_COEFFICIENTS", 0)  # there, a fine field starts from the stiffer one alone
    for where, starts in ((large, 1), (blocks, 3)):
        evidence.clear()
        fit_at(where, Search(2, True), 30.0, stiffer)
        assert starts <= len(evidence) <= 2 * starts - 1


@pytest.mark.parametrize("seed", [5, 9])
def test_a_field_that_is_rougher_than_the_stiff_candidates_is_found(seed):
    """Stiff fields mistake it, with wrong classes; hardly better ones follow before the right one."""
    head = make_head_labels((120, 144), random_state=0)
    scan = simulate_scan(head, classes=("CSF", "GM", "WM"), field="rough", ratio=12.0, noise=3.0, random_state=seed)
    model = GridStepSmooth(3, spacing=scan.spacing).fit(scan.image, mask=scan.mask)
    assert model.selection_["stiffness"]["chosen"] <= 20.0
    assert label_accuracy(scan.labels[scan.mask], model.labels_[scan.mask]) > 0.985


def test_given_knots_need_no_selection_and_are_settled_on_all_blocks(scene, monkeypatch):
    volume, blocks = scene
    task = Search(2, True, knots=30.0)
    fit, selection, _ = search(volume, blocks, task)
    assert selection == {}
    np.testing.assert_allclose(fit.field.theta, fit_at(blocks, task, 30.0, None).field.theta)
    monkeypatch.setattr(module, "N_SEARCHED", len(blocks) // 4)
    few = merge_blocks(blocks, len(blocks) // 4)
    assert len(few) < len(blocks)
    merged, _, _ = search(volume, blocks, task)
    assert np.std(merged.field.at(blocks) - fit.field.at(blocks)) < 0.01
    np.testing.assert_allclose(merged.classes.levels, fit.classes.levels, rtol=0.02)
    np.testing.assert_allclose(merged.classes.variances, fit.classes.variances, rtol=0.1)


def test_a_field_that_the_blocks_do_not_determine_is_no_candidate(scene, monkeypatch):
    volume, blocks = scene
    refused = []

    def refusing(blocks, task, knots, *rest):
        if knots < 40.0:
            refused.append(knots)
            raise np.linalg.LinAlgError("singular")
        return original(blocks, task, knots, *rest)

    original = module.fit_at
    monkeypatch.setattr(module, "fit_at", refusing)
    _, selection, _ = search(volume, blocks, Search(2, True))
    assert len(refused) == 1
    assert np.min(selection["stiffness"]["knots"]) >= 40.0


def test_the_curve_has_distances_in_mm(scene):
    knots = search(*scene, Search(2, True))[1]["stiffness"]["knots"]
    assert np.isinf(knots[0])
    assert len(knots) > 1
    assert set(knots[1:]) <= set(module.KNOTS)


def test_classes_that_overlap_in_the_blocks_are_settled_on_merged_ones(patches, volume_of, monkeypatch):
    # Two levels are two standard deviations of a block apart, and three of a merged one.
    levels = (0.40, 0.45, 1.0)
    image, _, _ = patches(shape=(160, 160), levels=levels, noise=0.05, patch=20, strength=0.2)
    blocks, task = pure_blocks(volume_of(image)), Search(3, True)
    field = module.Field.flat(blocks, 60.0, multiplicative=True)
    classes = Classes(np.array(levels)[:, None], np.full((3, 1), 6e-4), np.full(3, 1.0 / 3.0), 1.0)
    monkeypatch.setattr(module, "N_SEARCHED", 400)
    fit = settle(blocks, field, classes, task)
    ratios = fit.classes.levels.ravel() / fit.classes.levels[2]
    np.testing.assert_allclose(ratios, levels, atol=0.006)
    np.testing.assert_allclose(
        fit.classes.variances, 6e-4, rtol=1.0
    )  # those of the blocks themselves: merged ones have a tenth
    assert fit.merged > 1.0
    np.testing.assert_allclose(fit.told_apart.variances * fit.merged, fit.classes.variances)
    assert fit.field.at(blocks).shape == (len(blocks),)
    assert fit.evidence != refit(blocks, field, classes, task).evidence
    # Distinct ones are settled on all blocks.
    apart = replace(classes, variances=classes.variances / 9.0)
    same = refit(blocks, field, apart, task)
    assert settle(blocks, field, apart, task).evidence == same.evidence
    assert same.merged == 1.0


@pytest.fixture(scope="module")
def mixed(patches, volume_of):
    """Return blocks of five levels, two of them close, of which every twentieth is a mixture."""
    levels = (0.2, 0.40, 0.45, 0.7, 1.0)
    image, _, _ = patches(shape=(160, 160), levels=levels, noise=0.01, patch=10, strength=0.2)
    blocks = pure_blocks(volume_of(image))
    which = np.arange(len(blocks)) % 20 == 0
    means = np.where(which, np.random.default_rng(0).uniform(0.2, 1.0, len(blocks)), blocks.means[:, 0])
    return replace(blocks, means=means[:, None]), np.array(levels)


def test_many_levels_are_looked_for_with_one_variance_and_get_their_own_in_the_end(mixed, volume_of):
    blocks, levels = mixed
    fit = fit_at(blocks, Search(5, True), 90.0, None)
    assert np.ptp(fit.classes.variances) == 0.0
    found = fit.classes.ordered().levels.ravel()
    np.testing.assert_allclose(found / found[-1], levels, atol=0.01)
    own = module.freed(blocks, fit, Search(5, True))
    assert np.ptp(own.classes.variances) > 0.0
    assert own.evidence > fit.evidence
    # Few levels, or known ones, have their own from the start.
    for n_levels, known in ((3, None), (4, np.array([[0.2], [0.4], [0.7], [1.0]]))):
        task = Search(n_levels, True, known=known)
        fit = fit_at(blocks, task, 90.0, None)
        assert np.ptp(fit.classes.variances) > 0.0
        assert module.freed(blocks, fit, task) is fit
    joint, _, _ = search(volume_of(np.ones((8, 8))), blocks, Search(5, True, knots=90.0))
    assert np.ptp(joint.classes.variances) > 0.0


def test_classes_are_looked_for_again_under_the_field_bent_both_ways(mixed, monkeypatch):
    blocks, _ = mixed
    task = Search(5, True)
    fit = refit(
        blocks,
        module.Field.flat(blocks, 60.0, multiplicative=True),
        Classes(np.array([[0.2], [0.42], [0.68], [0.72], [1.0]]), np.full((5, 1), 4e-4), np.full(5, 0.2), 1.0, True),
        task,
        max_iter=0,
    )
    tried = []

    def seen(blocks, field, task, *, alike):
        assert alike
        tried.append(field.at(blocks) - fit.field.at(blocks))
        return module.find_classes(module.sample_of(blocks, field), task.n_levels, task.seed, alike=True)[0]

    monkeypatch.setattr(module, "classes_under", seen)
    again = module._bent_back(blocks, fit, task)
    assert again.evidence > fit.evidence
    # Inside against outside, by five hundredths, down and up.
    centre = np.abs(np.stack(np.unravel_index(blocks.place, blocks.shape)[:2]) - 39.5).max(axis=0)
    for change, sign in zip(tried[:2], (-1.0, 1.0)):
        np.testing.assert_allclose(np.std(change), module.BEND, rtol=0.1)
        assert sign * (change[centre > 35.0].mean() - change[centre < 10.0].mean()) > module.BEND
    # What cannot be bettered stays.
    settled = replace(fit, evidence=np.inf)
    assert module._bent_back(blocks, settled, task) is settled
