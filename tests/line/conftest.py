"""The beam without any of its shortcuts: hypotheses carry their label histories with them, forward only.

The folder's shared cases are on the path.
"""

import sys
from dataclasses import dataclass, replace
from math import factorial
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@dataclass
class Hypothesis:
    """The mean of (f, f', ...), the weight, the last label, and what is believed of the labels so far."""

    state: np.ndarray
    weight: float
    last: int
    gamma: np.ndarray
    pairs: np.ndarray


def moved_by(u, order):
    """Return the transition and the process noise of (f, f', ...) over a step u, where f^(order) is white noise."""
    i = np.arange(order)
    A = np.array([[u ** (c - r) / factorial(c - r) if c >= r else 0.0 for c in i] for r in i])
    power = 2 * order - 1 - i[:, None] - i
    past = np.array([factorial(order - 1 - r) for r in i], dtype=float)
    return A, u**power / power / np.outer(past, past)


def run_plain_beam(
    y, dx, h, first, scale, start, levels, proportions, *,
    ratio=None, transition=None, extra=None, outlier=0.0, width=10**6, merge=0.0, drop=np.inf,
):  # fmt: skip
    """Return log p(y), label probabilities (n, M) and expected transitions (M, M), in plain numpy."""
    n, M, order = len(y), len(levels), len(first)
    ratio = np.ones(M) if ratio is None else ratio
    extra = np.zeros((n, M)) if extra is None else extra
    begin = np.zeros(order)
    begin[0] = start
    alive = [Hypothesis(begin, 1.0, -1, np.zeros((n, M)), np.zeros((M, M)))]
    P, total = np.diag(np.asarray(first, dtype=float)), 0.0
    for t in range(n):
        A, Q = moved_by(dx[t] if t else 0.0, order)
        P = A @ P @ A.T + Q if t else P
        branches = []
        for parent in alive:
            ahead = A @ parent.state
            for k in range(M):
                v = y[t] - levels[k] - ahead[0]
                # Two ways to see this label: with the noise of its class, or as an outlier three times as wide.
                widths = P[0, 0] + h[t] * ratio[k] * np.array([1.0, 9.0])
                seen = np.array([1.0 - outlier, outlier]) * np.exp(-0.5 * v**2 / (scale * widths))
                seen /= np.sqrt(2.0 * np.pi * scale * widths)
                state = ahead + v * P[:, 0] * np.sum(seen / seen.sum() / widths)
                prior = transition[parent.last, k] if transition is not None and t else proportions[k]
                gamma, pairs = parent.gamma.copy(), parent.pairs.copy()
                gamma[t, k] = 1.0
                if t:
                    pairs[parent.last, k] += 1.0
                weight = parent.weight * prior * seen.sum() * np.exp(extra[t, k])
                branches.append(Hypothesis(state, weight, k, gamma, pairs))
        gain = P[:, 0] / (P[0, 0] + h[t])
        P = P - np.outer(gain, P[:, 0])
        best = max(b.weight for b in branches)
        branches = [b for b in branches if b.weight > best * np.exp(-drop)]
        alive = _merged(sorted(branches, key=lambda b: -b.weight), P * scale, width, merge, transition is not None)
        mass = sum(b.weight for b in alive)
        total += np.log(mass)
        alive = [replace(b, weight=b.weight / mass) for b in alive]
    return total, sum(b.weight * b.gamma for b in alive), sum(b.weight * b.pairs for b in alive)


def _merged(branches, covariance, width, merge, markov):
    """Join each branch to the first one that is within `merge` standard deviations; keep at most so many."""
    if merge == 0.0:
        return branches[:width]
    kept: list[Hypothesis] = []
    for b in branches:
        for c in kept:
            d = b.state - c.state
            if (c.last == b.last or not markov) and d @ np.linalg.solve(covariance, d) < merge**2:
                share = b.weight / (b.weight + c.weight)
                c.weight += b.weight
                for name in ("state", "gamma", "pairs"):
                    setattr(c, name, (1.0 - share) * getattr(c, name) + share * getattr(b, name))
                break
        else:
            if len(kept) < width:
                kept.append(b)
    return kept


@pytest.fixture(scope="session")
def plain_beam():
    """The plain beam, to which the compiled ones have to be equal."""
    return run_plain_beam


@pytest.fixture(scope="session")
def transition_over():
    """The transition and the process noise of (f, f', ...) over a step."""
    return moved_by
