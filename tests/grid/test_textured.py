"""Textured images, whose field is looked for in logarithms (`textured`)."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from stepsmooth import GridStepSmooth
from stepsmooth.grid import fitting
from stepsmooth.grid.blocks import pure_blocks
from stepsmooth.grid.contest import Contest
from stepsmooth.grid.search import Search, search
from stepsmooth.grid.stiffness import choose_stiffness
from stepsmooth.grid.textured import in_logs, task_in_logs, textured
from stepsmooth.grid.volume import Volume


def an_image(texture, noise, seed=0):
    """Three classes in patches under a slope; texture is smooth, a share of the level, and seen through the field."""
    rng = np.random.default_rng(seed)
    patches = np.repeat(np.repeat(rng.integers(3, size=(10, 10)), 12, axis=0), 12, axis=1)
    varied = gaussian_filter(rng.normal(size=patches.shape), 3.0)
    f = np.linspace(-0.4, 0.4, 120)[:, None] + np.zeros(120)
    image = np.exp(f) * np.array([1.0, 2.0, 3.0])[patches] * (1.0 + texture * varied / varied.std())
    return (image + noise * rng.normal(size=image.shape)).astype(np.float32), f


@pytest.mark.parametrize(("texture", "noise", "expected"), [(0.06, 0.01, True), (0.0, 0.05, False), (0.0, 0.0, False)])
def test_tissue_that_varies_is_told_from_noise(texture, noise, expected, volume_of):
    volume = volume_of(an_image(texture, noise)[0])
    joint, _, blocks = search(volume, pure_blocks(volume), Search(3, True))
    assert joint.field.basis is not None
    assert textured(joint, blocks) == expected


def test_classes_of_few_blocks_do_not_make_an_image_textured(volume_of):
    # Two wide classes of three, but most blocks lie in the third: the two may hold its mixed blocks.
    volume = volume_of(an_image(0.0, 0.05)[0])
    joint, _, blocks = search(volume, pure_blocks(volume), Search(3, True))
    wide = joint.classes.variances * np.array([[1.0], [40.0], [40.0]])
    for shares, expected in (((0.3, 0.4, 0.3), True), ((0.8, 0.1, 0.1), False)):
        classes = replace(joint.classes, variances=wide, proportions=np.array(shares))
        assert textured(replace(joint, classes=classes), blocks) == expected


def test_the_field_of_a_textured_image_follows_a_field_put_onto_it():
    image, _ = an_image(0.06, 0.01)
    t = np.linspace(-1.0, 1.0, 120)
    added = 0.5 * t[None] + 0.4 * t[:, None] * t[None]
    plain, moved = (GridStepSmooth(3).fit(y.astype(np.float32)) for y in (image, image * np.exp(added)))
    assert plain.selection_["logarithms"] is True
    assert moved.selection_["logarithms"] is True
    assert np.std(moved.smooth_ - plain.smooth_ - added) < 0.004  # in the raw domain .007


def test_a_field_that_the_raw_image_shows_is_kept_where_logarithms_leave_it_open(monkeypatch):
    image, f = an_image(0.06, 0.01)
    asked = []

    def doubtful(volume, blocks, task):
        asked.append((task.multiplicative, task.knots))
        none = not task.multiplicative and task.knots is None
        return search(volume, blocks, replace(task, knots=np.inf) if none else task)

    monkeypatch.setattr(fitting, "search", doubtful)
    model = GridStepSmooth(3).fit(image)
    assert (False, None) in asked
    assert asked[-1] == (False, 90.0)  # in lengths that count as mm
    assert np.std(model.smooth_ - f) < 0.03


def test_logarithms_leave_out_what_has_none():
    values = np.array([[1.0, 2.0, -1.0, np.nan], [3.0, 0.0, 4.0, 1.0]], dtype=np.float32).reshape(2, 1, 4, 1, 1)
    found = in_logs(Volume(values, (1.0, 1.0, 1.0)))
    expected = np.full((2, 4), np.nan)
    expected[:, 0] = np.log([1.0, 3.0])
    np.testing.assert_allclose(found.values.reshape(2, 4), expected, rtol=1e-6)
    assert found.values.dtype == np.float32


def test_the_task_in_logarithms_adds_and_asks_more_of_a_finer_field():
    task = task_in_logs(Search(2, True, known=np.array([[1.0], [2.0]]), rician=True))
    assert (task.multiplicative, task.rician) == (False, False)
    np.testing.assert_allclose(task.known, np.log([[1.0], [2.0]]))
    assert task.cube > Search(2, True).cube
    assert task.errors > Search(2, True).errors
    assert task_in_logs(Search(2, True)).known is None


def test_more_errors_take_the_stiffer_of_two():
    mass = np.ones(40)
    stiff = np.zeros(40)
    fine = 0.3 + np.tile([1.0, -1.0], 20)  # ahead by about two errors
    assert choose_stiffness([60.0, 30.0], [stiff, fine], mass).chosen == 1
    assert choose_stiffness([60.0, 30.0], [stiff, fine], mass, errors=2.5).chosen == 0
    assert Contest.errors == 1.0
