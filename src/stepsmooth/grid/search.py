"""From pure blocks to a joint fit: for each stiffness the better of several starts, and among them what holds out."""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.classes import find_classes
from stepsmooth.grid.differences import field_from_differences
from stepsmooth.grid.field import Field
from stepsmooth.grid.joint import JointFit, fit_joint, sample_of
from stepsmooth.grid.known import classes_of_known
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.stiffness import CUBE, ScoredVoxels, choose_stiffness, held_out_score
from stepsmooth.grid.volume import Volume
from stepsmooth.model.arrays import Floats

# Distances between knots that are tried, in mm: bias fields are slow.
KNOTS = (90.0, 60.0, 40.0, 28.0, 20.0, 14.0)
# A finer field is not tried once so many in a row were no better.
PATIENCE = 2


@dataclass(frozen=True)
class Search:
    """What is to be found: M classes or known levels, f that multiplies or adds, and what is fixed beforehand.

    `knots` is a distance, infinite for no field, or None to choose; `tau`, the penalty a block, likewise. `unit` is the
    length that counts as a millimetre.
    """

    n_levels: int
    multiplicative: bool
    known: Floats | None = None
    knots: float | None = None
    tau: float | None = None
    start: str = "auto"
    rician: bool = False
    unit: float = 1.0
    seed: int = 0


def search(volume: Volume, blocks: Blocks, task: Search) -> tuple[JointFit, dict[str, object]]:
    """Return the joint fit of the block means, and the curve behind the choice of its stiffness."""
    if task.knots is not None:
        return fit_at(blocks, task, task.knots, None), {}
    side = CUBE * task.unit
    voxels = ScoredVoxels.of(volume, side)
    knots, fits, totals, mass = [np.inf], [fit_at(blocks, task, np.inf, None)], [], np.zeros(0)
    totals.append(held_out_score(blocks, fits[0], voxels, side)[0])
    sizes = {0}
    best, since = 0, 0
    for distance in KNOTS:
        fit = fit_at(blocks, task, distance * task.unit, fits[-1])
        if fit.field.theta.size in sizes:
            continue  # a small image: the same basis again
        sizes.add(fit.field.theta.size)
        total, mass = held_out_score(blocks, fit, voxels, side)
        knots.append(distance * task.unit)
        fits.append(fit)
        totals.append(total)
        best, since = (len(fits) - 1, 0) if total.sum() > totals[best].sum() else (best, since + 1)
        if since >= PATIENCE:
            break
    if not mass.size:
        return fits[0], {}
    curve = choose_stiffness(knots, totals, mass)
    return fits[curve.chosen], {"stiffness": curve.as_dict()}


def fit_at(blocks: Blocks, task: Search, knots: float, stiffer: JointFit | None) -> JointFit:
    """Return the fit with knots at a distance: the best, by evidence, from the starts that the task allows."""
    if not np.isfinite(knots):
        field = Field.absent(task.multiplicative)
        return refit(blocks, field, _classes(blocks, field, task), task)
    flat = Field.flat(blocks, knots, task.multiplicative)
    starts: list[tuple[Field, Classes | None]] = []
    if task.start in ("auto", "differences"):
        starts.append((field_from_differences(blocks, flat), None))
    if task.start == "kmeans":
        starts.append((flat, None))
    if task.start == "auto" and stiffer is not None:
        starts.append((flat.fitted_to(stiffer.field.at(blocks), blocks), stiffer.classes))
    fits = []
    for field, classes in starts:
        classes = _classes(blocks, field, task) if classes is None else classes
        fits.append(refit(blocks, field, classes, task))
    return max(fits, key=lambda fit: fit.evidence)


def refit(blocks: Blocks, field: Field, classes: Classes, task: Search) -> JointFit:
    """Return the joint fit from a start, with what the task fixes beforehand."""
    field = field.on(blocks.coordinates)
    if task.tau is not None:
        field = replace(field, penalty=task.tau * len(blocks))
    return fit_joint(blocks, field, classes, choose_penalty=task.tau is None, free_levels=task.known is None)


def _classes(blocks: Blocks, field: Field, task: Search) -> Classes:
    sample = sample_of(blocks, field)
    if task.known is not None:
        return classes_of_known(sample, task.known)
    return find_classes(sample, task.n_levels, task.seed)[0]
