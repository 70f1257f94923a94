"""Signals and scattered points: stretches of the line, or boxes of space, are held out in turn."""

from dataclasses import replace

import numpy as np

from stepsmooth.grid.classes import Sample, find_classes
from stepsmooth.grid.mixture import Classes, outlier_density
from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.report.quality_check.heldout import FAR, N_FOLDS, HeldOut, compare, score_regions
from stepsmooth.report.quality_check.points import Points, points_in_reach

# A region has at least so many points: steps that f has swallowed last for a few, and must end inside a region.
FEWEST = 12
# With fewer regions there is no telling chance from gain, with more there is nothing to win.
FEW_REGIONS, MOST_REGIONS = 36, 120
# About so many points are scored.
N_SCORED = 40_000
# What is left of the weight of a point that is held out: nothing, but for the solvers' sake.
NO_WEIGHT = 1e-9


def held_out_stretches(points: Points) -> HeldOut:
    """Return what f is worth in regions that had no say in it.

    The labels of the others stay: f is fitted again to what they leave of y, as stiff as it was. Regions are held out
    alone and with a neighbour. The ends of a line do not count: there f would not be continued into a region from both
    sides.
    """
    n = len(points.Y)
    region = regions(points.X, points_in_reach(points.X, points.smooth))
    n_regions = int(region.max()) + 1
    if n_regions < 2 or not np.ptp(points.smooth) > 1e-9 * np.ptp(points.Y):
        return HeldOut.nothing(n_regions)
    some = np.linspace(0, n - 1, min(n, N_SCORED)).astype(np.int64)
    weights = points.weights[some] / points.weights[some].mean()
    gains = []
    flat = _sample(points.Y[some], weights)
    # Outliers are outliers of y, with f or without.
    density = outlier_density(flat.Y)
    flat_classes = replace(find_classes(flat, len(points.levels))[0], outlier_density=density)
    for length in (1, FAR):
        fold = region // length % N_FOLDS
        sample = _sample((points.Y - _predicted(points, fold))[some], weights)
        classes = replace(_classes(points, some, sample), outlier_density=density)
        bent = score_regions(sample, classes, region[some], n_regions, fold[some])
        gains.append(bent - score_regions(flat, flat_classes, region[some], n_regions, fold[some]))
    mass = np.bincount(region[some], weights, minlength=n_regions).astype(np.float64)
    if points.X.shape[1] == 1 and n_regions > 4 * FAR:
        mass[:FAR] = mass[-FAR:] = 0.0
    return compare(gains[0], gains[1], mass)


def regions(X: Floats, size: float) -> Ints:
    """Return the region of each point, of about `size` points each: stretches of a line, or boxes halved in turn.

    Examples
    --------
    >>> len(np.unique(regions(np.arange(3000.0)[:, None], 60.0))), np.bincount(regions(np.ones((30, 2)), 9.0))
    (50, array([15, 15]))
    """
    n = len(X)
    most = max(min(MOST_REGIONS, n // FEWEST), 1)
    wanted = int(np.clip(n / max(size, 1.0), min(FEW_REGIONS, most), most))
    parts = [np.arange(n)]
    if X.shape[1] == 1:
        parts = np.array_split(np.argsort(X[:, 0], kind="stable"), wanted)
    while len(parts) < wanted:
        largest = max(range(len(parts)), key=lambda k: len(parts[k]))
        part = parts[largest]
        along = X[part, int(np.argmax(np.ptp(X[part], axis=0)))]
        part = part[np.argsort(along, kind="stable")]
        # In place, so that neighbours in the list are neighbours in space.
        parts[largest : largest + 1] = [part[: len(part) // 2], part[len(part) // 2 :]]
    region = np.empty(n, dtype=np.int64)
    for k, part in enumerate(parts):
        region[part] = k
    return region


def _predicted(points: Points, fold: Ints) -> Floats:
    """Return f at each point, fitted without the points of its fold."""
    part = points.part
    f = np.empty_like(part.residual)
    for held in np.unique(fold):
        inside = fold == held
        kept = np.where(inside, NO_WEIGHT, 1.0) * points.weights
        # Fewer points, the same stiffness: it is n tau that weighs |f|^2 against the squared errors.
        tau = part.tau * points.weights.sum() / kept.sum()
        f[inside] = part.smoother.reweighted(kept).solve(part.residual, tau)[inside]
    return f - part.shift


def _sample(Y: Floats, weights: Floats) -> Sample:
    return Sample(np.ascontiguousarray(Y), np.ones(len(Y)), np.zeros(len(Y)), weights)


def _classes(points: Points, some: Ints, sample: Sample) -> Classes:
    """Return where a fit of the classes starts: at those of the fit that is judged."""
    levels, labels = points.levels, points.labels[some]
    error = np.median(np.abs(sample.Y - levels[labels]), axis=0) / 0.6745
    variance = np.maximum(error**2, 1e-10 * np.var(sample.Y, axis=0) + 1e-300)
    share = np.bincount(labels, sample.weights, minlength=len(levels)) + 1e-9
    return Classes(levels, np.tile(variance, (len(levels), 1)), share / share.sum(), 0.0)
