"""The voxels under the field: f at each, the sample of them, and their classes, by plain formulas."""

import numpy as np
import pytest
from scipy.stats import norm

from stepsmooth.grid import closing
from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.closing import field_on_grid, voxel_classes, voxel_sample
from stepsmooth.grid.field import Field
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.mixture import Classes, class_sums
from stepsmooth.grid.splines import axis_basis
from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.grid.volume import Volume


def test_the_field_at_voxels_is_that_of_its_basis():
    rng = np.random.default_rng(0)
    axes = [axis_basis(0.0, 20.0, 6.0), axis_basis(1.0, 9.0, 5.0), axis_basis(0.0, 0.0, 5.0)]
    basis = TensorBasis.on(axes, [np.arange(3.0)] * 3)
    field = Field(basis, None, rng.normal(size=basis.size), 1.0, True)
    coordinates = [np.linspace(-1.0, 21.0, 9), np.linspace(1.0, 9.0, 7), np.array([0.0, 1.0])]
    found = field_on_grid(field, coordinates)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, field.on(coordinates).basis.evaluate(field.theta), atol=1e-6)
    np.testing.assert_allclose(field_on_grid(field, coordinates, 0.25), found - 0.25, atol=1e-6)
    nothing = field_on_grid(Field.absent(True), coordinates)
    np.testing.assert_array_equal(nothing, np.zeros((9, 7, 2)))
    assert not np.signbit(nothing).any()  # a report would say "from -0"
    np.testing.assert_array_equal(field_on_grid(Field.absent(True), coordinates, 0.25), np.full((9, 7, 2), -0.25))


@pytest.mark.parametrize("multiplicative", [True, False])
@pytest.mark.parametrize(("most", "piece"), [(1000, 1 << 18), (7, 1 << 18), (1000, 10), (7, 10)])
def test_the_sample_is_spread_evenly_over_the_voxels_that_are_present(most, piece, multiplicative, monkeypatch):
    monkeypatch.setattr(closing, "PIECE", piece)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 2, 4, 3, 5)).astype(np.float32)
    values[:, rng.uniform(size=(2, 4, 3, 5)) < 0.3] = np.nan
    weights = rng.uniform(0.5, 2.0, (2, 4, 3, 5)).astype(np.float32)
    f = rng.normal(size=(4, 3, 5)).astype(np.float32)
    sample = voxel_sample(Volume(values, (1.0, 1.0, 1.0), weights), f, multiplicative, most)
    present = np.flatnonzero(~np.isnan(values[0]).ravel())
    if most < len(present):
        present = present[np.linspace(0, len(present) - 1, most).astype(int)]
    np.testing.assert_array_equal(sample.Y, values.reshape(2, -1).T[present])
    np.testing.assert_allclose(sample.weights, weights.ravel()[present])
    smooth = np.tile(f.ravel(), 2)[present].astype(float)
    np.testing.assert_allclose(sample.gain, np.exp(smooth) if multiplicative else 1.0)
    np.testing.assert_allclose(sample.shift, 0.0 if multiplicative else smooth)
    plain = voxel_sample(Volume(values, (1.0, 1.0, 1.0)), f, multiplicative, most)
    np.testing.assert_array_equal(plain.weights, np.ones(len(present)))


def test_classes_of_voxels_spread_as_blocks_and_within_them_and_have_the_shares_of_all_voxels():
    rng = np.random.default_rng(0)
    truth = rng.choice(2, p=[0.7, 0.3], size=(12, 12))
    values = (1.0 + 4.0 * truth + 0.3 * rng.normal(size=(12, 12))).astype(np.float32)[None, None, ..., None]
    means = np.concatenate([rng.normal(5.0, 0.1, 30), rng.normal(1.0, 0.1, 50)])[:, None]
    within, weights = rng.uniform(0.05, 0.1, (80, 1)), rng.uniform(0.5, 2.0, 80)
    where = np.arange(80)
    blocks = Blocks(means, weights, within, 0 * where, where, (80, 1, 1), [], 4, np.ones(1), ())
    fitted = Classes(np.array([[5.0], [1.0]]), np.array([[0.02], [0.01]]), np.full(2, 0.5), 0.1)
    joint = JointFit(Field.absent(True), fitted, 0.0, 0.0, 1, True)
    volume, none = Volume(values, (1.0, 1.0, 1.0)), np.zeros((12, 12, 1), dtype=np.float32)
    classes, components, doubt = voxel_classes(volume, none, joint, blocks)
    np.testing.assert_array_equal(classes.levels, [[1.0], [5.0]])
    # The levels are so far apart that every block is sure of its class, but for outliers.
    density = norm.pdf(means, fitted.levels[:, 0], np.sqrt(fitted.variances[:, 0]))
    q = 0.99 * 0.5 * density / (0.99 * 0.5 * density.sum(axis=1) + 0.001)[:, None] * weights[:, None]
    pooled = q.sum(axis=1) @ within / q.sum()
    expected = fitted.variances + (q.T @ within + 10.0 * pooled) / (q.sum(axis=0)[:, None] + 10.0)
    np.testing.assert_allclose(classes.variances, expected[::-1], rtol=1e-6)
    again = class_sums(values.reshape(-1, 1).astype(float), np.ones(144), np.zeros(144), np.ones(144), classes).mass
    np.testing.assert_allclose(classes.proportions, again / again.sum(), atol=1e-6)
    assert classes.proportions[0] == pytest.approx(1.0 - truth.mean(), abs=0.02)
    assert components.owner.tolist() == [0, 1]
    assert doubt < 1e-6


def test_where_two_classes_share_a_level_another_is_looked_for_among_the_voxels():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=(20, 20))
    values = (1.0 + 2.0 * truth + 0.1 * rng.normal(size=(20, 20))).astype(np.float32)[None, None, ..., None]
    means = np.concatenate([rng.normal(1.0, 0.05, 40), rng.normal(5.0, 0.05, 40)])[:, None]
    where = np.arange(80)
    blocks = Blocks(means, np.ones(80), np.full((80, 1), 0.01), 0 * where, where, (80, 1, 1), [], 4, np.ones(1), ())
    stuck = Classes(np.array([[1.0], [1.001], [5.0]]), np.full((3, 1), 0.0025), np.array([0.25, 0.25, 0.5]), 0.1)
    joint = JointFit(Field.absent(True), stuck, 0.0, 0.0, 1, True)
    volume, none = Volume(values, (1.0, 1.0, 1.0)), np.zeros((20, 20, 1), dtype=np.float32)
    classes, components, doubt = voxel_classes(volume, none, joint, blocks)
    np.testing.assert_allclose(classes.levels[:, 0], [1.0, 3.0, 5.0], atol=0.1)
    assert components.levels is classes.levels
    assert doubt < 1e-6
    kept, _, _ = voxel_classes(volume, none, joint, blocks, regrouping=False)
    np.testing.assert_array_equal(kept.levels, stuck.levels)
