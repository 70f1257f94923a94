"""One fit of the joint solver, from a volume to labels, field and classes.

Pure blocks; the field and its stiffness; labels of the voxels under a Potts prior; the blocks that those labels call
pure; the field again; and the closing passes at full resolution.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.background import Air, without_air
from stepsmooth.grid.blocks import Blocks, label_pure_blocks, pure_blocks
from stepsmooth.grid.closing import Emission, field_on_grid, label_voxels, voxel_classes
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.partial import Components
from stepsmooth.grid.potts import Neighbours, potts_labels
from stepsmooth.grid.rician import noise_variance, without_floor
from stepsmooth.grid.search import Search, refit, search
from stepsmooth.grid.volume import Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats

N_ROUNDS = 2
# If fewer of the blocks that labels call pure had looked pure before, noise hid the others: search again.
AGREEMENT = 0.9
# A round that moved f by less was the last.
SETTLED = 1e-3
# A Potts prior weaker than this is none.
LEAST_STRENGTH = 1.0


@dataclass(frozen=True)
class GridState:
    """What a callback sees after each round: its number, the evidence of the blocks, levels and f at the blocks."""

    round: int
    evidence: float
    levels: Floats
    smooth: Floats


@dataclass(frozen=True)
class GridFit:
    """Labels (t, x, y, z), the classes of the voxels, the fit behind them with its field, and how it came about."""

    labels: Labels
    margin: Floats32
    classes: Classes
    emission: Emission
    joint: JointFit
    strength: float
    selection: dict[str, object]
    n_blocks: int


def fit_grid(
    volume: Volume,
    task: Search,
    label_prior: str,
    *,
    air: Air | None = None,
    air_is_a_class: bool = False,
    strength: float | None = None,
    callback: Callable[[GridState], object] | None = None,
) -> GridFit:
    """Return the decomposition of a volume.

    Parameters
    ----------
    volume : Volume
    task : Search
    label_prior : {"uniform", "proportions", "potts", "auto"}
    air : Air, optional
        What air looks like; blocks that may be air have no say in the field.
    air_is_a_class : bool
        Let voxels be air: they get the label -1.
    strength : float, optional
        Of the Potts prior; estimated if not given.
    callback : callable, optional
    """
    signal = volume if air is None else without_air(volume, air)
    if not np.any(signal.present):
        signal = volume
    if task.rician:
        sigma2 = noise_variance(signal) if air is None or not np.all(air.sigma > 0.0) else air.sigma**2
        volume, signal = without_floor(volume, sigma2), without_floor(signal, sigma2)
    blocks = pure_blocks(signal)
    joint, selection = search(signal, blocks, task)
    neighbours = Neighbours.of(volume.grid[1:], volume.spacing)
    rival = air if air_is_a_class else None
    for round_ in range(N_ROUNDS):
        smooth, classes, components = _at_voxels(signal, joint, blocks, task)
        joint = _informed(joint, classes, blocks)
        emission = Emission.of(components, rival, uniform=not components.mixed)
        start, margin = label_voxels(volume, smooth, task.multiplicative, emission)
        labels, strength_now = potts_labels(
            volume, smooth, task.multiplicative, emission, start, margin, neighbours, strength
        )
        del start, margin, smooth
        if rival is not None:
            # What is air now is known voxel by voxel.
            signal = _present_only(volume, labels < classes.count)
            labels = np.where(labels < classes.count, labels, -1).astype(np.int16)
        purer = label_pure_blocks(signal, labels, blocks) if strength_now >= LEAST_STRENGTH else blocks
        del labels
        agreed = round_ > 0 or _agreement(purer, blocks) >= AGREEMENT
        blocks, before = purer, joint
        if agreed:
            joint = refit(blocks, joint.field, joint.classes, task)
        else:
            joint, selection = search(signal, blocks, task)
        if callback is not None:
            callback(GridState(round_ + 1, joint.evidence, joint.classes.levels, joint.field.at(blocks)))
        if agreed and _moved(before, joint, blocks) < SETTLED:
            break
    smooth, classes, components = _at_voxels(signal, joint, blocks, task)
    labels, margin, emission, used = _close(volume, smooth, components, rival, task, label_prior, neighbours, strength)
    return GridFit(labels, margin, classes, emission, joint, used, selection, len(blocks))


def _at_voxels(volume: Volume, joint: JointFit, blocks: Blocks, task: Search) -> tuple[Floats32, Classes, Components]:
    smooth = field_on_grid(joint.field, volume.coordinates())
    return smooth, *voxel_classes(volume, smooth, joint, blocks, regrouping=task.known is None and task.n_levels > 2)


def _close(
    volume: Volume,
    smooth: Floats32,
    components: Components,
    air: Air | None,
    task: Search,
    label_prior: str,
    neighbours: Neighbours,
    strength: float | None,
) -> tuple[Labels, Floats32, Emission, float]:
    """Return the final labels and margins, the emission behind them, and the strength of the Potts prior, if any."""
    if label_prior == "auto" and components.mixed:
        label_prior = "proportions"  # a coupling that is blind to mixed voxels wipes out thin structures
    coupled = label_prior in ("potts", "auto")
    # Neighbours say more than proportions do, but among mixed voxels proportions place the borders.
    emission = Emission.of(components, air, uniform=label_prior == "uniform" or (coupled and not components.mixed))
    labels, margin = label_voxels(volume, smooth, task.multiplicative, emission)
    used = 0.0
    if coupled:
        labels, used = potts_labels(volume, smooth, task.multiplicative, emission, labels, margin, neighbours, strength)
        if label_prior == "auto" and used < LEAST_STRENGTH:
            return _close(volume, smooth, components, air, task, "proportions", neighbours, strength)
    return labels, margin, emission, used


def _informed(joint: JointFit, classes: Classes, blocks: Blocks) -> JointFit:
    """Return the joint fit with the levels of the voxels' classes, where these were regrouped."""
    ordered = joint.classes.ordered()
    if np.array_equal(ordered.levels, classes.levels):
        return joint
    return replace(joint, classes=replace(classes, variances=classes.variances / blocks.voxels_per_block))


def _moved(before: JointFit, now: JointFit, blocks: Blocks) -> float:
    """Return the root mean square change of f."""
    return float(np.std(now.field.at(blocks) - before.field.on(blocks.coordinates).at(blocks)))


def _agreement(now: Blocks, before: Blocks) -> float:
    space = int(np.prod(now.shape))
    shared = np.isin(now.frame * space + now.place, before.frame * space + before.place)
    return float(np.mean(shared))


def _present_only(volume: Volume, keep: np.ndarray) -> Volume:
    return replace(volume, values=np.where(keep[None], volume.values, np.float32(np.nan)))
