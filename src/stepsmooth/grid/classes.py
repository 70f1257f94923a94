"""Finding the classes under a given field: several starts, then moves that merge two classes and split a third.

Mixtures of many classes, some close, some rare, have many local maxima; nearly all of them have two classes on one
level, or one class on two. A split and a merge mend just that (Ueda et al. 2000).
"""

from dataclasses import dataclass, replace

import numpy as np

from stepsmooth.grid.em import em_steps
from stepsmooth.grid.mixture import Classes, least_variance, outlier_density, posterior, with_spread
from stepsmooth.model.arrays import Floats, Ints
from stepsmooth.model.kmeans import kmeans, kmeans_1d

# Classes are searched on at most so many observations for each.
SAMPLE = 3000
# k-means is started on at most so many values.
N_FOR_KMEANS = 4000
# In several channels it is started from so many seeds: what it misses, splits and merges mend.
N_SEEDS = 4
N_STEPS, N_SHORT = 25, 8
# Moves are tried on at most so many observations for each class.
N_FOR_TRIALS = 1000
# How many pairs to merge and how many classes to split are tried in a round.
N_MERGES, N_SPLITS = 4, 4
# A move must gain this much log-likelihood, in nats.
GAIN = 5.0
# Observations that no class explains are sorted into so many groups, of at least so many each.
N_GROUPS, FEWEST = 3, 8
# Two classes this close, in standard deviations, may be one.
CROWDED = 1.5


@dataclass(frozen=True)
class Sample:
    """Observations (n, p) with what the field does to each, and weights."""

    Y: Floats
    gain: Floats
    shift: Floats
    weights: Floats

    def part(self, keep: Ints) -> "Sample":
        """Return some of the observations."""
        return Sample(self.Y[keep], self.gain[keep], self.shift[keep], self.weights[keep])

    @property
    def corrected(self) -> Floats:
        """Return the observations without the field."""
        return np.asarray((self.Y - self.shift[:, None]) / self.gain[:, None])

    def densities(self, classes: Classes) -> Floats:
        """Return the density of each observation in each class, (n, M)."""
        log_density = np.zeros((len(self.Y), classes.count))
        for k in range(classes.count):
            error = self.Y - self.gain[:, None] * classes.levels[k] - self.shift[:, None]
            log_density[:, k] = -0.5 * np.sum(
                error**2 / classes.variances[k] + np.log(2.0 * np.pi * classes.variances[k]), axis=1
            )
        return np.exp(log_density)

    def thinned(self, most: int) -> "Sample":
        """Return at most `most` observations, spread evenly over all."""
        if len(self.Y) <= most:
            return self
        return self.part(np.linspace(0, len(self.Y) - 1, most).astype(np.int64))


def find_classes(sample: Sample, n_levels: int, seed: int = 0, *, alike: bool = False) -> tuple[Classes, float]:
    """Return M classes of the observations under their field, and the log-likelihood a unit of weight.

    Classes that are `alike` have one variance in common.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.concatenate([rng.normal(m, 0.1, n) for m, n in [(1.0, 900), (1.6, 90), (3.0, 900)]])[:, None]
    >>> classes, _ = find_classes(Sample(Y, np.ones(len(Y)), np.zeros(len(Y)), np.ones(len(Y))), 3)
    >>> classes.levels.ravel().round(1)
    array([1. , 1.6, 3. ])
    """
    sample = sample.thinned(SAMPLE * max(n_levels, 3))
    fits = [run_em(sample, start, N_SHORT) for start in _starts(sample, n_levels, seed, alike)]
    classes, loglik = max(fits, key=lambda fit: fit[1])
    classes, loglik = run_em(sample, classes, N_STEPS)
    if n_levels > 2:
        classes, loglik = split_and_merge(sample, classes, loglik)
    return classes.ordered(), loglik / float(sample.weights.sum())


def run_em(sample: Sample, classes: Classes, steps: int, *, keep_levels: bool = False) -> tuple[Classes, float]:
    """Return the classes after some steps of the EM algorithm at a fixed field, and their log-likelihood."""
    given = sample.Y, sample.gain, sample.shift, sample.weights
    return em_steps(*given, classes, least_variance(sample.Y), steps, keep=keep_levels)


def _starts(sample: Sample, n_levels: int, seed: int, alike: bool = False) -> list[Classes]:
    """Return classes from k-means of the corrected values, and of their logarithms where they are positive."""
    few = sample.thinned(N_FOR_KMEANS)
    values = few.corrected
    # Where the field is dark a corrected value is noisy.
    weights = few.weights * few.gain**2
    starts = [_of_labels(few, _labels(values, n_levels, weights, seed), sample.Y, alike)]
    bright = np.all(values > 0.0, axis=1)
    if bright.sum() >= max(10 * n_levels, 0.5 * len(values)) and not np.any(few.shift):
        logs = np.log(np.maximum(values, np.quantile(values[bright], 0.01, axis=0)))
        starts.append(_of_labels(few, _labels(logs, n_levels, few.weights, seed), sample.Y, alike))
    return starts


def _labels(values: Floats, n_levels: int, weights: Floats, seed: int) -> Ints:
    scale = np.std(values, axis=0)
    scaled = values / np.where(scale > 0.0, scale, 1.0)
    if scaled.shape[1] == 1:
        return kmeans_1d(scaled[:, 0], n_levels, weights)[1]
    n_levels = min(n_levels, len(np.unique(scaled, axis=0)))
    return kmeans(scaled, n_levels, weights, np.random.RandomState(seed), N_SEEDS)[1]


def _of_labels(sample: Sample, labels: Ints, Y: Floats, alike: bool = False) -> Classes:
    n_levels = int(labels.max()) + 1
    levels: Floats = np.zeros((n_levels, Y.shape[1]))
    mass: Floats = np.bincount(labels, sample.weights).astype(np.float64)
    residual = np.empty_like(sample.Y)
    for k in range(n_levels):
        own = labels == k
        pull = sample.weights[own] * sample.gain[own]
        levels[k] = pull @ (sample.Y[own] - sample.shift[own, None]) / max(float(pull @ sample.gain[own]), 1e-300)
        residual[own] = sample.Y[own] - sample.gain[own, None] * levels[k] - sample.shift[own, None]
    squares: Floats = np.stack(
        [np.bincount(labels, sample.weights * r**2) for r in residual.T], axis=1, dtype=np.float64
    )
    unknown = Classes(levels, np.ones_like(levels), np.ones(n_levels), outlier_density(Y), alike)
    return with_spread(unknown, levels, mass, squares, least_variance(sample.Y))


def split_and_merge(sample: Sample, classes: Classes, loglik: float) -> tuple[Classes, float]:
    """Return classes that no move betters: merge two, split a third, and let EM settle."""
    few = sample.thinned(N_FOR_TRIALS * classes.count)
    for _ in range(2 * classes.count):
        trials = [run_em(few, trial, N_SHORT) for trial in _moves(sample, classes)]
        if not trials:
            break
        best = run_em(sample, max(trials, key=lambda fit: fit[1])[0], N_STEPS)
        if best[1] <= loglik + GAIN:
            break
        classes, loglik = best
    return classes, loglik


def _moves(sample: Sample, classes: Classes) -> list[Classes]:
    q, _ = posterior(sample.Y, sample.gain, sample.shift, sample.weights, classes)
    n_levels = classes.count
    norms = np.sqrt(np.sum(q**2, axis=0)) + 1e-150  # of a class without members; it is squared
    # Two classes on one level share their observations, and lie close in units of their spread.
    overlap = (q.T @ q) / np.outer(norms, norms)
    gap = np.sum(
        (classes.levels[:, None] - classes.levels[None]) ** 2 / (classes.variances[:, None] + classes.variances[None]),
        axis=2,
    )
    closeness = overlap + 1.0 / (1.0 + gap)
    pairs = sorted(
        ((i, j) for i in range(n_levels) for j in range(i + 1, n_levels)), key=lambda ij: (-closeness[ij], ij)
    )
    # The rarest class may be a few outliers: it too may be given up.
    rare = int(np.argmin(classes.proportions))
    nearest = int(np.argmin(np.where(np.arange(n_levels) == rare, np.inf, gap[rare])))
    tried = [*pairs[:N_MERGES], (min(rare, nearest), max(rare, nearest))]
    splits = np.argsort(-_misfit(sample, classes, q), kind="stable")[:N_SPLITS]
    moves = []
    for i, j in dict.fromkeys(tried):
        for k in splits:
            if k not in (i, j):
                moves.append(_moved(sample, classes, q, i, j, int(k)))
    groups = _unexplained(sample, classes, q)
    for i, j in pairs[:N_MERGES]:
        moves += [_merged(classes, i, j, *found) for found in groups]
    return moves


def _unexplained(sample: Sample, classes: Classes, q: Floats) -> list[tuple[Floats, Floats, float]]:
    """Return level, variance and share of up to three groups of observations that no class explains."""
    outside = np.flatnonzero(q.sum(axis=1) < 0.5)
    if len(outside) < FEWEST:
        return []
    part = sample.part(outside)
    labels = _labels(part.corrected, min(N_GROUPS, len(outside) // FEWEST), part.weights, seed=0)
    groups = []
    for k in range(int(labels.max()) + 1):
        own = part.part(np.flatnonzero(labels == k))
        share = float(own.weights.sum() / sample.weights.sum())
        groups.append((own.corrected.mean(axis=0), np.maximum(np.median(classes.variances, axis=0), 1e-300), share))
    return groups


def _misfit(sample: Sample, classes: Classes, q: Floats) -> Floats:
    """Return how far each class is from a Gaussian: the largest gap between the cdfs, times the root of its mass."""
    found = np.zeros(classes.count)
    for k in range(classes.count):
        mass = sample.weights * q[:, k]
        if mass.sum() <= 0.0:
            continue
        residual = (sample.corrected - classes.levels[k]) * sample.gain[:, None] / np.sqrt(classes.variances[k])
        worst = 0.0
        for c in range(residual.shape[1]):
            edges = np.histogram(residual[:, c], bins=40, range=(-4.0, 4.0), weights=mass)[0]
            shape = edges / max(edges.sum(), 1e-300)
            grid = np.linspace(-4.0, 4.0, 41)
            normal = np.exp(-0.5 * ((grid[1:] + grid[:-1]) / 2.0) ** 2)
            worst = max(worst, float(np.abs(np.cumsum(shape) - np.cumsum(normal / normal.sum())).max()))
        found[k] = worst * np.sqrt(mass.sum())
    return found


def _merged(classes: Classes, i: int, j: int, level: Floats, variance: Floats, freed: float) -> Classes:
    """Return the classes with i and j merged into i, and j given a level, a variance and a share of its own."""
    levels, variances, share = classes.levels.copy(), classes.variances.copy(), classes.proportions.copy()
    total = share[i] + share[j]
    levels[i] = (share[i] * classes.levels[i] + share[j] * classes.levels[j]) / total
    variances[i] = np.maximum(classes.variances[i], classes.variances[j])
    levels[j], variances[j], share[i], share[j] = level, variance, total, freed
    return replace(classes, levels=levels, variances=variances, proportions=share / share.sum())


def _moved(sample: Sample, classes: Classes, q: Floats, i: int, j: int, k: int) -> Classes:
    """Return the classes with i and j merged, and k split across its widest direction."""
    merged = _merged(classes, i, j, classes.levels[j], classes.variances[j], float(classes.proportions[k]))
    levels, variances, share = merged.levels, merged.variances, merged.proportions
    mass = sample.weights * q[:, k] * sample.gain**2
    centred = sample.corrected - levels[k]
    covariance = (centred * mass[:, None]).T @ centred / max(mass.sum(), 1e-300)
    values, vectors = np.linalg.eigh(covariance)
    step = np.sqrt(max(values[-1], 0.0)) * vectors[:, -1]
    levels[j], levels[k] = levels[k] + step, levels[k] - step
    variances[j] = variances[k] = variances[k] / 2.0
    share[j] = share[k] = share[k] / 2.0
    return replace(merged, proportions=share / share.sum())


def nearest(classes: Classes, least: float = 0.0) -> float:
    """Return how far apart the nearest two classes are, in standard deviations of the narrower or of `least`."""
    narrower = np.minimum(classes.variances[:, None], classes.variances[None])
    gap = (classes.levels[:, None] - classes.levels[None]) ** 2 / np.maximum(narrower, max(least**2, 1e-300))
    return float(np.sqrt(np.min(gap.sum(axis=2)[~np.eye(classes.count, dtype=bool)], initial=np.inf)))


def crowded(classes: Classes) -> bool:
    """Return whether two classes lie within a standard deviation or so: one level may have two, another none."""
    # Where there is hardly any noise, a small part of the levels' range counts instead.
    return nearest(classes, 0.01 * float(np.ptp(classes.levels))) < CROWDED


def regroup(sample: Sample, classes: Classes) -> Classes:
    """Return the classes after splits and merges on single voxels: a thin or rare class may have no pure block."""
    sample = sample.thinned(SAMPLE * max(classes.count, 3))
    settled = run_em(sample, classes, N_STEPS)
    return split_and_merge(sample, *settled)[0].ordered()
