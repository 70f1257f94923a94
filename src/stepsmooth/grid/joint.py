"""Field and classes together: Gauss-Newton on (f, levels) inside EM, in the raw domain, on block means.

The model is I = m e^f + noise (or m + f + noise) with the noise of the raw image, so dark blocks weigh little and no
logarithm is taken of noise. For given class probabilities the field's coefficients and the levels move in one linear
solve; the constant, which f and the levels share, stays out of it.
"""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.blocks import Blocks
from stepsmooth.grid.blocksums import block_sums, squares_at
from stepsmooth.grid.classes import Sample
from stepsmooth.grid.field import Field
from stepsmooth.grid.fieldprior import Taken
from stepsmooth.grid.mixture import Classes, class_sums, gain_and_shift, with_spread
from stepsmooth.model.arrays import Floats

# The largest step of f in one iteration; beyond it the linearisation of e^f means little.
LARGEST_STEP = 0.5
MOST_STEPS = 40


@dataclass(frozen=True)
class JointFit:
    """A field and classes, the log evidence of the field (labels summed out), and how they were reached.

    Variances are those of blocks; where blocks were merged to tell the classes apart, `merged` of them at a time.
    """

    field: Field
    classes: Classes
    loglik: float
    evidence: float
    n_iter: int
    converged: bool
    merged: float = 1.0

    @property
    def told_apart(self) -> Classes:
        """Return the classes as they were told apart, with the variances of merged blocks."""
        return replace(self.classes, variances=self.classes.variances / self.merged)


def sample_of(blocks: Blocks, field: Field) -> Sample:
    """Return the block means with what the field does to each."""
    gain, shift = gain_and_shift(field.at(blocks), field.multiplicative)
    return Sample(blocks.means, gain, shift, blocks.weights)


def fit_joint(
    blocks: Blocks,
    field: Field,
    classes: Classes,
    *,
    max_iter: int = MOST_STEPS,
    tol: float = 3e-4,
    choose_penalty: bool = True,
    free_levels: bool = True,
    weigh: bool = True,
) -> JointFit:
    """Return the joint fit from a field and classes.

    Parameters
    ----------
    blocks : Blocks
    field, classes : the start
    max_iter : int
    tol : float
        Converged when the root mean square change of f, and that of the levels relative to their range, add up to less.
    choose_penalty : bool
        Choose the penalty by restricted likelihood, or keep the field's.
    free_levels : bool
        Let the levels move, too.
    weigh : bool
        Compute likelihood and evidence, which cost a pass over the blocks; else they are NaN.
    """
    converged, n_iter, occam, images = False, 0, 0.0, None
    while not converged and n_iter < max_iter:
        n_iter += 1
        field, classes, change, occam, images = _step(blocks, field, classes, choose_penalty, free_levels, images)
        converged = change < tol
    del images  # they are large
    if not weigh:
        return JointFit(field, classes, np.nan, np.nan, n_iter, converged)
    sample = sample_of(blocks, field)
    loglik = class_sums(sample.Y, sample.gain, sample.shift, sample.weights, classes).loglik
    return JointFit(field, classes, loglik, loglik - field.cost + occam, n_iter, converged)


def _step(
    blocks: Blocks, field: Field, classes: Classes, choose_penalty: bool, free_levels: bool, images: Floats | None
) -> tuple[Field, Classes, float, float, Floats]:
    """Return field and classes after one step of EM, by how much they moved, and the field's Occam factor.

    Also the images of the step, whose memory the next one may use.
    """
    f = field.at(blocks)
    sums = block_sums(blocks, f, field.multiplicative, classes, images)
    precision, levels = 1.0 / classes.variances, classes.levels
    # What the data know of each level, and where they pull it.
    known = precision * sums.information[:, None]
    known = np.where((known > 1e-12 * known.max()) & free_levels, known, np.inf)
    pull = precision * sums.pull
    moved_f, occam = f, 0.0
    if field.basis is not None and field.prior is not None:
        basis = field.basis
        # The slope of the mean in f is gain * level, or 1 where f adds; in the level it is gain.
        slope = levels if field.multiplicative else np.ones_like(levels)
        tied = slope * precision
        gram = basis.gram(sums.weight)
        projected = basis.project(sums.images[1:])
        lift, touch = projected[0], projected[1:]
        # Profile the levels out: each class and channel takes one rank from the field's information.
        taken = Taken(touch, np.sum(tied * (tied / known), axis=1)) if free_levels else None
        # The solve is for theta itself, so that the prior pulls on f and not on its step.
        moment = lift - touch.T @ np.sum(tied * pull / known, axis=1)
        if taken is not None:
            moment -= touch.T @ (taken.share * (touch @ field.theta))
        order = gram.layout.order
        moment[order] += gram.times(field.theta[order])
        found = field.prior.solve(gram, moment, field.penalty, taken, choose=choose_penalty)
        change = blocks.gather(basis.evaluate(found.theta - field.theta))
        # A constant moves levels and field against each other and is no part of the step; splines sum to one.
        constant = float(np.average(change, weights=blocks.weights)) if free_levels else 0.0
        change -= constant
        shrink = min(1.0, LARGEST_STEP / max(float(np.abs(change).max()), 1e-300))
        step = shrink * (found.theta - field.theta - constant)
        moved_f = f + shrink * change
        field = replace(field, theta=field.theta + step, penalty=found.penalty)
        pull = pull - tied * (touch @ step)[:, None]
        occam = found.occam
    moved = levels + pull / known
    change_of_both = _change(f, moved_f, blocks.weights, levels, moved)
    squares = squares_at(blocks, moved_f, field.multiplicative, moved, sums)
    classes = with_spread(classes, moved, sums.mass, squares, blocks.least_variance)
    return field, classes, change_of_both, occam, sums.images


def _change(f: Floats, moved_f: Floats, weights: Floats, levels: Floats, moved: Floats) -> float:
    spread = float(np.ptp(levels)) or 1.0
    by_field = np.sqrt(np.average((moved_f - f) ** 2, weights=weights))
    return float(by_field + np.sqrt(np.mean((moved - levels) ** 2)) / spread)
