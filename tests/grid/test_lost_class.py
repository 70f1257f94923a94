"""A class that no pure block shows is found among the voxels, if no other class explains them; air is no class."""

from dataclasses import replace

import numpy as np
import pytest

from stepsmooth import GridStepSmooth
from stepsmooth.grid.background import Air
from stepsmooth.grid.blocks import pure_blocks
from stepsmooth.grid.closing import field_on_grid, voxel_classes
from stepsmooth.grid.field import Field
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.volume import Volume


@pytest.mark.parametrize("seed", range(3))
def test_voxels_that_no_class_explains_get_one(seed):
    # Two tissues, and between them lines of one voxel that are darker than both.
    rng = np.random.default_rng(seed)
    image = np.where(np.add.outer(np.arange(80) // 20, np.arange(80) // 20) % 2 == 0, 0.7, 1.0)
    image[:, 9::10] = 0.3
    volume = Volume(
        (image + 0.03 * rng.normal(size=image.shape)).astype(np.float32)[None, None, :, :, None], (1.0,) * 3
    )
    blocks = pure_blocks(volume)
    # Pure blocks know of two tissues, so that the third class lies between them.
    found = Classes(np.array([[0.7], [0.85], [1.0]]), np.full((3, 1), 2.5e-4), np.array([0.49, 0.02, 0.49]), 1.0)
    field = Field.absent(multiplicative=True)
    joint = JointFit(field, found, 0.0, 0.0, 1, True)
    smooth = field_on_grid(field, volume.coordinates())
    classes, _, _ = voxel_classes(volume, smooth, joint, blocks)
    np.testing.assert_allclose(classes.levels.ravel(), [0.3, 0.7, 1.0], atol=0.01)
    kept, _, _ = voxel_classes(volume, smooth, joint, blocks, regrouping=False)
    np.testing.assert_array_equal(kept.levels, found.levels)


@pytest.mark.parametrize("seed", range(3))
def test_air_in_blocks_at_the_border_of_the_head_gets_no_class(seed):
    # Three tissues, and lines of air, of which the field knows nothing: they are darker than any tissue.
    rng = np.random.default_rng(seed)
    image = np.choose(np.add.outer(np.arange(90) // 10, np.arange(90) // 10) % 3, [0.4, 0.46, 1.0])
    image[:, 9::10] = 0.0
    image = np.hypot(image + 0.02 * rng.normal(size=image.shape), 0.02 * rng.normal(size=image.shape))
    volume = Volume(image.astype(np.float32)[None, None, :, :, None], (1.0,) * 3)
    found = Classes(np.array([[0.4], [0.46], [1.0]]), np.full((3, 1), 1e-4), np.full(3, 1 / 3), 1.0)
    field = Field.absent(multiplicative=True)
    joint, blocks = JointFit(field, found, 0.0, 0.0, 1, True), pure_blocks(volume)
    smooth = field_on_grid(field, volume.coordinates())
    kept, _, _ = voxel_classes(volume, smooth, joint, blocks, Air(np.array([0.02]), 0.1))
    np.testing.assert_array_equal(kept.levels, found.levels)
    # Were it not known what air looks like, it would be taken for a class.
    classes, _, _ = voxel_classes(volume, smooth, joint, blocks)
    assert classes.levels.min() < 0.1


def test_classes_that_merged_blocks_tell_apart_are_not_looked_for_among_single_voxels():
    rng = np.random.default_rng(0)
    image = np.choose(np.add.outer(np.arange(90) // 10, np.arange(90) // 10) % 3, [0.4, 0.43, 1.0])
    image = image + 0.05 * rng.normal(size=image.shape)
    volume = Volume(image.astype(np.float32)[None, None, :, :, None], (1.0,) * 3)
    found = Classes(np.array([[0.4], [0.43], [1.0]]), np.full((3, 1), 6.25e-4), np.full(3, 1 / 3), 1.0)
    joint = JointFit(Field.absent(multiplicative=True), found, 0.0, 0.0, 1, True)
    blocks, smooth = pure_blocks(volume), field_on_grid(joint.field, volume.coordinates())
    kept, _, _ = voxel_classes(volume, smooth, replace(joint, merged=16.0), blocks)
    np.testing.assert_array_equal(kept.levels, found.levels)
    # Single blocks leave them within 1.2 standard deviations of each other: one of them may be none.
    regrouped, _, _ = voxel_classes(volume, smooth, joint, blocks)
    assert not np.array_equal(regrouped.levels, found.levels)


def test_what_is_as_dark_as_air_is_a_class_inside_a_mask():
    # Bone around two tissues: blocks of it may be air and have no say in the field, but the mask says they are not.
    rng = np.random.default_rng(0)
    place = np.indices((44, 44, 44)) - 22.0
    labels = 2 - np.digitize(np.linalg.norm(place, axis=0), [10.0, 15.0, 18.0])
    clean = np.where(labels >= 0, np.array([0.0, 0.6, 1.0])[labels], 0.0) * np.exp(0.3 * np.sin(place[0] / 14.0))
    noise = 0.03 * rng.normal(size=(2, *clean.shape))
    image = np.hypot(clean + noise[0], noise[1]).astype(np.float32)
    m = GridStepSmooth(3).fit(image, labels >= 0)
    assert np.mean(m.labels_[labels >= 0] == labels[labels >= 0]) > 0.999
