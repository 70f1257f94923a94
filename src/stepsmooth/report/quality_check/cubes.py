"""Images: cubes of space are held out in turn, and the field is fitted again to the rest, as stiff as it was."""

from dataclasses import replace

import numpy as np

from stepsmooth.grid.blocks import Blocks, pure_blocks
from stepsmooth.grid.classes import Sample, find_classes, run_em
from stepsmooth.grid.field import MOST_COEFFICIENTS, Field
from stepsmooth.grid.fieldprior import FieldPrior
from stepsmooth.grid.joint import JointFit, fit_joint
from stepsmooth.grid.mixture import Classes, gain_and_shift, outlier_density
from stepsmooth.grid.scored_voxels import cubes
from stepsmooth.grid.search import KNOTS
from stepsmooth.grid.splines import axis_basis
from stepsmooth.grid.stiffness import CUBE
from stepsmooth.grid.tensor import TensorBasis
from stepsmooth.grid.volume import Volume
from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.report.quality_check.heldout import FAR, N_FOLDS, HeldOut, compare, score_regions
from stepsmooth.report.quality_check.image import ThinImage

# About so many voxels are scored.
N_SCORED = 40_000
N_REFITS = 2
# The penalty is looked for in so many steps.
N_STIFF = 6


def held_out_cubes(image: ThinImage) -> HeldOut:
    """Return what the field of an image is worth in cubes of space that had no say in it.

    The cubes lie half a side away from those on which the stiffness was chosen: a field is not judged where it was
    picked for doing well. They are held out alone and in cubes of twice the side.
    """
    volume, scale, offset = image.in_units()
    shifted = [x + CUBE / 2.0 for x in image.coordinates]
    blocks = _placed(pure_blocks(volume), shifted)
    levels = (image.levels - offset) / scale
    f = image.smooth / (1.0 if image.multiplicative else scale[0])
    where, region = _scored(volume, shifted, CUBE)
    n_regions = int(region.max()) + 1
    mass = np.bincount(region, _weights(volume, where), minlength=n_regions).astype(np.float64)
    if not np.ptp(f[np.any(image.present, axis=0)]) > 0.0:
        return HeldOut.nothing(n_regions)
    fit = _as_fitted(blocks, f, levels, image, shifted)
    flat = _sample(volume, where, np.zeros(len(where)), image.multiplicative)
    density = outlier_density(flat.Y)
    of_voxels = replace(fit.classes, variances=fit.classes.variances * blocks.voxels_per_block, outlier_density=density)
    flat_classes = replace(find_classes(flat, len(levels))[0], outlier_density=density)
    place = where % f.size
    gains = []
    for length in (CUBE, FAR * CUBE):
        fold = cubes(place, f.shape, shifted, length)[1]
        sample = _sample(volume, where, _predicted(blocks, fit, shifted, length, place, fold), image.multiplicative)
        bent = score_regions(sample, of_voxels, region, n_regions, fold)
        gains.append(bent - score_regions(flat, flat_classes, region, n_regions, fold))
    return compare(gains[0], gains[1], mass)


def _placed(blocks: Blocks, coordinates: list[Floats]) -> Blocks:
    """Return blocks whose coordinates are indices of voxels at their places in space."""
    placed = [np.interp(u, np.arange(len(x)), x) for u, x in zip(blocks.coordinates, coordinates)]
    return replace(blocks, coordinates=placed)


def _scored(volume: Volume, coordinates: list[Floats], side: float) -> tuple[Ints, Ints]:
    """Return which voxels are scored, and the region of each."""
    where = np.flatnonzero(volume.present)
    if len(where) > N_SCORED:
        where = where[np.linspace(0, len(where) - 1, N_SCORED).astype(np.int64)]
    space = volume.grid[1:]
    cube = cubes(where % int(np.prod(space)), space, coordinates, side)[0]
    return where, np.unique(cube, return_inverse=True)[1].astype(np.int64)


def _weights(volume: Volume, where: Ints) -> Floats:
    if volume.weights is None:
        return np.ones(len(where))
    return volume.weights.reshape(-1)[where].astype(np.float64)


def _sample(volume: Volume, where: Ints, f: Floats, multiplicative: bool) -> Sample:
    values = volume.values.reshape(volume.n_channels, -1)[:, where].T.astype(np.float64)
    return Sample(np.ascontiguousarray(values), *gain_and_shift(f, multiplicative), _weights(volume, where))


def _as_fitted(blocks: Blocks, f: Floats, levels: Floats, image: ThinImage, coordinates: list[Floats]) -> JointFit:
    """Return a fit of all blocks that begins at the field in question and is as rough: it sets the penalty."""
    index = [np.clip(np.searchsorted(x, u), 0, len(x) - 1) for u, x in zip(blocks.coordinates, coordinates)]
    at_blocks = blocks.gather(f[np.ix_(*index)])
    field = _in_splines(blocks, at_blocks, image)
    start = Sample(blocks.means, *gain_and_shift(at_blocks, image.multiplicative), blocks.weights)
    spread = np.maximum(np.tile(blocks.noise, (len(levels), 1)), 1e-6 * np.var(blocks.means, axis=0))
    even = np.full(len(levels), 1.0 / len(levels))
    classes, _ = run_em(start, Classes(levels, spread, even, outlier_density(blocks.means)), 6)
    wanted = field.prior.energy(field.theta) if field.prior is not None else 0.0
    return _as_rough(blocks, field, classes, wanted)


def _in_splines(blocks: Blocks, f: Floats, image: ThinImage) -> Field:
    """Return f in splines: with knots at the distance of its own, or as far apart as they can be."""
    if np.isfinite(image.knots):
        return _flat(blocks, image.knots, image.multiplicative).fitted_to(f, blocks)
    field = Field.absent(image.multiplicative)
    for distance in KNOTS:
        field = _flat(blocks, distance, image.multiplicative).fitted_to(f, blocks)
        if np.std(field.at(blocks) - f) <= 0.05 * np.std(f):
            break
    return field


def _flat(blocks: Blocks, knots: float, multiplicative: bool) -> Field:
    """Return f = 0 in splines over the places of the blocks, with knots about so far apart."""
    while True:
        axes = [axis_basis(float(x[0]), float(x[-1]), knots) for x in blocks.coordinates]
        if np.prod([axis.size for axis in axes]) <= MOST_COEFFICIENTS:
            break
        knots *= 1.1
    basis = TensorBasis.on(axes, blocks.coordinates)
    return Field(basis, FieldPrior.of(basis), np.zeros(basis.size), 1.0, multiplicative)


def _as_rough(blocks: Blocks, field: Field, classes: Classes, wanted: float) -> JointFit:
    """Return the fit whose penalty leaves it as rough as the field was."""
    fit = fit_joint(blocks, field, classes, max_iter=3)
    if field.prior is None:
        return fit
    low, high = -np.inf, np.inf
    log_penalty = float(np.log(fit.field.penalty))
    for _ in range(N_STIFF):
        now = replace(field, penalty=float(np.exp(log_penalty)))
        fit = fit_joint(blocks, now, classes, max_iter=N_REFITS, choose_penalty=False)
        ratio = field.prior.energy(fit.field.theta) / max(wanted, 1e-300)
        if 0.9 < ratio < 1.1:
            break
        if ratio > 1.0:
            low = log_penalty
        else:
            high = log_penalty
        guess = log_penalty + np.clip(np.log(max(ratio, 1e-6)), -4.0, 4.0)
        log_penalty = guess if low < guess < high else (low + high) / 2.0
    return fit


def _predicted(
    blocks: Blocks, fit: JointFit, coordinates: list[Floats], side: float, place: Ints, fold: Ints
) -> Floats:
    """Return f at places of the grid, fitted without the blocks of their fold."""
    block_fold = cubes(blocks.place, blocks.shape, blocks.coordinates, side)[1]
    f = np.zeros(len(place))
    for held in range(N_FOLDS):
        inside, train = fold == held, block_fold != held
        if not inside.any() or not train.any():
            continue
        part = fit_joint(blocks.part(train), fit.field, fit.classes, max_iter=N_REFITS, choose_penalty=False)
        field = part.field.on(coordinates)
        if field.basis is not None:
            f[inside] = field.basis.evaluate(field.theta).reshape(-1)[place[inside]]
    return f
