"""What a certificate says, and how it says it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from stepsmooth.model.arrays import Ints

Verdict = Literal["identified", "not identified", "cannot tell"]

ROUNDING = 1e-9  # an inequality must hold by this much, relatively, to be believed


@dataclass(frozen=True)
class Certificate:
    """Whether labels can be trusted, under premises that no data can prove.

    Attributes
    ----------
    verdict : {"identified", "not identified", "cannot tell"}
        "identified": no other labelling is compatible with data and premises. "not identified": another one is, and it
        is in `alternative`. "cannot tell": neither was shown. With noise, only the first or the last is given.
    margin : float
        1 - variation / allowed: at least 0 if identified, at most 0 otherwise.
    edges : (m, 2) array of ints
        The edges of the spanning tree that break the condition, worst first; empty if identified. Without a modulus,
        these are the edges on which the fitted f, and c times as much for the true one, are too much.
    parts : (n,) array of ints
        The connected part that each point belongs to when these edges are cut, largest first. A part is identified in
        itself, if the premises hold within it: points of one level are not torn apart, and all labels are right if the
        truth has no more levels there than were found. With noise: -1 where too few points of one label lie together
        to be covered, or where a part is not sure even so.
    premise : str
        What the verdict rests on, in words, with its figures.
    alternative : (n,) array of ints or None
        Other labels that data and premises allow just as well.
    variation, allowed : float
        The two sides of the condition that was decisive: the paper's (f may vary by gap / M) or, where labels are
        identified though that fails, what the true f varies by premise against what it could. With noise: f and noise
        from one neighbourhood to the next.
    flips : float or None
        With noise: how many labels noise alone is expected to have turned; they are not part of the verdict.
    region : int or None
        With noise: the number of points of a neighbourhood. A region that is smaller may be shifted unnoticed.
    """

    verdict: Verdict
    margin: float
    edges: Ints
    parts: Ints
    premise: str
    alternative: Ints | None = None
    variation: float = 0.0
    allowed: float = 0.0
    flips: float | None = None
    region: int | None = None

    def __str__(self) -> str:
        count, bare = int(self.parts.max()) + 1, float(np.mean(self.parts < 0))
        lines: list[str] = [self.verdict]
        if np.isfinite(self.margin):
            lines[0] += f": margin {self.margin:.3g} ({self.variation:.4g} of {self.allowed:.4g} allowed)"
        if len(self.edges):
            word = "parts, each identified in itself if the premises hold there" if count > 1 else "part"
            lines.append(f"{len(self.edges):,} edge(s) break the condition; without them there are {count:,} {word}")
        if bare > 0.0:
            lines.append(f"{100 * bare:.1f} % of the points are not covered")
        if self.alternative is not None:
            lines.append("other labels explain the data under the same premises (alternative)")
        if self.flips is not None:
            lines.append(f"noise alone is expected to turn {self.flips:.1f} labels; the verdict is about the rest")
        if self.region is not None and self.region > 1:
            lines.append(f"regions of less than {self.region:,} points are not seen")
        return "\n".join([*lines, "premise: " + self.premise])


def largest_factor(holds: Callable[[float], bool], *, exact: float = 1.0 / 64.0) -> float:
    """Return the largest factor from 1 to 256 at which a condition still holds; 0 if it does not at 1.

    Examples
    --------
    >>> largest_factor(lambda t: t < 4.0).__round__(1), largest_factor(lambda t: t < 1.0)
    (4.0, 0.0)
    """
    if not holds(1.0):
        return 0.0
    low, high = 0.0, 8.0  # logarithms to the base 2
    while high - low > exact:
        middle = (low + high) / 2.0
        low, high = (middle, high) if holds(2.0**middle) else (low, middle)
    return float(2.0**low)


def parts_without(edges: Ints, broken: NDArray[np.bool_]) -> Ints:
    """Return the connected part of each point when the broken edges of a tree are cut, largest part first.

    Examples
    --------
    >>> parts_without(np.array([[0, 1], [1, 2], [2, 3]]), np.array([True, False, False]))
    array([1, 0, 0, 0])
    """
    kept, n = edges[~broken], len(edges) + 1
    graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(n, n))
    count, part = connected_components(graph, directed=False)
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(-np.bincount(part, minlength=count), kind="stable")] = np.arange(count)
    return np.asarray(rank[part])
