"""What the pictures of a certificate say and mark: the verdict, the edges that break it, and the parts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.lettering import entitle
from stepsmooth.report.palette import GREY, ordered_colours
from stepsmooth.topology import Certificate, Lattice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BREAK = "#D55E00"
SIGNS = {"identified": ("✓", "#00704F"), "not identified": ("✗", "#B34700"), "cannot tell": ("?", "#5A5A5A")}
WORST = 10  # edges marked where nearly all of them break
PARTS = 5  # named
REST, BARE = "#c8c8c8", "#ececec"  # smaller parts; not covered


def marked_edges(certificate: Certificate) -> tuple[Ints, str]:
    """Return the edges to mark, and how to call them.

    Where edges break everywhere, marking them all shows nothing: then the worst are marked, and said to be a choice.

    Examples
    --------
    >>> from stepsmooth.topology import certify
    >>> found = certify([0.0, 1.0, 2.0, 9.0], [0, 1, 0, 1], [0.0, 1.0], modulus=0.1)
    >>> edges, words = marked_edges(found)
    >>> edges.tolist(), words
    ([[2, 3]], '1 edge breaks the condition')
    """
    edges, parts = certificate.edges, certificate.parts
    if not len(edges):
        return edges, "no edge breaks the condition"
    covered = parts[parts >= 0]
    if len(edges) > 2 * WORST and np.mean(covered == 0) < 0.5:
        return edges[:WORST], f"{len(edges):,} edges break the condition; the {WORST} worst are marked"
    return edges, f"{len(edges):,} edges break the condition" if len(edges) > 1 else "1 edge breaks the condition"


def part_groups(parts: Ints) -> Sequence[tuple[str, NDArray[np.bool_]]]:
    """Name the largest parts with the points of each, then all smaller ones together, then what is not covered.

    Examples
    --------
    >>> [(name, int(inside.sum())) for name, inside in part_groups(np.array([0, 0, 1, 1, 2, -1]))]
    [('part 1: 2 points', 2), ('part 2: 2 points', 2), ('1 single point', 1), ('not covered: 1 point', 1)]
    """
    sizes = np.bincount(parts[parts >= 0], minlength=1)
    large = [k for k in range(min(len(sizes), PARTS)) if sizes[k] > 1]
    groups = [(f"part {k + 1}: {_points(int(sizes[k]))}", parts == k) for k in large]
    left = len(sizes) - len(large) if sizes[0] else 0
    if left:
        single = sizes[len(large)] == 1
        word = "single point" if single else "smaller part"
        groups.append((f"{left:,} {word}{'s' if left > 1 else ''}", parts >= len(large)))
    if np.any(parts < 0):
        groups.append((f"not covered: {_points(int(np.sum(parts < 0)))}", parts < 0))
    return groups


def part_colours(groups: Sequence[tuple[str, NDArray[np.bool_]]]) -> Sequence[str]:
    """Choose a colour for each group, apart from those of the levels: in order for parts, pale for the rest.

    Examples
    --------
    >>> part_colours(part_groups(np.array([0, 0, 1, -1])))
    ['#083370', '#c8c8c8', '#ececec']
    """
    count = sum(name.startswith("part") for name, _ in groups)
    rest = [BARE if name.startswith("not") else REST for name, _ in groups[count:]]
    return [*ordered_colours(count, name="cividis", low=0.1, high=0.85), *rest]


def give_verdict(ax: "Axes", certificate: Certificate, note: str) -> None:
    """Write the verdict as the title of a panel, with its margin."""
    sign, colour = SIGNS[certificate.verdict]
    entitle(ax, "", note)
    # Where labels were identified though the paper's condition fails, its margin would only confuse.
    means = certificate.verdict != "identified" or certificate.margin > 0.0
    margin = f", margin {certificate.margin:.2g}".replace("-", "\N{MINUS SIGN}") if means else ""
    ax.set_title(f"{sign} {certificate.verdict}{margin}", loc="left", fontweight="bold", color=colour)


def changed_note(labels: Ints, other: Ints) -> tuple[NDArray[np.bool_], str]:
    """Return which points an alternative labels differently, and their share in words.

    Examples
    --------
    >>> changed_note(np.array([0, 1, 1, 0]), np.array([0, 1, 0, -1]))
    (array([False, False,  True, False]), '1 of 4 labels differ')
    """
    changed = (other >= 0) & (other != labels)
    return changed, f"{int(changed.sum()):,} of {len(labels):,} labels differ"


def under(figure_width: float, premise: str) -> str:
    """Break the premise into lines that fit under a figure.

    Examples
    --------
    >>> print(under(2.0, "the truth has at most 3 levels."))
    Premise: the truth has at most 3
    levels.
    """
    from textwrap import fill

    return fill(f"Premise: {premise}", int(17.0 * figure_width))


def sign_premise(ax: "Axes", premise: str) -> None:
    """Write the premise under the whole figure."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    text = under(figure.get_figwidth(), premise)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=8.0, color=GREY, linespacing=1.4)


def first_column(values: Floats | None) -> Floats | None:
    """Return the first channel, (n,) or (M,); None stays None."""
    return None if values is None else np.asarray(values, dtype=np.float64).reshape(len(values), -1)[:, 0]


def drawn_points(X: Anything) -> Floats:
    """Return points on a line or in a plane, (n, 1) or (n, 2).

    Examples
    --------
    >>> drawn_points([1.0, 2.0]).shape
    (2, 1)
    """
    points = np.asarray(X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[1] not in (1, 2):
        raise ValueError(f"A picture shows points on a line or in a plane; X has shape {points.shape}.")
    return points


def one_column(name: str, values: Anything, X: Anything, n: int) -> Anything:
    """Return one number for each point: of an image those in the mask, of several channels the first.

    Examples
    --------
    >>> one_column("y", [[1, 5], [2, 6]], np.zeros((2, 1)), 2)
    array([1, 2])
    """
    array = np.asarray(values)
    if isinstance(X, Lattice):
        if X.mask.ndim != 2:
            raise ValueError(f"A picture shows two dimensions; the lattice has {X.mask.ndim}: certify one slice of it.")
        if array.shape[:2] == X.mask.shape:
            array = array[X.mask]
    if array.ndim == 0 or len(array) != n:
        raise ValueError(f"{name} must hold one row for each of the {n} points certified; found shape {array.shape}.")
    return array.reshape(n, -1)[:, 0]


def _points(count: int) -> str:
    return f"{count:,} point{'s' if count != 1 else ''}"
