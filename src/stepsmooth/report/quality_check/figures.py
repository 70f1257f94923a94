"""The figures of quality that need no truth: spread within levels, their separation, the field's range, residuals."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.report.quality_check.image import ThinImage
from stepsmooth.report.quality_check.points import Points

# A label is near a decision boundary if it beats the second by less than this, in probability.
NEAR = 0.5


@dataclass(frozen=True)
class Seen:
    """Labelled observations before and after f was taken away, (n, p), and the pairs of neighbours among them.

    Attributes
    ----------
    before, after : (n, p) arrays
    residual : (n, p) array
        What neither f nor the level explains, in the units of the data.
    field : (n, 1) or (n, p) array
        e^f if it multiplies, else f.
    labels : (n,) array of ints
    margin : (n,) array
    weights : (n,) array
    levels : (M, p) array
    pairs : (k, 2) array of ints
    multiplicative : bool
    """

    before: Floats
    after: Floats
    residual: Floats
    field: Floats
    labels: Ints
    margin: Floats
    weights: Floats
    levels: Floats
    pairs: Ints
    multiplicative: bool

    @classmethod
    def of_points(cls, points: Points) -> "Seen":
        """Return the observations of a signal or of scattered points; neighbours are those next along x, or nearest."""
        after = points.Y - points.smooth
        n = len(after)
        if points.X.shape[1] == 1:
            order = np.argsort(points.X[:, 0], kind="stable")
            pairs = np.stack([order[:-1], order[1:]], axis=1)
        else:
            nearest = cKDTree(points.X).query(points.X, k=min(2, n))[1].reshape(n, -1)[:, -1]
            pairs = np.stack([np.arange(n), nearest], axis=1)
        return cls(
            before=points.Y,
            after=after,
            residual=after - points.levels[points.labels],
            field=points.smooth,
            labels=points.labels,
            margin=points.margin,
            weights=points.weights,
            levels=points.levels,
            pairs=pairs,
            multiplicative=False,
        )

    @classmethod
    def of_image(cls, image: ThinImage) -> "Seen":
        """Return the labelled voxels of an image; neighbours are voxels that share a face."""
        present = image.present
        before = image.values[:, present].T.astype(np.float64)
        f = np.broadcast_to(image.smooth, present.shape)[present][:, None]
        labels = image.labels[present].astype(np.int64)
        level = image.levels[labels]
        number = np.full(present.shape, -1, dtype=np.int64)
        number[present] = np.arange(len(labels))
        pairs = [np.empty((0, 2), dtype=np.int64)]
        for axis, x in enumerate(image.coordinates, start=1):
            if len(x) < 2:
                continue
            # Of every two voxels in a row the first and the second touch, whatever was left out between them.
            left = np.take(number, np.arange(0, len(x) - 1, 2), axis=axis).ravel()
            right = np.take(number, np.arange(1, len(x), 2), axis=axis).ravel()
            both = (left >= 0) & (right >= 0)
            pairs.append(np.stack([left[both], right[both]], axis=1))
        return cls(
            before=before,
            after=before / np.exp(f) if image.multiplicative else before - f,
            residual=before - (np.exp(f) * level if image.multiplicative else level + f),
            field=np.exp(f) if image.multiplicative else f,
            labels=labels,
            margin=image.margin[present].astype(np.float64),
            weights=np.ones(len(labels)) if image.weights is None else image.weights[present],
            levels=image.levels,
            pairs=np.concatenate(pairs),
            multiplicative=image.multiplicative,
        )


def within_level_variation(values: Floats, seen: Seen) -> float:
    """Return the coefficient of variation within the labels, their mean by weight.

    It is sd / mean of a class where f multiplies. Where f adds, zero means nothing, and the sd is divided by the mean
    distance from one level to the next instead. Channels are averaged in squares.
    """
    mean, variance, mass = _moments(values, seen)
    with np.errstate(divide="ignore", invalid="ignore"):
        if seen.multiplicative:
            each = np.sqrt(np.mean(variance / mean**2, axis=1))
        else:
            gaps = np.sqrt(np.sum(np.diff(seen.levels, axis=0) ** 2, axis=1))
            each = np.sqrt(np.sum(variance, axis=1)) / (np.mean(gaps) if len(gaps) else np.nan)
    return float(np.average(each[mass > 0.0], weights=mass[mass > 0.0]))


def joint_variation(values: Floats, seen: Seen) -> float:
    """Return the coefficient of joint variation (sd_a + sd_b) / |mean_a - mean_b| of the two commonest levels.

    Several channels are seen along the line between the two means. NaN if there is one level only.
    """
    mass = np.bincount(seen.labels, seen.weights, minlength=len(seen.levels))
    a, b = np.sort(np.argsort(-mass, kind="stable")[:2]) if len(mass) > 1 else (0, 0)
    if a == b or not mass[a] * mass[b] > 0.0:
        return float("nan")
    mean = [np.average(values[seen.labels == k], axis=0, weights=seen.weights[seen.labels == k]) for k in (a, b)]
    along = mean[1] - mean[0]
    length = float(np.sqrt(np.sum(along**2)))
    if length == 0.0:
        return float("inf")
    spread = 0.0
    for k, centre in zip((a, b), mean):
        own = seen.labels == k
        spread += np.sqrt(np.average(((values[own] - centre) @ along / length) ** 2, weights=seen.weights[own]))
    return float(spread / length)


def field_range(seen: Seen) -> tuple[float, float]:
    """Return the 5 % and 95 % quantiles of the field over the observations."""
    low, high = np.quantile(seen.field, [0.05, 0.95])
    return float(low), float(high)


def near_boundary(seen: Seen) -> float:
    """Return the share of the observations whose label is hardly likelier than the second."""
    return float(np.average(seen.margin < NEAR, weights=seen.weights))


def residual_autocorrelation(seen: Seen) -> float:
    """Return the correlation of the residuals of neighbours, channels pooled; NaN without neighbours or residuals."""
    residual = seen.residual - seen.residual.mean(axis=0)
    left, right = residual[seen.pairs[:, 0]], residual[seen.pairs[:, 1]]
    size = float(np.sqrt(np.sum(left**2) * np.sum(right**2)))
    return float(np.sum(left * right) / size) if size > 0.0 else float("nan")


def _moments(values: Floats, seen: Seen) -> tuple[Floats, Floats, Floats]:
    """Return mean and variance (M, p) of each label, and its weight."""
    count = len(seen.levels)
    mass = np.bincount(seen.labels, seen.weights, minlength=count).astype(np.float64)
    mean, variance = np.zeros((2, count, values.shape[1]))
    for c in range(values.shape[1]):
        mean[:, c] = np.bincount(seen.labels, seen.weights * values[:, c], minlength=count) / np.maximum(mass, 1e-300)
        error = (values[:, c] - mean[seen.labels, c]) ** 2
        variance[:, c] = np.bincount(seen.labels, seen.weights * error, minlength=count) / np.maximum(mass, 1e-300)
    return mean, variance, mass
