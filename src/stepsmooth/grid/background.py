"""Air: voxels without signal, that no field touches.

The magnitude of complex noise of standard deviation s has second moment 2 s^2 and mean s sqrt(pi / 2) where there is
no signal (Rayleigh). Air is looked for where it is sure to be seen if there is any: outside the mask, or at the border
of the image.
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit, prange

from stepsmooth.grid.moments import block_moments
from stepsmooth.grid.volume import Bools, Floats32, Volume
from stepsmooth.model.arrays import Floats

# How thick the image's border is, as a share of each axis.
SHELL = 0.06
# Blocks darker than so many standard deviations above the mean of air may be air.
REACH = 4.0
# Less air than this share of the image is not looked after; nor is "air" that is nearly as bright as the rest.
LEAST_SHARE, CONTRAST = 0.02, 2.0
# Air is noise: neighbours that are more alike than this are something else.
MOST_CORRELATION = 0.5
# Its noise is estimated on about so many voxels.
N_SEEN = 100_000
RAYLEIGH_MEAN, RAYLEIGH_VARIANCE = np.sqrt(np.pi / 2.0), 2.0 - np.pi / 2.0


@dataclass(frozen=True)
class Air:
    """The noise of air, (p,): its standard deviation per component, zero if air is exactly zero; and its share."""

    sigma: Floats
    share: float

    @property
    def mean(self) -> Floats:
        """Return the mean magnitude of air."""
        return np.asarray(self.sigma * RAYLEIGH_MEAN)

    @property
    def variance(self) -> Floats:
        """Return the variance of the magnitude of air."""
        return np.asarray(self.sigma**2 * RAYLEIGH_VARIANCE)

    def limit(self, n: int) -> Floats:
        """Return the brightness below which the mean of n voxels may be air."""
        return np.asarray(self.mean + REACH * np.sqrt(self.variance / n))


def find_air(image: Floats32, where: Bools) -> Air | None:
    """Return the air of an image (p, t, x, y, z), or None if there is none to speak of.

    Parameters
    ----------
    image : array
    where : (t, x, y, z) array
        Where air is sure to be seen, if there is any.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> image = np.hypot(rng.normal(size=(1, 1, 60, 60, 1)), rng.normal(size=(1, 1, 60, 60, 1))).astype(np.float32)
    >>> image[0, 0, 20:40, 20:40] += 20.0
    >>> round(float(find_air(image, shell(image.shape[1:])).sigma[0]), 1)
    1.0
    """
    thin = _thinning(image.shape[2:])
    few, places = image[thin], where[thin[1:]]
    known = ~np.isnan(few).any(axis=0)  # a voxel is missing if any of its channels is
    places = places & known
    if not places.any():
        return None
    sigma = np.empty(len(image))
    for c, channel in enumerate(few):
        values = channel[places].astype(np.float64)
        # Tissue that reaches the border is brighter: begin with the darker half, and take in what fits.
        limit = np.quantile(values, 0.5)
        for _ in range(20):
            sigma[c] = np.sqrt(np.mean(values[values <= limit] ** 2) / 2.0)
            before, limit = limit, max(3.5 * sigma[c], limit)
            if limit == before or np.mean(values <= limit) > 0.999:
                break
    air = Air(sigma, 0.0)
    dark = np.all(few <= air.limit(1)[:, None, None, None, None], axis=0)
    share = float(np.mean(dark))
    rest = few[:, ~dark & known]
    if not LEAST_SHARE <= share <= 1.0 - LEAST_SHARE or not rest.size:  # nothing but air and missing voxels
        return None
    if np.any(np.median(rest, axis=1) < CONTRAST * air.mean) or _correlation(image, air, where) > MOST_CORRELATION:
        return None
    return Air(sigma, share)


def _thinning(space: tuple[int, ...], after: int | None = None) -> tuple[slice, ...]:
    """Return slices of an image (p, t, x, y, z) that leave about `N_SEEN` voxels; or those next `after` an axis."""
    axes = sum(n > 1 for n in space)
    stride = max(round(float(np.prod(space) / N_SEEN) ** (1.0 / max(axes, 1))), 1)
    every = slice(None)
    return every, every, *(slice(int(a == after), None, stride) if n > 1 else every for a, n in enumerate(space))


def _correlation(image: Floats32, air: Air, where: Bools) -> float:
    """Return how alike neighbouring voxels of air are, from 0 (noise) to 1; the largest over channels and axes."""
    largest, space = 0.0, image.shape[2:]
    limit = air.limit(1)[:, None, None, None, None]
    ends = [_thinning(space), *(_thinning(space, a) for a in range(3) if space[a] > 1)]
    dark = [np.all(image[end] <= limit, axis=0) & where[end[1:]] for end in ends]
    for channel in image:
        first = channel[ends[0][1:]]
        spread = float(np.var(first[dark[0]])) if dark[0].any() else 0.0
        if spread == 0.0:
            continue
        for end, beside in zip(ends[1:], dark[1:]):
            second = channel[end[1:]]
            shared = tuple(slice(n) for n in second.shape)  # the last voxel of a line may have none after it
            both = dark[0][shared] & beside
            if both.any():
                differences = (second - first[shared])[both]
                largest = max(largest, 1.0 - float(np.mean(differences**2)) / (2.0 * spread))
    return largest


def shell(grid: tuple[int, ...]) -> Bools:
    """Return the border of an image, (t, x, y, z)."""
    inside = np.ones(grid, dtype=bool)
    border = np.zeros(grid, dtype=bool)
    for a, n in enumerate(grid[1:], start=1):
        if n > 1:
            width = max(int(SHELL * n), 1)
            index: list[slice] = [slice(None)] * 4
            for side in (slice(None, width), slice(n - width, None)):
                index[a] = side
                border[tuple(index)] = inside[tuple(index)]
    return border


def without_air(volume: Volume, air: Air) -> Volume:
    """Return the volume less the blocks that may be air in every channel."""
    sides = tuple(2 if n > 1 else 1 for n in volume.grid[1:])
    box = (slice(0, volume.grid[1]), slice(0, volume.grid[2]), slice(0, volume.grid[3]))
    counts, means, _, _ = block_moments(volume, sides, box)
    dark = np.all(means <= air.limit(int(np.prod(sides))), axis=1) & (counts > 0)
    if not dark.any():
        return volume
    values = volume.values.copy()
    shape = (volume.grid[0], *(-(-n // s) for n, s in zip(volume.grid[1:], sides)))
    _leave_out(values, dark.reshape(shape), *sides)
    return replace(volume, values=values)


@njit(parallel=True, cache=True)
def _leave_out(values: Floats32, dark: Bools, a: int, b: int, c: int) -> None:
    p, frames, nx, ny, nz = values.shape
    for row in prange(frames * nx):
        t, x = row // nx, row % nx
        for y in range(ny):
            for z in range(nz):
                if dark[t, x // a, y // b, z // c]:
                    for channel in range(p):
                        values[channel, t, x, y, z] = np.nan
