"""One fit of the joint solver, from a volume to labels, field and classes.

Pure blocks; the field and its stiffness; labels of the voxels under a Potts prior; the blocks that those labels call
pure; the field again; and the closing passes at full resolution.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.background import Air, without_air
from stepsmooth.grid.blocks import Blocks, label_pure_blocks, pure_blocks
from stepsmooth.grid.closing import field_on_grid, label_sums, voxel_classes
from stepsmooth.grid.joint import JointFit
from stepsmooth.grid.labelling import Emission, label_voxels
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.partial import Components
from stepsmooth.grid.potts import Neighbours, potts_labels
from stepsmooth.grid.rician import noise_variance, without_floor
from stepsmooth.grid.search import KNOTS, Search, classes_under, search, settle
from stepsmooth.grid.textured import in_logs, task_in_logs, textured
from stepsmooth.grid.volume import Floats32, Labels, Volume
from stepsmooth.model.arrays import Floats

N_ROUNDS = 2
# If fewer of the blocks that labels call pure had looked pure before, noise hid the others: search again.
AGREEMENT = 0.9
# A round that moved f by less was the last.
SETTLED = 1e-3
# Where voxels mistake their class less often, neighbours say no more about which blocks are pure.
CLEAR = 1e-3
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
    """Labels (t, x, y, z), the classes of the voxels, the fit behind them with its field, and how it came about.

    `mass` (M,) is the weight of the voxels of each label, `mean` that of f over them.
    """

    labels: Labels
    margin: Floats32
    mass: Floats
    mean: float
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
    joint, selection, blocks = search(signal, pure_blocks(signal), task)
    by_logs = task.multiplicative and joint.field.basis is not None and textured(joint, blocks)
    if by_logs:
        joint, selection = _fit_in_logs(signal, blocks, task, selection)
    neighbours = Neighbours.of(volume.grid[1:], volume.spacing)
    rival = air if air_is_a_class else None
    view = _at_voxels(signal, joint, blocks, task, rival)
    clear = by_logs or (rival is None and view.doubt < CLEAR)
    for round_ in range(0 if clear else N_ROUNDS):
        classes = view.classes
        joint = _informed(joint, classes, blocks)
        if rival is not None:
            signal = volume  # what is air will be known voxel by voxel
        labels, strength_now = _coupled(volume, view, rival, task, neighbours, strength)
        del view  # arrays of the image's size go as soon as they can
        if rival is not None:
            labels[labels >= classes.count] = -1
            signal = _present_only(volume, labels >= 0)
        purer = label_pure_blocks(signal, labels, blocks) if strength_now >= LEAST_STRENGTH else blocks
        del labels
        agreed = round_ > 0 or _agreement(purer, blocks) >= AGREEMENT
        blocks, before = purer, joint
        if agreed:
            joint = settle(blocks, joint.field, joint.classes, task)
        else:
            joint, selection, blocks = search(signal, blocks, task)
        if callback is not None:
            callback(GridState(round_ + 1, joint.evidence, joint.classes.levels, joint.field.at(blocks)))
        view = _at_voxels(signal, joint, blocks, task, rival)
        if agreed and _moved(before, joint, blocks) < SETTLED:
            break
    if clear and callback is not None:
        callback(GridState(1, joint.evidence, joint.classes.levels, joint.field.at(blocks)))
    del signal  # unless it is the volume itself
    labels, margin, emission, used = _close(volume, view, rival, task, label_prior, neighbours, strength)
    if rival is not None:
        labels[labels >= view.classes.count] = -1
    mass, moment = label_sums(labels, view.smooth, volume.weights, view.classes.count)
    mean = moment / (float(mass.sum()) or 1.0)
    return GridFit(labels, margin, mass, mean, view.classes, emission, joint, used, selection, len(blocks))


def _fit_in_logs(
    signal: Volume, blocks: Blocks, task: Search, selection: dict[str, object]
) -> tuple[JointFit, dict[str, object]]:
    """Return the field of the image's logarithm, the classes of the image under it, and the curves behind it."""
    logs, asked = in_logs(signal), task_in_logs(task)
    found = fit_grid(logs, asked, "auto")
    if found.joint.field.basis is not None:
        selection = found.selection
    else:  # that there is a field the raw image has said, and its curve; then it is as stiff as can be
        found = fit_grid(logs, replace(asked, knots=KNOTS[0]), "auto")
    # Of the penalty it is the part of a block that is told.
    penalty = found.joint.field.penalty * len(blocks) / found.n_blocks
    field = replace(found.joint.field, penalty=penalty, multiplicative=True).on(blocks.coordinates)
    joint = replace(found.joint, field=field, classes=classes_under(blocks, field, task))
    return joint, selection | {"logarithms": True}


@dataclass(frozen=True)
class _View:
    """f at the voxels, their classes and components, and how often a voxel alone would mistake its class."""

    smooth: Floats32
    classes: Classes
    components: Components
    doubt: float


def _at_voxels(volume: Volume, joint: JointFit, blocks: Blocks, task: Search, air: Air | None) -> _View:
    smooth = field_on_grid(joint.field, volume.coordinates())
    regrouping = task.known is None and task.n_levels > 2
    return _View(smooth, *voxel_classes(volume, smooth, joint, blocks, air, regrouping=regrouping))


def _coupled(
    volume: Volume, view: _View, air: Air | None, task: Search, neighbours: Neighbours, strength: float | None
) -> tuple[Labels, float]:
    """Return labels under a Potts prior, air being a class if given, and its strength."""
    emission = Emission.of(view.components, air, uniform=not view.components.mixed)
    start, margin = label_voxels(volume, view.smooth, task.multiplicative, emission)
    return potts_labels(volume, view.smooth, task.multiplicative, emission, start, margin, neighbours, strength)


def _close(
    volume: Volume,
    view: _View,
    air: Air | None,
    task: Search,
    label_prior: str,
    neighbours: Neighbours,
    strength: float | None,
) -> tuple[Labels, Floats32, Emission, float]:
    """Return the final labels and margins, the emission behind them, and the strength of the Potts prior, if any."""
    smooth, components = view.smooth, view.components
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
            return _close(volume, view, air, task, "proportions", neighbours, strength)
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
