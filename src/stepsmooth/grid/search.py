"""From pure blocks to a joint fit: for each stiffness the better of several starts, and among them what holds out."""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.blocks import Blocks, merge_blocks
from stepsmooth.grid.classes import GAIN, find_classes, nearest
from stepsmooth.grid.contest import Contest
from stepsmooth.grid.differences import Differences, field_from_differences, neighbour_differences
from stepsmooth.grid.field import Field, axes_of
from stepsmooth.grid.joint import MOST_STEPS, JointFit, fit_joint, sample_of
from stepsmooth.grid.known import classes_of_known
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.plain_blocks import with_plain_blocks
from stepsmooth.grid.proof import OBVIOUS, prove
from stepsmooth.grid.scored_voxels import ScoredVoxels
from stepsmooth.grid.stiffness import CUBE, MANY_COEFFICIENTS
from stepsmooth.grid.volume import Volume
from stepsmooth.model.arrays import Floats

# Distances between knots that are tried, in mm: bias fields are slow.
KNOTS = (90.0, 60.0, 40.0, 28.0, 20.0, 14.0)
# A finer field is not tried once so many in a row were not clearly better; of those with many coefficients, one. In a
# plane it is more: there a rough field may show only when knots are as close as it needs.
PATIENCE, PLANE_PATIENCE = 2, 4
# A basis of so many times the coefficients of the last is worth a try; a small one costs so little that any is.
HARDLY_MORE, FEW_COEFFICIENTS = 1.2, 64
# Each start may take at least so many steps before it is compared with another.
FEWEST_STEPS = 6
# Start and stiffness are searched on at most about so many blocks.
N_SEARCHED = 10_000
# Classes nearer than so many standard deviations overlap, and on blocks whose noise is more than this part of a typical
# gap EM lets them drift into each other. Where there is little noise, one level has two classes: all blocks tell that.
DISTINCT, NOISY = 3.0, 0.07
# So many levels are looked for as if they had one variance, and again under a field bent by so much, at most so often.
MANY_LEVELS, BEND, MOST_BENDS = 4, 0.05, 3


@dataclass(frozen=True)
class Search:
    """What is to be found: M classes or known levels, f that multiplies or adds, and what is fixed beforehand.

    `knots` is a distance in mm, infinite for no field, or None to choose; `tau`, the penalty a block, likewise. `cube`
    is the side of held-out cubes in mm; a field must be ahead of none by more than `errors` standard errors.
    """

    n_levels: int
    multiplicative: bool
    known: Floats | None = None
    knots: float | None = None
    tau: float | None = None
    start: str = "auto"
    rician: bool = False
    cube: float = CUBE
    errors: float = 1.0
    seed: int = 0

    @property
    def alike(self) -> bool:
        """Return whether classes are looked for as if they had one variance.

        Of noisy blocks some are mixed. With variances of their own a class for those pays, and one of two close levels
        goes without; the more levels, the closer.
        """
        return self.known is None and self.n_levels >= MANY_LEVELS


def search(volume: Volume, blocks: Blocks, task: Search) -> tuple[JointFit, dict[str, object], Blocks]:
    """Return the joint fit of the block means, the curve behind the choice of its stiffness, and the blocks of the fit.

    Stiffness and start are found on merged blocks of a large volume, so that they cost no more than on a small one; the
    fit is then settled on all blocks, and on those that it shows to be pure as well.
    """
    few = merge_blocks(blocks, N_SEARCHED)
    pairs = neighbour_differences(blocks, task.multiplicative) if task.start != "kmeans" else []
    selection: dict[str, object] = {}
    if task.knots is not None:
        fit = fit_at(few, task, task.knots, None, pairs)
    else:
        fit, selection = _stiffest(volume, few, task, pairs)
    del pairs  # they are as large as the image
    if few is blocks:
        return freed(blocks, fit, task), selection, blocks
    classes = replace(fit.classes, variances=fit.classes.variances * few.merged, alike=False)
    blocks = with_plain_blocks(volume, blocks, fit)
    return settle(blocks, fit.field, classes, task), selection, blocks


def settle(blocks: Blocks, field: Field, classes: Classes, task: Search) -> JointFit:
    """Return the joint fit of all blocks or, where classes overlap in them, of merged ones, which tell them apart.

    Field and classes are in any case those of the blocks themselves.
    """
    gap = np.ptp(classes.levels, axis=0) / max(classes.count - 1, 1)
    noisy = bool(np.all(blocks.noise > (NOISY * gap) ** 2))
    few = merge_blocks(blocks, N_SEARCHED) if noisy and nearest(classes) < DISTINCT else blocks
    if few is blocks:
        return refit(blocks, field, classes, task)
    fit = refit(few, field, replace(classes, variances=classes.variances / few.merged), task)
    wide = replace(fit.classes, variances=fit.classes.variances * few.merged)
    return replace(fit, field=fit.field.on(blocks.coordinates), classes=wide, merged=few.merged)


def _stiffest(
    volume: Volume, blocks: Blocks, task: Search, pairs: list[Differences]
) -> tuple[JointFit, dict[str, object]]:
    """Return the fit with the stiffest field that predicts as well as the best, and the curve."""
    voxels = ScoredVoxels.of(volume, blocks, task.cube)
    contest = Contest(blocks, voxels, task.cube, task.errors)
    contest.enter(np.inf, fit_at(blocks, task, np.inf, None, pairs))
    largest, since = 0, 0
    for distance in KNOTS:
        size = int(np.prod([axis.size for axis in axes_of(blocks, distance)]))
        if size <= (1.0 if size <= FEW_COEFFICIENTS else HARDLY_MORE) * largest:
            continue  # the same basis again, or nearly so
        largest = size
        try:
            fit = fit_at(blocks, task, distance, contest.fits[-1], pairs)
        except np.linalg.LinAlgError:
            if len(contest.fits) == 1:
                raise
            break  # finer than what the blocks determine: no candidate
        since = 0 if contest.enter(distance, fit) else since + 1
        if since >= (PLANE_PATIENCE if _thorough(blocks) else PATIENCE if size <= MANY_COEFFICIENTS else 1):
            break
    curve = contest.curve()
    if curve is None:
        return contest.fits[0], {}
    if curve.chosen > 0 and curve.score[curve.chosen] - curve.score[0] < OBVIOUS:
        proof = prove(blocks, contest.fits[curve.chosen], contest.fits[0], voxels, task.cube)
        curve = replace(curve, proof=(proof.ahead, proof.error), chosen=curve.chosen if proof.holds else 0)
    return contest.fits[curve.chosen], {"stiffness": curve.as_dict()}


def fit_at(
    blocks: Blocks, task: Search, knots: float, stiffer: JointFit | None, pairs: list[Differences] | None = None
) -> JointFit:
    """Return the fit with knots at a distance: the best, by evidence, from the starts that the task allows."""
    if not np.isfinite(knots):
        field = Field.absent(task.multiplicative)
        return refit(blocks, field, classes_under(blocks, field, task, alike=task.alike), task)
    flat = Field.flat(blocks, knots, task.multiplicative)
    found = stiffer.classes if stiffer is not None and stiffer.field.theta.size else None
    # Where a stiff field fails, so do the classes under it: they are looked for anew at each stiffness. Volumes are
    # spared that: it is done once without a field and once with, and a fine one starts from a stiffer one alone.
    anew = _thorough(blocks)
    fine = not anew and stiffer is not None and flat.theta.size > MANY_COEFFICIENTS
    starts: list[tuple[Field, Classes | None]] = []
    if task.start == "differences" or (task.start == "auto" and not fine):
        field = field_from_differences(blocks, flat, pairs)
        starts += [(field, classes) for classes in ([found, None] if anew and found is not None else [found])]
    if task.start == "kmeans":
        starts.append((flat, None))
    if task.start == "auto" and stiffer is not None:
        start = flat.fitted_to(stiffer.field.at(blocks), blocks)
        starts.append((replace(start, penalty=stiffer.field.penalty or 1.0), stiffer.classes))
    best: JointFit | None = None
    for field, classes in starts:
        classes = classes_under(blocks, field, task, alike=task.alike) if classes is None else classes
        # A later start is left alone if it is behind after as many steps as the one before took.
        steps = MOST_STEPS if best is None else max(best.n_iter, FEWEST_STEPS)
        fit = refit(blocks, field, classes, task, steps)
        if best is None or fit.evidence > best.evidence:
            done = fit.converged or steps == MOST_STEPS
            best = fit if done else refit(blocks, fit.field, fit.classes, task)
    assert best is not None
    return _bent_back(blocks, best, task) if task.alike and found is None else best


def _bent_back(blocks: Blocks, fit: JointFit, task: Search) -> JointFit:
    """Return the best of a fit and of those that start from its field, bent a little, with classes looked for anew.

    Of two close levels one often lies further out, as muscle does from grey matter. A field that bends between inside
    and outside hides their gap; from a field that is bent back both are found.
    """
    place = np.stack([x[i] for x, i in zip(blocks.coordinates, np.unravel_index(blocks.place, blocks.shape))])
    place = place[place.std(axis=1) > 0.0]
    far = np.sum(((place.T - place.mean(axis=1)) / place.std(axis=1)) ** 2, axis=1)
    bow = (far - far.mean()) / max(float(far.std()), 1e-300)
    for _ in range(MOST_BENDS):
        before = fit
        for bend in (-BEND, BEND):
            field = before.field.fitted_to(before.field.at(blocks) + bend * bow, blocks)
            field = replace(field, penalty=before.field.penalty)
            again = refit(blocks, field, classes_under(blocks, field, task, alike=True), task)
            fit = max(fit, again, key=lambda fit: fit.evidence)
        if fit.evidence <= before.evidence + GAIN:
            break
    return fit


def freed(blocks: Blocks, fit: JointFit, task: Search) -> JointFit:
    """Return a fit whose classes have variances of their own."""
    return refit(blocks, fit.field, replace(fit.classes, alike=False), task) if fit.classes.alike else fit


def _thorough(blocks: Blocks) -> bool:
    """Whether more is tried: few blocks in a plane cost little, and have fewer neighbours to be put right by."""
    return blocks.merged == 1 and sum(n > 1 for n in blocks.shape) <= 2


def refit(blocks: Blocks, field: Field, classes: Classes, task: Search, max_iter: int = MOST_STEPS) -> JointFit:
    """Return the joint fit from a start, with what the task fixes beforehand."""
    field = field.on(blocks.coordinates)
    if task.tau is not None:
        field = replace(field, penalty=task.tau * len(blocks) * blocks.merged)
    return fit_joint(
        blocks, field, classes, max_iter=max_iter, choose_penalty=task.tau is None, free_levels=task.known is None
    )


def classes_under(blocks: Blocks, field: Field, task: Search, *, alike: bool = False) -> Classes:
    """Return the classes that are found under a field, with one variance if they are alike, or of known levels."""
    sample = sample_of(blocks, field)
    if task.known is not None:
        return classes_of_known(sample, task.known, field.multiplicative)
    return find_classes(sample, task.n_levels, task.seed, alike=alike)[0]
