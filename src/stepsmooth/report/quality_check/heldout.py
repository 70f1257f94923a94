"""What the smooth part is worth where it was not fitted: regions of space held out, and a paired comparison over them.

Spread inside fitted classes falls whenever f swallows a part of what belongs to the steps, so it proves nothing. Here
every observation is met with an f that was fitted without its region. A mixture of the classes is fitted to the other
regions, and the region is scored under it: the log density of its raw observations, with proportions of its own, so
that it is no news which classes happen to live there. The same is done without f. All is done twice, with regions
held out alone and together with their neighbours: steps that f has swallowed can be guessed from close by, but not
from farther away.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from stepsmooth.grid.classes import Sample, run_em
from stepsmooth.grid.mixture import Classes
from stepsmooth.grid.stiffness import score_cubes
from stepsmooth.model.arrays import Floats, Ints

N_FOLDS = 5
# Regions are held out alone, and so many times as long with their neighbours.
FAR = 2
# A region's proportions are those of its observations and of so many that follow the proportions of all.
PSEUDO_COUNT = 5.0
N_CLASS_STEPS, N_SHARE_STEPS = 8, 8


@dataclass(frozen=True)
class HeldOut:
    """How much better held-out regions are predicted with f than without, in nats an observation.

    Attributes
    ----------
    gain, error : float
        The mean over all observations of log p(y) with f less that without, and its standard error, regions being the
        independent units; a mean over regions held out alone and with their neighbours.
    far_gain, far_error : float
        The same for regions held out with their neighbours, where f has farther to reach.
    n_regions : int
        How many regions were compared.
    """

    gain: float
    error: float
    far_gain: float
    far_error: float
    n_regions: int

    @classmethod
    def nothing(cls, n_regions: int) -> "HeldOut":
        """Return what is found where there is no f."""
        return cls(0.0, 0.0, 0.0, 0.0, n_regions)


def confidence(gain: float, error: float, n_regions: int) -> float:
    """Return the probability that a gain is positive, by Student's t over the regions; 0.5 if there is none to tell.

    Examples
    --------
    >>> round(confidence(0.02, 0.01, 30), 3), confidence(0.0, 0.0, 30)
    (0.973, 0.5)
    """
    if n_regions < 2 or not error > 0.0:
        return 0.5
    return float(student.cdf(gain / error, n_regions - 1))


def compare(near: Floats, far: Floats, mass: Floats) -> HeldOut:
    """Return the paired comparison from what each region gains by f, held out alone (`near`) and with neighbours.

    Examples
    --------
    >>> compare(np.array([1.0, 1.0, 2.0]), np.array([0.5, 0.5, 1.0]), np.array([10.0, 10.0, 20.0]))
    HeldOut(gain=0.075, error=0.0, far_gain=0.05, far_error=0.0, n_regions=3)
    """
    seen = mass > 0.0
    near, far, mass = near[seen], far[seen], mass[seen]
    if len(mass) < 2:
        return HeldOut.nothing(len(mass))
    return HeldOut(*_mean(0.5 * (near + far), mass), *_mean(far, mass), len(mass))


def _mean(total: Floats, mass: Floats) -> tuple[float, float]:
    """Return a ratio of sums over regions, and its standard error."""
    mean = float(total.sum() / mass.sum())
    n = len(mass)
    return mean, float(np.sqrt(n / (n - 1) * np.sum((total - mean * mass) ** 2)) / mass.sum())


def score_regions(sample: Sample, classes: Classes, region: Ints, n_regions: int, fold: Ints) -> Floats:
    """Return the total log density of each region under classes that are fitted to the other folds.

    Parameters
    ----------
    sample : Sample
        The observations, with an f in which their own fold had no say.
    classes : Classes
        Where the fits of the classes start.
    region, fold : (n,) arrays of ints
        A region lies in one fold.
    n_regions : int
    """
    total = np.zeros(n_regions)
    for held in np.unique(fold):
        inside = fold == held
        if inside.all():
            continue
        fitted, _ = run_em(sample.part(np.flatnonzero(~inside)), classes, N_CLASS_STEPS)
        out = sample.part(np.flatnonzero(inside))
        total += score_cubes(out, fitted, region[inside], n_regions, N_SHARE_STEPS, PSEUDO_COUNT)
    return total
