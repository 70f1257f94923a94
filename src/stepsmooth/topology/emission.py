"""The noise of what a fit leaves, and what it does to labels: y - mu - f, or y / (mu e^f) - 1 where f multiplies."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm as normal

from stepsmooth.model.arrays import Anything, Floats, Ints


@dataclass(frozen=True)
class Noise:
    """Noise of the remainder, by level.

    Attributes
    ----------
    variance : (M, p) array
        Of the remainder of points of level k, where the gain is 1.
    worst : (M,) array
        The largest deviation that the remainder of a point can have if it is called k, whatever its true level.
    jumps : (M, M) array
        How far the remainder of a point that is called k lies from 0 if its true level is l.
    spans : (M, M) array
        Half the distance of level k from level l, in deviations of k; infinite if another level lies between them,
        for a point would be taken to that one.
    gain : (n,) array or None
        By what each point's noise counts more: e^-f, or None for 1.
    in_logs : bool
        The remainder is relative: its outputs are log(1 + remainder).
    """

    variance: Floats
    worst: Floats
    jumps: Floats
    spans: Floats
    gain: Floats | None = None
    in_logs: bool = False

    @classmethod
    def of(cls, levels: Floats, noise_variance: Anything, smooth: Floats | None = None) -> "Noise":
        """Return the noise of levels (M, p) in the units of the data; with `smooth`, (n, 1) or (n, p), f multiplies.

        Examples
        --------
        >>> Noise.of(np.array([[1.0], [2.0]]), 0.01, np.zeros((3, 1))).worst  # relative to the level
        array([0.1 , 0.05])
        """
        variance = level_variances(noise_variance, *levels.shape)
        far = levels[:, None] - levels[None]
        spans = np.linalg.norm(far, axis=2) / (2.0 * np.sqrt(variance.max(axis=1)))[:, None]
        np.fill_diagonal(spans, np.inf)
        if levels.shape[1] == 1:
            rank = np.argsort(np.argsort(levels[:, 0]))
            spans[np.abs(rank[:, None] - rank[None]) > 1] = np.inf
        if smooth is None:
            worst = np.full(len(levels), np.sqrt(variance.max()))
            return cls(variance, worst, np.linalg.norm(far, axis=2), spans)
        worst = np.sqrt((variance.max(axis=0) / levels**2).max(axis=1))
        jumps = np.linalg.norm(far / levels[:, None], axis=2)
        return cls(variance / levels**2, worst, jumps, spans, np.exp(-smooth.min(axis=1)), in_logs=True)

    def outputs(self, rest: Floats, error: Floats) -> tuple[Floats, Floats]:
        """Return remainders (..., p) as outputs, and by what an error (...) of at most this size counts there.

        Examples
        --------
        >>> relative = Noise.of(np.array([[1.0], [2.0]]), 0.01, np.zeros((1, 1)))
        >>> relative.outputs(np.array([[0.0]]), np.array([0.5]))  # log(1 - e) is at least -e / (1 - 0.5)
        (array([[0.]]), array([2.]))
        """
        if not self.in_logs:
            return rest, np.ones_like(error)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 1.0 + rest.min(axis=-1) - error
            return np.log1p(np.maximum(rest, -1.0)), np.where(left > 0.0, 1.0 / left, np.inf)

    def turned(self, counts: Floats, gain: Floats) -> Floats:
        """Bound what turned labels add to the mean of each cell (N, M): points that came in, own points that left.

        Examples
        --------
        >>> noise = Noise.of(np.array([[0.0], [2.0], [4.0]]), 1.0)
        >>> noise.turned(np.array([[9.0, 9.0, 0.0]]), np.ones(1)).round(3)  # 2 P(N > 1) + phi(1) from each side
        array([[0.559, 0.801, 3.098]])
        """
        bound, safe = np.zeros_like(counts), np.maximum(counts, 1.0)
        for k in range(len(self.worst)):
            for other in np.flatnonzero(np.isfinite(self.spans[k])):
                came = normal.sf(self.spans[other, k] / gain) * counts[:, other] / safe[:, k]
                left = np.sqrt(self.variance[k].max()) * gain * normal.pdf(self.spans[k, other] / gain)
                bound[:, k] += came * self.jumps[k, other] + left
        return bound

    def flips(self, labels: Ints) -> float:
        """Return how many labels noise alone is expected to turn, at most, if each point takes its nearest level.

        Examples
        --------
        >>> levels, labels = np.array([[0.0], [1.0]]), np.array([0, 1] * 500)
        >>> round(Noise.of(levels, 0.25).flips(labels), 1)  # 1000 P(N > 1)
        158.7
        """
        total = 0.0
        for k, spans in enumerate(self.spans):
            own = np.flatnonzero(labels == k)
            gain = np.ones(1) if self.gain is None else self.gain[own]
            each = sum(np.asarray(normal.sf(span / gain)) for span in spans[np.isfinite(spans)])
            total += float(np.sum(each)) * (len(own) if self.gain is None else 1.0)
        return total


def level_variances(noise_variance: Anything, n_levels: int, n_channels: int) -> Floats:
    """Return the variance of the noise for each level and channel, (M, p).

    Examples
    --------
    >>> level_variances([1.0, 4.0], 2, 1), level_variances(4.0, 2, 2)
    (array([[1.],
           [4.]]), array([[4., 4.],
           [4., 4.]]))
    """
    variance = np.asarray(noise_variance, dtype=np.float64)
    if not np.all(np.isfinite(variance) & (variance > 0.0)):
        raise ValueError(f"noise_variance must be finite and above 0, or 0 for all; found {variance.tolist()}.")
    shape = (n_levels, n_channels)
    if variance.shape == shape or variance.ndim == 0 or (n_channels > 1 and variance.shape == (n_channels,)):
        return np.broadcast_to(variance, shape).copy()
    if n_channels == 1 and variance.shape == (n_levels,):
        return variance[:, None]
    raise ValueError(
        f"noise_variance must be one number, one for each of the {n_levels} levels of scalar data, one for each of the "
        f"{n_channels} channels, or one for each level and channel; found shape {variance.shape}."
    )
