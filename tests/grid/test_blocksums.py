"""What a step reads off the blocks, against plain sums."""

import numpy as np
import pytest
from scipy.stats import norm

from stepsmooth.grid import blocksums
from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.blocksums import block_sums, squares_at
from stepsmooth.grid.mixture import Classes


def some_blocks(rng, n, p=2, frames=1, shape=(53, 40, 1)):
    space = int(np.prod(shape))
    where = np.sort(rng.choice(frames * space, n, replace=False))
    none = np.zeros((n, p))
    return Blocks(rng.normal(size=(n, p)), rng.uniform(0.5, 2.0, n), none, where // space, where % space, shape, [], 8,
                  np.ones(p), ())  # fmt: skip


@pytest.mark.parametrize("multiplicative", [True, False])
@pytest.mark.parametrize(("n", "frames", "many"), [(70, 2, 1), (2100, 1, 1), (2100, 1, 32)])
def test_images_and_sums_are_the_plain_ones(n, frames, many, multiplicative, monkeypatch):
    monkeypatch.setattr(blocksums, "MANY", many)
    rng = np.random.default_rng(0)
    blocks, f = some_blocks(rng, n, frames=frames), 0.3 * rng.normal(size=n)
    classes = Classes(rng.normal(size=(3, 2)), rng.uniform(0.3, 1.0, (3, 2)), np.array([0.2, 0.3, 0.5]), 0.05)
    gain, shift = (np.exp(f), 0.0 * f) if multiplicative else (np.ones(n), f)
    mean = gain[:, None, None] * classes.levels + shift[:, None, None]
    density = np.prod(norm.pdf(blocks.means[:, None], mean, np.sqrt(classes.variances)), axis=2)
    joint = 0.99 * classes.proportions * density
    q = joint / (joint.sum(axis=1) + 0.01 * 0.05)[:, None]
    sums = block_sums(blocks, f, multiplicative, classes)
    np.testing.assert_allclose(sums.q.T, q, atol=1e-6)
    residual, mass = blocks.means[:, None] - mean, blocks.weights[:, None] * q
    near = {"rtol": 1e-5, "atol": 1e-5 * n**0.5}
    np.testing.assert_allclose(sums.mass, mass.sum(axis=0), **near)
    np.testing.assert_allclose(sums.information, mass.T @ gain**2, **near)
    np.testing.assert_allclose(sums.pull, np.einsum("nk,n,nkc->kc", mass, gain, residual), **near)
    slope = gain[:, None, None] * (classes.levels if multiplicative else np.ones((3, 2)))
    weight = np.einsum("nk,nkc->n", mass, slope**2 / classes.variances)
    lift = np.einsum("nk,nkc,nkc->n", mass, slope / classes.variances, residual)
    np.testing.assert_allclose(sums.weight, blocks.scatter(weight), **near)
    np.testing.assert_allclose(sums.lift, blocks.scatter(lift), **near)
    for k in range(3):
        np.testing.assert_allclose(sums.touch[k], blocks.scatter(mass[:, k] * gain**2), **near)
    monkeypatch.setattr(blocksums, "MANY", many)
    levels, moved_f = classes.levels + 0.2, f - 0.1
    gain, shift = (np.exp(moved_f), 0.0 * f) if multiplicative else (np.ones(n), moved_f)
    error = blocks.means[:, None] - gain[:, None, None] * levels - shift[:, None, None]
    expected = np.einsum("nk,nkc->kc", mass, error**2)
    np.testing.assert_allclose(squares_at(blocks, moved_f, multiplicative, levels, sums), expected, **near)
