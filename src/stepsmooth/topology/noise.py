"""The certificate under noise: f is on the right branch everywhere, no region is shifted by a level.

No union bound over single points says anything useful: noise turns labels as soon as the Bayes error is positive. But
the mean of the points of one label in one neighbourhood has little noise. These means, one for each neighbourhood and
label, are labelled observations themselves, with f in between varying from one neighbourhood to the next. If no other
labelling of the means is compatible with the premises, no region is shifted. Single turned labels are counted apart.
The verdict "not identified" is not given under noise: pooling may have lost what would decide.
"""

from dataclasses import replace

import numpy as np
from scipy.stats import chi2

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.alternatives import NORMS, alternative, only_division
from stepsmooth.topology.arguments import point_cloud
from stepsmooth.topology.certificate import Certificate, parts_without
from stepsmooth.topology.kdtree import build
from stepsmooth.topology.lattice import Lattice
from stepsmooth.topology.modulus import channel_factor, level_gap, size
from stepsmooth.topology.pooling import Means, Sample, class_deviations, expected_flips, pool, single_points
from stepsmooth.topology.spanning import minimum_spanning_tree

COVER = 0.9  # least share of the points that a verdict must be about
COARSEST = 5  # at least 2^5 neighbourhoods: a shifted region smaller than one could hide in it


def certify_noisy(
    X: Anything,
    labels: Ints,
    levels: Floats,
    smooth: Floats,
    y: Floats | None,
    c: float,
    noise_variance: Anything,
    confidence: float,
    norm: Anything,
) -> Certificate:
    """Certify pooled differences at several sizes of neighbourhoods, and keep the best; see :func:`certify`.

    Examples
    --------
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.topology import certify
    >>> data = make_sine_steps(4000, 3, 1.0, noise_variance=0.02, random_state=0)
    >>> found = certify(data.X, data.labels, data.levels, smooth=data.smooth, y=data.y, noise_variance=0.02)
    >>> found.verdict, round(found.flips, 1)
    ('identified', 1.1)
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1; found {confidence!r}.")
    if norm not in NORMS:
        raise ValueError("certify with noise needs norm 1, 2 or inf.")
    deviation = class_deviations(noise_variance, *levels.shape)
    points = X.points() if isinstance(X, Lattice) else point_cloud(X)
    f = np.broadcast_to(smooth, (len(points), levels.shape[1]))
    sample = Sample(points, labels, levels, f + levels[labels] if y is None else y, f, deviation)
    flips = expected_flips(labels, levels, deviation)
    tree = build(points)
    deepest = int(np.log2(len(tree.begin) + 1)) - 1
    depths = [None, *range(deepest, min(deepest, COARSEST) - 1, -1)][0 if flips < 1.0 else 1 :]
    doubt = (1.0 - confidence) / len(depths) / 2.0  # half of it for the means' bias, half for their noise
    best: Certificate | None = None
    for depth in depths:
        means = single_points(sample) if depth is None else pool(sample, tree, depth, doubt)
        if len(means.labels) < 2 or np.all(means.X[0] == means.X):
            continue
        found = _certify_means(means, levels, c, float(deviation.max()), doubt, confidence, norm)
        found = replace(found, region=1 if depth is None else int((tree.end - tree.begin)[2**depth - 1]))
        if best is None or _rank(found) > _rank(best):
            best = found
        if found.verdict == "identified":  # the finest neighbourhoods that decide see the smallest regions
            break
    if best is None:
        best = Certificate(
            verdict="cannot tell",
            margin=-np.inf,
            edges=np.empty((0, 2), dtype=np.int64),
            parts=np.full(len(points), -1),
            premise="none: too few points of one label lie together to be pooled.",
        )
    return replace(best, flips=flips)


def _rank(found: Certificate) -> tuple[bool, bool, float]:
    return found.verdict == "identified", float(np.mean(found.parts >= 0)) >= COVER, found.margin


def _certify_means(
    means: Means, levels: Floats, c: float, deviation: float, doubt: float, confidence: float, norm: Anything
) -> Certificate:
    edges, p = minimum_spanning_tree(means.X).edges, levels.shape[1]
    one, other = edges[:, 0], edges[:, 1]
    scale = channel_factor(p, 1) ** 0.5 if norm == 1 else 1.0  # the 2-norm bounds the others
    quantile = float(np.sqrt(chi2.isf(doubt / len(edges), p)))
    noise = quantile * deviation * np.sqrt(1.0 / means.counts[one] + 1.0 / means.counts[other])
    noise = scale * (noise + means.bias[one] + means.bias[other])
    most = c * float(size(means.smooth[one] - means.smooth[other], norm).max())
    rest = means.Y - levels[means.labels]
    used = size(rest[one] - rest[other], norm) + most + noise
    gap = level_gap(levels, norm=norm)
    found = alternative(edges, means.Y, levels, means.labels, most + noise, norm)[0]
    unique = found is None and only_division(edges, means.Y, levels, means.labels, most + noise, norm)
    covered = float(np.mean(means.member >= 0))
    broken = (used >= gap) & (not unique)
    worst = np.flatnonzero(broken)[np.argsort(-used[broken], kind="stable")]
    part = np.append(parts_without(edges, broken), -1)
    example = np.full(len(means.labels), -1, dtype=np.int64)
    inside = np.flatnonzero(means.member >= 0)
    example[means.member[inside]] = inside
    return Certificate(
        verdict="identified" if unique and covered >= COVER else "cannot tell",
        margin=1.0 - float(used.max()) / gap,
        edges=example[edges[worst]],
        parts=part[means.member],
        premise=(
            "the levels are the true ones up to a shift, noise is independent with standard deviation "
            f"{deviation:.4g}, and from one neighbourhood (about {np.median(means.counts):.0f} points of a label) to "
            f"the next the true f varies by at most {most:.4g} (c = {c:g} times the fitted f); "
            f"confidence {confidence:g}."
        ),
        alternative=None if found is None else np.append(found, -1)[means.member],
        variation=float(used.max()),
        allowed=gap,
    )
