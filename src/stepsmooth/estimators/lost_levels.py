"""A word where a fit has fewer levels than were asked for, or where some are one and the same."""

import warnings
from typing import Any

import numpy as np

from stepsmooth.estimators.grid_image import GridImage
from stepsmooth.estimators.magnitudes import DIGITS
from stepsmooth.estimators.result import Result
from stepsmooth.model.arrays import Floats
from stepsmooth.topology import level_gap


def warn_of_lost_levels(asked: Any, result: Result, Y: Floats) -> None:
    """Warn about free levels that `StepSmooth` did not find, or found twice, in observations (n, p)."""
    found = len(result.levels)
    if not isinstance(asked, str) and found < asked:
        few = len(np.unique(Y, axis=0)) < asked
        why = "it has too few distinct values" if few else f"at tau = {result.tau:.3g} f explains it without them"
        warnings.warn(
            f"y supports only {found} of the n_levels={asked} levels asked for: {why}.", UserWarning, stacklevel=4
        )
    if found > 1 and level_gap(result.levels) <= float(np.ptp(Y, axis=0).max()) / DIGITS:
        warnings.warn(
            f"levels_ coincide: at tau = {result.tau:.3g} f explains y without them; raise tau, or ask for fewer.",
            UserWarning,
            stacklevel=4,
        )


def warn_of_lost_grid_levels(asked: int | None, levels: Floats, tau: float, image: GridImage) -> None:
    """Warn about free levels that `GridStepSmooth` did not find, or found twice."""
    if asked is not None and len(levels) < asked:
        warnings.warn(
            f"the image supports only {len(levels)} of the n_levels={asked} levels asked for: it has too few distinct "
            "values, or f explains it without them.",
            UserWarning,
            stacklevel=3,
        )
    # First by the size of the levels, at hand, then by the spread of the image.
    near = len(levels) > 1 and level_gap(levels) <= float(np.max(np.abs(levels))) / DIGITS
    if near and level_gap(levels) <= float(np.ptp(image.values[:, image.present])) / DIGITS:
        warnings.warn(
            f"levels_ coincide: at tau = {tau:.3g} f explains the image without them; raise tau, or ask for fewer.",
            UserWarning,
            stacklevel=3,
        )
