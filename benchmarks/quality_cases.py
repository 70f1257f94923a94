"""Decompositions with a known answer, many better left undone: fields that are weak, absent or forced.

Every second case has a weak field or none. A part of the fits is told too soft a field, or uses AltMin on labels that
last, so that anatomy or steps are swallowed: a verdict must see that, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# By so much accuracy, and by so much of the smallest gap between levels, two answers may differ and still be equal.
SAME_LABELS, SAME_FIELD = 0.005, 0.005
BRAIN = ("CSF", "GM", "WM")
FAMILIES = ("image", "signal", "points")


@dataclass(frozen=True)
class Known:
    """A fit beside the truth at its observations: y (n, p), both smooth parts, labels, levels (M, p)."""

    model: Any
    values: np.ndarray
    smooth: np.ndarray
    found: np.ndarray
    labels: np.ndarray
    levels: np.ndarray
    multiplicative: bool

    def truth(self) -> tuple[str, float, float, float, float]:
        """Whether taking the found f away helped, by labels and by field; accuracy and field error before and after.

        Labels are those of a classifier that knows levels, spreads and proportions, but is given the found f, or none:
        so they differ by the field alone. Where labels gain and the field loses, or the other way, it is no change.
        """
        none = np.zeros_like(self.found)
        before, after = self._accuracy(none), self._accuracy(self.found)
        error, left = float(np.std(self.smooth)), float(np.std(self.smooth - self.found))
        heights = np.log(self.levels) if self.multiplicative else self.levels
        gap = min(np.linalg.norm(a - b) for i, a in enumerate(heights) for b in heights[:i])
        votes = _vote(after - before, SAME_LABELS) + _vote(error - left, SAME_FIELD * float(gap))
        word = {1: "helped", 0: "no change", -1: "made worse"}[int(np.sign(votes))]
        return word, before, after, error, left

    def _accuracy(self, f: np.ndarray) -> float:
        flat, true = (self._without(g - np.mean(g - self.smooth)) for g in (f, self.smooth))
        score = np.full((len(flat), len(self.levels)), -np.inf)
        for k in np.unique(self.labels):
            own = true[self.labels == k]
            if len(own) < 2:
                continue
            score[:, k] = np.log(len(own)) - np.log(own.std()) - 0.5 * ((flat - own.mean()) / own.std()) ** 2
        return float(np.mean(score.argmax(axis=1) == self.labels))

    def _without(self, f: np.ndarray) -> np.ndarray:
        return self.values[:, 0] / np.exp(f) if self.multiplicative else self.values[:, 0] - f


def _vote(better: float, same: float) -> int:
    return 0 if abs(better) <= same else int(np.sign(better))


def make_case(number: int, seed: int) -> tuple[str, bool, Known]:
    """Draw and fit a case: its family, whether its field is weak or absent, and the fit beside the truth."""
    rng = np.random.default_rng([seed, number])
    weak = number % 2 == 0
    kind = number // 2 % 10
    if kind < 5:
        return FAMILIES[0], weak, head(rng, weak) if kind < 3 else patches(rng, weak)
    return (FAMILIES[1], weak, signal(rng, weak)) if kind < 9 else (FAMILIES[2], weak, scattered(rng, weak))


def head(rng: np.random.Generator, weak: bool) -> Known:
    """A slice of a head with texture and partial volume."""
    from stepsmooth.datasets import make_head_phantom

    scan = make_head_phantom(
        (64, 77),
        height=float(rng.uniform(0.0, 40.0)),
        contrasts=str(rng.choice(["T1w", "T1w", "T2w", "PDw"])),
        classes=BRAIN,
        field=str(rng.choice(["poly", "coil", "smooth"] if weak else ["poly", "coil", "smooth", "rough"])),
        ratio=float(rng.choice([1.0, rng.uniform(1.02, 1.12)]) if weak else np.exp(rng.uniform(0.25, 1.5))),
        noise=float(rng.uniform(1.0, 7.0)),
        partial_volume=float(rng.choice([0.0, 1.5, 2.5])),
        texture=float(rng.choice([0.0, 0.05, 0.1, 0.15])),
        random_state=rng,
    )
    model = _fit_image(rng, scan.image, scan.mask, len(scan.levels), scan.spacing, True)
    return _known_image(model, scan.image, scan.smooth, scan.labels, scan.levels, scan.mask, True)


def patches(rng: np.random.Generator, weak: bool) -> Known:
    """Patches of two to four levels under a field that adds or multiplies."""
    from scipy.ndimage import gaussian_filter

    from stepsmooth.datasets import make_field

    multiplicative, n_levels, side = bool(rng.integers(2)), int(rng.integers(2, 5)), int(rng.integers(48, 80))
    bumps = gaussian_filter(rng.standard_normal((side, side)), rng.uniform(1.5, 4.0))
    labels = np.digitize(bumps, np.quantile(bumps, np.arange(1, n_levels) / n_levels))
    levels = np.cumsum(rng.uniform(0.6, 1.4, n_levels))
    full = np.ones((side, side), dtype=bool)
    ratio = float(rng.choice([1.0, rng.uniform(1.02, 1.12)]) if weak else np.exp(rng.uniform(0.25, 1.5)))
    kind = str(rng.choice(["poly", "smooth"]))
    smooth = make_field(full, kind, ratio, spacing=(180.0 / side,) * 2, random_state=rng).astype(np.float64)
    clean = np.exp(smooth) * levels[labels] if multiplicative else smooth + levels[labels]
    clean = gaussian_filter(clean, rng.choice([0.0, 0.7]))
    image = clean + rng.uniform(0.05, 0.25) * rng.standard_normal(clean.shape)
    image = np.maximum(image, 0.0) if multiplicative else image
    model = _fit_image(rng, image, None, n_levels, None, multiplicative)
    return _known_image(model, image, smooth, labels, levels, full, multiplicative)


def _fit_image(rng: np.random.Generator, image, mask, n_levels: int, spacing, multiplicative: bool):  # type: ignore[no-untyped-def]
    from stepsmooth import GridStepSmooth

    ways = [{}, {}, {}, {"knots": 45.0}, {"knots": 30.0}, {"knots": 20.0}, {"solver": "altmin"}]
    # AltMin is quick only where there is no mask.
    way = ways[int(rng.integers(len(ways) - (mask is not None)))]
    model = GridStepSmooth(n_levels, spacing=spacing, multiplicative=multiplicative, random_state=0, **way)
    return model.fit(image, mask=mask)


def _known_image(model, image, smooth, labels, levels, mask, multiplicative: bool) -> Known:  # type: ignore[no-untyped-def]
    inside = mask & (model.labels_ >= 0)
    values = np.asarray(image[inside], dtype=np.float64)[:, None]
    found = np.asarray(model.smooth_, dtype=np.float64)[inside]
    return Known(model, values, smooth[inside], found, labels[inside], np.asarray(levels)[:, None], multiplicative)


def signal(rng: np.random.Generator, weak: bool) -> Known:
    """A trace on a slow wave, labels independent or lasting."""
    from stepsmooth import StepSmooth
    from stepsmooth.datasets import make_markov_steps, make_sine_steps

    make, more = make_sine_steps, {}
    if rng.random() < 0.5:
        make, more = make_markov_steps, {"switching": float(rng.choice([0.1, 0.05, 0.02]))}
    n_levels = int(rng.integers(2, 4))
    data = make(
        int(rng.integers(250, 600)),
        n_levels,
        float(rng.uniform(0.5, 4.0)),
        amplitude=float(rng.choice([0.0, rng.uniform(0.02, 0.1)]) if weak else rng.uniform(0.25, 1.0)),
        noise_variance=float(rng.uniform(0.01, 0.1)),
        phase=float(rng.uniform(0.0, 6.0)),
        random_state=rng,
        **more,
    )
    ways = [{}, {}, {}, {"solver": "altmin"}, {"solver": "altmin", "tau": float(10.0 ** rng.uniform(-10.0, -6.0))}]
    model = StepSmooth(n_levels, **ways[int(rng.integers(len(ways)))]).fit(data.X, data.y)
    return _known_points(model, data.y, data.smooth, data.labels, data.levels)


def scattered(rng: np.random.Generator, weak: bool) -> Known:
    """Points in the plane under a slow wave."""
    from stepsmooth import StepSmooth

    n, n_levels = int(rng.integers(300, 700)), int(rng.integers(2, 4))
    X, labels = rng.random((n, 2)), rng.integers(n_levels, size=n)
    height = float(rng.choice([0.0, rng.uniform(0.02, 0.1)]) if weak else rng.uniform(0.25, 1.0))
    smooth = height * np.sin(X @ rng.normal(0.0, 4.0, 2) + rng.uniform(0.0, 6.0))
    levels = np.arange(n_levels) - (n_levels - 1) / 2.0
    y = smooth + levels[labels] + np.sqrt(rng.uniform(0.01, 0.1)) * rng.standard_normal(n)
    way = {} if rng.random() < 0.7 else {"kernel": "rbf", "tau": float(10.0 ** rng.uniform(-6.0, -3.0))}
    return _known_points(StepSmooth(n_levels, **way).fit(X, y), y, smooth, labels, levels)


def _known_points(model, y, smooth, labels, levels) -> Known:  # type: ignore[no-untyped-def]
    return Known(model, y[:, None], smooth, model.smooth_, labels, np.asarray(levels)[:, None], False)
