"""The certificate under noise: f is on the right branch everywhere, no region is shifted by a level.

No union bound over single points says anything useful: noise turns labels as soon as the Bayes error is positive. But
the mean of the points of one label in one neighbourhood has little noise. These means, one for each neighbourhood and
label, are labelled observations themselves, with f in between varying from one neighbourhood to the next. If no other
labelling of the means is compatible with the premises, no region is shifted. Single turned labels are counted apart.
The verdict "not identified" is not given under noise: pooling may have lost what would decide.
"""

from collections.abc import Iterator

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.alternatives import NORMS
from stepsmooth.topology.arguments import point_cloud
from stepsmooth.topology.certificate import Certificate, largest_factor
from stepsmooth.topology.emission import Noise
from stepsmooth.topology.lattice import Lattice
from stepsmooth.topology.modulus import Modulus
from stepsmooth.topology.pooling import Sample
from stepsmooth.topology.trial import COVER, Premises, Trial, trials

ROOM = 2.0 ** (1.0 / 64.0)  # f and noise could vary by so much more: a verdict by a hair's breadth is none


def certify_noisy(
    X: Anything,
    labels: Ints,
    levels: Floats,
    smooth: Floats,
    rest: Floats,
    noise: Noise,
    *,
    c: float,
    modulus: Modulus | None,
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
    if modulus is not None and modulus.metric != "euclidean":
        raise ValueError("certify with noise needs a modulus in the Euclidean distance; found one in another metric.")
    points = X.points() if isinstance(X, Lattice) else point_cloud(X)
    sample, flips = Sample(points, labels, levels, smooth, rest, noise), noise.flips(labels)
    premises = Premises(c, modulus, norm, 1.0 - confidence)
    undecided: list[Trial] = []
    for trial in trials(X, sample, premises, alone=flips < 1.0):
        for some in _candidates(trial) if trial.covered >= COVER else ():
            if some.unique(ROOM):  # the finest neighbourhoods that decide see the smallest regions
                return _identified(some, flips, noise, confidence)
        undecided.append(trial)
    if undecided:  # what cannot be decided as a whole is told by the largest parts
        best = max(undecided, key=lambda trial: (trial.covered >= COVER, trial.together))
        return _undecided(best, flips, noise, confidence)
    return Certificate(
        verdict="cannot tell",
        margin=-np.inf,
        edges=np.empty((0, 2), dtype=np.int64),
        parts=np.full(len(points), -1),
        premise="none: too few points of one label lie together to be pooled.",
        flips=flips,
    )


def _candidates(trial: Trial) -> Iterator[Trial]:
    yield trial
    if trial.region > 1:
        yield trial.trimmed()


def _identified(trial: Trial, flips: float, noise: Noise, confidence: float) -> Certificate:
    worst = float((trial.smooth + trial.noise).max())
    room = largest_factor(trial.unique)
    return Certificate(
        verdict="identified",
        margin=1.0 - 1.0 / room,
        edges=np.empty((0, 2), dtype=np.int64),
        parts=np.minimum(trial.means.member, 0),
        premise=_premise(trial, noise, confidence),
        variation=worst,
        allowed=room * worst,
        flips=flips,
        region=trial.region,
    )


def _undecided(trial: Trial, flips: float, noise: Noise, confidence: float) -> Certificate:
    member, used = trial.means.member, trial.used(trial.smooth)
    part, cut = trial.local
    worst = np.flatnonzero(cut)[np.argsort(-used[cut], kind="stable")]
    example = np.full(len(trial.means.labels), -1, dtype=np.int64)
    inside = np.flatnonzero(member >= 0)
    example[member[inside]] = inside
    other = trial.other()
    return Certificate(
        verdict="cannot tell",
        # What is not covered may fail the verdict though every edge holds.
        margin=min(1.0 - float(used.max()) / trial.gap, 0.0) if trial.gap > 0.0 else -np.inf,
        edges=example[trial.edges[worst]],
        parts=np.append(part, -1)[member],
        premise=_premise(trial, noise, confidence),
        alternative=None if other is None else np.append(other, -1)[member],
        variation=float(used.max()),
        allowed=trial.gap,
        flips=flips,
        region=trial.region,
    )


def _premise(trial: Trial, noise: Noise, confidence: float) -> str:
    unit = " of a relative change" if noise.in_logs else ""
    premises, fitted = trial.premises, f"{trial.smooth.max():.4g}"
    belief = (
        f"by at most {fitted} (c = {premises.c:g} times the fitted f)"
        if premises.modulus is None
        else f"by no more than {premises.modulus.words} ({fitted} at most)"
    )
    points = f"about {np.median(trial.means.counts):.0f} points of a label"
    return (
        "the levels are the true ones up to a shift, noise is independent with standard deviation "
        f"{float(noise.worst.max()):.4g}{unit}, and from one neighbourhood ({points}) to the next the true f varies "
        f"{belief}; confidence {confidence:g}."
    )
