"""Choosing how stiff the field is, by what it predicts in blocks of space that had no say in it.

In-sample criteria take ever finer knots, because anatomy and texture are smooth, too. A field that has absorbed
anatomy predicts badly a few centimetres away. So cubes of space are held out, larger than the texture's correlation
length; field and classes are refitted from the full fit; and the raw voxels of the cubes are scored under the class
mixture, with the cube's own proportions. The stiffest candidate within half a standard error of the best is taken. "No
field" is a candidate, and taken within a whole one; `proof` asks once more whether it is the right one.
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.classes import Sample, run_em
from stepsmooth.grid.joint import JointFit, fit_joint
from stepsmooth.grid.mixture import OUTLIERS, Classes, gain_and_shift
from stepsmooth.grid.scored_voxels import N_FOLDS, ScoredVoxels, cubes
from stepsmooth.model.arrays import Floats, Ints

# The side of the cubes, in mm.
CUBE = 20.0
# On how many voxels at most the classes are refitted.
N_TRAINED = 20_000
# A cube's proportions are those of its voxels and of so many that follow the proportions of all.
PSEUDO_COUNT = 20.0
N_REFITS, N_CLASS_STEPS, N_SHARE_STEPS = 2, 3, 5
# A field of more coefficients takes its one large step and no more.
MANY_COEFFICIENTS = 256
# The folds that are scored first; the others only where these do not tell.
FIRST_FOLDS = (0, 1)
# They tell if the difference is so many standard errors.
PLAIN = 3.0
# Between two fields a part of the errors is enough that there must be between a field and none: that a field is stiff
# is a weaker belief than that there may be none, and one that is too stiff is wrong everywhere.
BETWEEN_FIELDS = 0.5


@dataclass(frozen=True)
class StiffnessCurve:
    """Held-out log density a voxel for each candidate, by how much the best beats it, and that difference's error.

    `proof` is by how much the field beats none on quiet voxels, with the error of that, where it was asked for.
    """

    knots: list[float]
    score: Floats
    behind: Floats
    error: Floats
    chosen: int
    proof: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, object]:
        """Return plain values, as `selection_` keeps them; infinite knots stand for no field."""
        out: dict[str, object] = {
            "method": "held-out blocks",
            "knots": np.array(self.knots),
            "score": self.score,
            "behind": self.behind,
            "error": self.error,
            "chosen": self.knots[self.chosen],
        }
        return out if self.proof is None else out | {"proof": np.array(self.proof)}


def choose_stiffness(
    knots: list[float], totals: list[Floats], mass: Floats, slack: float = 0.0, errors: float | Floats = 1.0
) -> StiffnessCurve:
    """Return the curve and the choice from each candidate's total score in every cube, stiffest candidate first.

    Parameters
    ----------
    knots : list of float, descending; infinite for no field
    totals : list of (n_cubes,) arrays
        NaN in cubes in which a candidate was not scored.
    mass : (n_cubes,) array
        The weight of the voxels scored in each cube.
    slack : float
        Nats a voxel by which a candidate may be behind, besides the standard errors.
    errors : float or (n_candidates,) array
        How many standard errors.
    """
    best = best_of(totals, mass)
    behind, error = np.array([lead(totals[best], total, mass) for total in totals]).T
    seen = ~np.isnan(totals[best])
    score = (totals[best][seen].sum() / mass[seen].sum() if seen.any() else np.nan) - behind
    chosen = int(np.flatnonzero(behind <= errors * error + slack)[0]) if best else best
    return StiffnessCurve(knots, score, behind, error, chosen)


def best_of(totals: list[Floats], mass: Floats) -> int:
    """Return the candidate that no other beats; of equal ones the stiffest."""
    best = 0
    for i, total in enumerate(totals):
        if lead(total, totals[best], mass)[0] > 0.0:
            best = i
    return best


def lead(one: Floats, other: Floats, mass: Floats) -> tuple[float, float]:
    """Return by how much one total beats another, a unit of mass in the cubes that both scored, and its error."""
    both = ~np.isnan(one) & ~np.isnan(other)
    gap, weight = (one - other)[both], mass[both]
    if not both.any():  # an image within one cube has none to hold out: the stiffest candidate stays
        return 0.0, 0.0
    ahead = float(gap.sum() / weight.sum())
    # The cubes are the independent units: the error is that of a ratio of sums over them.
    n = max(len(gap), 2)
    return ahead, float(np.sqrt(n / (n - 1) * np.sum((gap - ahead * weight) ** 2)) / weight.sum())


def held_out_score(
    blocks: Blocks,
    fit: JointFit,
    voxels: ScoredVoxels,
    cube_side: float,
    folds: tuple[int, ...] = tuple(range(N_FOLDS)),
    *,
    own_proportions: bool = True,
) -> Floats:
    """Return the total log density of the voxels in every cube, each held out in its turn; NaN where none was.

    With `own_proportions` those of a cube are fitted to its voxels, so that anatomy does not count as news. To compare
    numbers of classes they must not be: the more classes, the more such a fit would flatter.

    The refits start at the full fit: a cold start may end in another basin and ruin the comparison.
    """
    block_fold = cubes(blocks.place, blocks.shape, blocks.coordinates, cube_side)[1]
    total = np.full(len(voxels.mass), np.nan)
    refits = N_REFITS if fit.field.theta.size <= MANY_COEFFICIENTS else 1
    for fold in folds:
        outside = voxels.fold == fold
        train = block_fold != fold
        if not outside.any() or outside.all() or not train.any():
            continue
        refit = fit_joint(
            blocks.part(train), fit.field, fit.classes, max_iter=refits, tol=0.0, choose_penalty=False, weigh=False
        )
        sample = _under(voxels, refit)
        wide = replace(refit.classes, variances=refit.classes.variances * voxels.spread)
        classes, _ = run_em(sample.part(np.flatnonzero(~outside)).thinned(N_TRAINED), wide, N_CLASS_STEPS)
        held, cube = sample.part(np.flatnonzero(outside)), voxels.cube[outside]
        steps = N_SHARE_STEPS if own_proportions else 1
        scored = score_cubes(held, classes, cube, len(total), steps)
        seen = np.unique(cube)
        total[seen] = scored[seen]
    return total


def _under(voxels: ScoredVoxels, fit: JointFit) -> Sample:
    f = np.zeros(len(voxels.values))
    field = fit.field.on(voxels.coordinates)
    if field.basis is not None:
        f = field.basis.evaluate(field.theta).reshape(-1)[voxels.place]
    return Sample(voxels.values, *gain_and_shift(f, field.multiplicative), voxels.weights)


def score_cubes(
    sample: Sample, classes: Classes, cube: Ints, n_cubes: int, steps: int, pseudo_count: float = PSEUDO_COUNT
) -> Floats:
    """Return the total log density of the observations in each cube, with its own proportions.

    These are reached in so many steps of EM, from those of all, which they stay at if `steps` is 1; `pseudo_count`
    observations follow those of all.

    Examples
    --------
    >>> Y = np.array([[0.0], [0.1], [1.0]])
    >>> classes = Classes(np.array([[0.0], [1.0]]), np.full((2, 1), 0.01), np.full(2, 0.5), 1.0)
    >>> sample = Sample(Y, np.ones(3), np.zeros(3), np.ones(3))
    >>> [score_cubes(sample, classes, np.array([0, 0, 1]), 2, steps, 1.0).round(2) for steps in (1, 9)]
    [array([0.87, 0.69]), array([1.89, 1.09])]
    """
    run = sample.densities(classes), sample.weights, cube, classes.proportions, OUTLIERS * classes.outlier_density
    return np.asarray(_score_cubes(*run, n_cubes, steps, pseudo_count))


@njit(cache=True)
def _score_cubes(
    density: Floats,
    weights: Floats,
    cube: Ints,
    overall: Floats,
    outlier: float,
    n_cubes: int,
    steps: int,
    pseudo_count: float,
) -> Floats:
    n, M = density.shape
    share = np.ones((n_cubes, 1)) * overall
    total = np.zeros(n_cubes)
    for step in range(steps):
        counts = np.zeros((n_cubes, M))
        for i in range(n):
            c = cube[i]
            inside = 0.0
            for k in range(M):
                inside += density[i, k] * share[c, k]
            mixed = (1.0 - OUTLIERS) * inside + outlier
            each = weights[i] * (1.0 - OUTLIERS) / mixed
            for k in range(M):
                counts[c, k] += each * density[i, k] * share[c, k]
            if step == steps - 1:
                total[c] += weights[i] * np.log(mixed)
        for c in range(n_cubes):
            share[c] = (counts[c] + pseudo_count * overall) / (counts[c].sum() + pseudo_count)
    return total
