"""What a certificate says, and how it says it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from stepsmooth.model.arrays import Ints

Verdict = Literal["identified", "not identified", "cannot tell"]


@dataclass(frozen=True)
class Certificate:
    """Whether labels can be trusted, under premises that no data can prove.

    Attributes
    ----------
    verdict : {"identified", "not identified", "cannot tell"}
        "identified": no other labelling is compatible with data and premises. "not identified": another one is, and it
        is in `alternative`. "cannot tell": neither was shown. With noise, only the first or the last is given.
    margin : float
        1 - (variation of f that was counted) / (variation that is allowed); positive if identified by the paper's
        condition.
    edges : (m, 2) array of ints
        The edges of the spanning tree that break the condition, worst first; empty if identified.
    parts : (n,) array of ints
        The connected part that each point belongs to when these edges are cut, largest first. Within a part, labels
        are consistent with each other. With noise: -1 where too few points of one label lie together.
    premise : str
        What the verdict rests on, in words, with its figures.
    alternative : (n,) array of ints or None
        Other labels that data and premises allow just as well.
    variation, allowed : float
        The two sides of the condition.
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
        lines = [f"{self.verdict}: margin {self.margin:.3g} ({self.variation:.4g} of {self.allowed:.4g} allowed)"]
        count = int(self.parts.max()) + 1
        if len(self.edges):
            lines.append(f"{len(self.edges)} edge(s) break the condition; without them the points form {count} parts")
        if np.any(self.parts < 0):
            lines.append(f"{100 * np.mean(self.parts < 0):.1f} % of the points are not covered")
        if self.alternative is not None:
            lines.append("other labels explain the data under the same premises (alternative)")
        if self.flips is not None:
            lines.append(f"noise alone is expected to turn {self.flips:.1f} labels; the verdict is about the rest")
        if self.region is not None:
            lines.append(f"regions of less than {self.region} points are not seen")
        return "\n".join([*lines, "premise: " + self.premise])


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
