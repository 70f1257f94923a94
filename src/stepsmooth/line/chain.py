"""The model on a line: what is observed, its parameters, and what they imply about the labels (the E-step)."""

from dataclasses import dataclass, field

import numpy as np

from stepsmooth.line import beam
from stepsmooth.line.smoother import LineSmoother
from stepsmooth.model.arrays import Anything, Floats, Ints

# Width, merging distance and cut-off of the beam: narrow to compare starts, wider for search, wide for the answer.
GLANCE = (6, 0.8, 5.0)
SEARCH = (12, 0.5, 6.0)
ANSWER = (48, 0.5, 12.0)
# A branch that has just switched may fall behind by so many nats more.
PATIENCE = 4.0


@dataclass(frozen=True)
class Theta:
    """Parameters: levels (M, p), tau, the noise variance, the prior of the labels, where f starts.

    `transition` is None unless the labels form a Markov chain. `start` is the mean and the standard deviation of f at
    the first point; labels of equally spaced levels are determined only up to a shift until the extremes have been
    seen, and a search that knows where f starts does not have to keep all shifts alive. `ratio` is the noise variance
    of each class over the common one, None if they are alike.
    """

    levels: Floats
    tau: float
    noise: float
    proportions: Floats
    transition: Floats | None = None
    start: tuple[float, float] | None = None
    ratio: Floats | None = None

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return len(self.levels)


@dataclass(frozen=True)
class Expectation:
    """What parameters imply: log p(y), label probabilities (n, M), expected transitions (M, M)."""

    loglik: float
    gamma: Floats
    pairs: Floats


@dataclass
class Signal:
    """Observations (n, p) along x, ascending, with one smooth part for all channels.

    The mean over channels sees f; contrasts between channels see only labels. The chain therefore runs on the mean, and
    the contrasts enter as a likelihood of each label.
    """

    x: Floats
    Y: Floats
    weights: Floats
    order: int = 2
    outlier: float = 0.01
    tau: float | None = None  # given, not estimated
    smoother: LineSmoother = field(init=False)

    def __post_init__(self) -> None:
        self.smoother = LineSmoother(self.x, self.weights, order=self.order)
        span = float(self.x[-1] - self.x[0])
        self.unit = span / max(len(self.x) - 1, 1) if span > 0.0 else 1.0
        self.dx = np.diff(self.x, prepend=self.x[0]) / self.unit
        self.mean = np.ascontiguousarray(self.Y.mean(axis=1))
        self.centre = float(np.average(self.mean, weights=self.weights))
        self.range = float(np.ptp(self.mean)) or 1.0
        self.variance = float(np.average((self.mean - self.centre) ** 2, weights=self.weights)) or 1.0

    def __len__(self) -> int:
        return len(self.x)

    def part(self, index: Ints | slice) -> "Signal":
        """Return the signal at some of its points."""
        weights = self.weights[index]
        # n tau, a property of the neighbourhood, stays.
        tau = None if self.tau is None else self.tau * float(self.weights.sum() / weights.sum())
        return Signal(self.x[index], self.Y[index], weights, self.order, self.outlier, tau)

    def blocks(self, size: int) -> "Signal":
        """Return means over blocks of neighbouring points, with their total weights: less noise for lasting labels."""
        count = len(self) // size
        used = slice(0, count * size)
        w = self.weights[used].reshape(count, size)
        total = w.sum(axis=1)
        x = (w * self.x[used].reshape(count, size)).sum(axis=1) / total
        Y = (w[:, :, None] * self.Y[used].reshape(count, size, -1)).sum(axis=1) / total[:, None]
        return Signal(x, Y, total, self.order, self.outlier, self.tau)

    def lam(self, tau: float) -> float:
        """Return n tau in the unit of length of the filter, the mean step."""
        return float(self.weights.sum()) * tau / self.unit ** (2 * self.order - 1)

    def expect(self, theta: Theta, width: tuple[int, float, float] = SEARCH) -> Expectation:
        """Run the beam forward and back."""
        run = self._forward(theta, width)
        gamma, pairs = beam.backward(theta.n_levels, width[0], *run[1:])
        return Expectation(float(run[0]), gamma, pairs)

    def decide(self, theta: Theta, width: tuple[int, float, float] = SEARCH) -> Expectation:
        """Run the beam forward, and back along one history of labels, as if that were certain."""
        run = self._forward(theta, width)
        path = beam.likeliest(*run[1:])
        gamma, pairs = np.zeros((len(self), theta.n_levels)), np.zeros((theta.n_levels, theta.n_levels))
        gamma[np.arange(len(self)), path] = 1.0
        np.add.at(pairs, (path[:-1], path[1:]), 1.0)
        return Expectation(float(run[0]), gamma, pairs)

    def loglik(self, theta: Theta, width: tuple[int, float, float] = SEARCH) -> float:
        """Return log p(y)."""
        return float(self._forward(theta, width)[0])

    def _forward(self, theta: Theta, width: tuple[int, float, float]) -> tuple[Anything, ...]:
        p = self.Y.shape[1]
        noise = theta.noise / p
        lam = self.lam(theta.tau / p)
        h = lam / self.weights
        scale = noise / lam
        level = theta.levels.mean(axis=1)
        # Known levels may lie anywhere: f starts about what they leave of the centre of y.
        mean, sd = theta.start or (self.centre - float(level.mean()), self.range)
        # A slope that is larger than f's own time scale allows is not worth a hypothesis.
        slope = 0.0
        if self.order == 2:
            slope = 2.8 * lam**0.25 + (2.0 * self.range / len(self)) ** 2 / scale
        with np.errstate(divide="ignore"):
            first = np.log(theta.proportions)
            step = np.zeros((1, 1)) if theta.transition is None else np.log(theta.transition)
        markov = theta.transition is not None
        ratio = np.ones(theta.n_levels) if theta.ratio is None else theta.ratio
        # A branch that has just switched is behind by what that costs, and must live until the data speak for it:
        # six nats would forbid to leave a level that lasts for a thousand points.
        drop = max(width[2], _switching_cost(theta.transition) + PATIENCE)
        total, *branches = beam.forward(
            self.mean - self.centre, self.dx, h, (sd**2 / scale, slope), self.order, scale, mean,
            level - self.centre, ratio, first, step, markov, self._contrasts(theta), self.outlier,
            width[0], width[1], drop,
        )  # fmt: skip
        if theta.start is None:
            return (total, *branches)
        # Other starts are left out, and with them most of the prior: what is left must not look likelier for that.
        away = (mean - self.centre + float(level.mean())) / self.range
        return (total + np.log(sd / self.range) - 0.5 * away**2, *branches)

    def _contrasts(self, theta: Theta) -> Floats:
        p = self.Y.shape[1]
        if p == 1:
            return np.zeros((0, theta.n_levels))
        data = self.Y - self.mean[:, None]
        levels = theta.levels - theta.levels.mean(axis=1, keepdims=True)
        squared = np.sum((data[:, None, :] - levels[None]) ** 2, axis=2)
        each = -0.5 * squared / theta.noise - 0.5 * (p - 1) * np.log(2.0 * np.pi * theta.noise)
        return np.asarray(self.weights[:, None] * each)


def _switching_cost(transition: Floats | None) -> float:
    """Return minus the log of the mean probability of going from one level to another."""
    if transition is None or len(transition) < 2:
        return 0.0
    off = transition[~np.eye(len(transition), dtype=bool)]
    return float(-np.log(max(off.mean(), 1e-12)))
