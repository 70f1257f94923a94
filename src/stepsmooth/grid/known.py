"""Levels that are known: what is left to find is how the field is scaled against them."""

import numpy as np

from stepsmooth.grid.classes import Sample
from stepsmooth.grid.mixture import Classes, class_sums, least_variance, outlier_density, updated
from stepsmooth.model.arrays import Floats

# Offsets of the field that are tried, in logarithms or in ranges of the levels, and how many.
REACH, N_OFFSETS = 3.0, 121
N_STEPS = 4
N_FOR_SCAN = 3000


def classes_of_known(sample: Sample, known: Floats, multiplicative: bool) -> Classes:
    """Return classes at the known levels times (plus) the factor (term) under which the observations are most likely.

    The field then takes the factor over, and the levels return to their known values: see `absorb`.
    """
    few = sample.thinned(N_FOR_SCAN)
    middle = np.median(few.corrected)
    if multiplicative:
        offsets = np.median(known) and np.log(max(middle, 1e-300) / np.median(np.abs(known)))
        trials = [known * np.exp(offsets + s) for s in np.linspace(-REACH, REACH, N_OFFSETS)]
    else:
        offset, span = middle - np.median(known), float(np.ptp(known)) or 1.0
        trials = [known + offset + span * s for s in np.linspace(-REACH, REACH, N_OFFSETS)]
    best: tuple[float, Classes] | None = None
    floor = least_variance(few.Y)
    for levels in trials:
        shape = levels.shape
        spread = np.var(few.corrected, axis=0) / len(levels) ** 2
        classes = Classes(
            levels, np.tile(spread + 1e-300, (shape[0], 1)), np.full(shape[0], 1.0 / shape[0]), outlier_density(few.Y)
        )
        for _ in range(N_STEPS):
            sums = class_sums(few.Y, few.gain, few.shift, few.weights, classes)
            classes = updated(sums, classes, floor, keep_levels=True)
        if best is None or sums.loglik > best[0]:
            best = sums.loglik, classes
    assert best is not None
    return best[1]
