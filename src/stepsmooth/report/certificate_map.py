"""The panels of a certificate over a plane or an image: where it breaks, the labels, and the parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.certificate_words import (
    BARE,
    BREAK,
    changed_note,
    give_verdict,
    marked_edges,
    part_colours,
    part_groups,
)
from stepsmooth.report.lettering import entitle
from stepsmooth.report.line_panels import MANY
from stepsmooth.report.palette import INK, SEQUENTIAL, level_colours
from stepsmooth.topology import Certificate, Lattice

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Plane:
    """Points or pixels, and how values at them are drawn."""

    X: Anything

    def positions(self) -> Floats:
        """Return abscissa and ordinate of each point, (n, 2); images have their rows downwards."""
        return np.asarray(self.X.points()[:, ::-1] if isinstance(self.X, Lattice) else self.X)

    def draw(self, ax: "Axes", values: Floats | Ints, **colouring: Anything) -> Anything:
        """Draw one value for each point."""
        ax.set_xticks([])
        ax.set_yticks([])
        for side in ax.spines.values():
            side.set_visible(False)
        if isinstance(self.X, Lattice):
            image = np.full(self.X.mask.shape, np.nan)
            image[self.X.mask] = values
            down, right = self.X.spacing.tolist()
            rows, columns = len(image), len(image[0])
            extent = (-right / 2, (columns - 0.5) * right, (rows - 0.5) * down, -down / 2)
            return ax.imshow(image, extent=extent, interpolation="nearest", **colouring)
        ax.set_aspect("equal")
        size = float(np.clip(9_000 / len(self.X), 0.5, 30.0))
        many = len(self.X) > MANY
        return ax.scatter(self.X[:, 0], self.X[:, 1], size, values, linewidths=0, rasterized=many, **colouring)


def draw_on_plane(axes: Sequence["Axes"], certificate: Certificate, plane: Plane, y: Floats, labels: Ints) -> None:
    """Draw a certificate into three panels, or into four if there are other labels."""
    edges, words = marked_edges(certificate)
    # The brightest must not be white, or it is lost on white paper.
    brightest = float(y.max() + 0.15 * np.ptp(y))
    plane.draw(axes[0], y, cmap="gray" if isinstance(plane.X, Lattice) else SEQUENTIAL, vmin=y.min(), vmax=brightest)
    ends = plane.positions()[edges]
    if len(ends):
        wide = 2.4 if len(ends) < 40 else 1.2
        for colour, width in (("white", wide + 1.4), (BREAK, wide)):
            axes[0].add_collection(LineCollection(list(ends), colors=colour, linewidths=width, capstyle="round"))
    give_verdict(axes[0], certificate, "")
    said = (f"coloured: {words}" if len(ends) else words).replace("; ", ";\n")
    axes[0].set_xlabel(said, color=INK, fontsize=8.0)

    _draw_labels(axes[1], plane, labels, int(labels.max()) + 1)
    entitle(axes[1], "Labels")
    _draw_parts(axes[2], plane, certificate.parts)
    if certificate.alternative is not None:
        changed, note = changed_note(labels, certificate.alternative)
        _draw_labels(axes[3], plane, np.where(changed, certificate.alternative, -1), int(labels.max()) + 1)
        entitle(axes[3], "Other labels that fit")
        axes[3].set_xlabel(note, color=INK, fontsize=8.0)


def _draw_labels(ax: "Axes", plane: Plane, labels: Ints, count: int) -> None:
    """Draw labels in the colours of their levels; -1 is pale."""
    colours = ListedColormap([BARE, *level_colours(count)])
    plane.draw(ax, labels, cmap=colours, vmin=-1.5, vmax=count - 0.5)


def _draw_parts(ax: "Axes", plane: Plane, parts: Ints) -> None:
    groups = part_groups(parts)
    code, colours = np.zeros(len(parts), dtype=np.int64), part_colours(groups)
    for row, (_, inside) in enumerate(groups):
        code[inside] = row
    plane.draw(ax, code, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(groups) - 0.5)
    entitle(ax, "Parts")
    handles = [Patch(facecolor=colour, label=name) for colour, (name, _) in zip(colours, groups)]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=8.0,
              ncols=2 if len(handles) > 3 else 1, handlelength=1.0, columnspacing=1.0)  # fmt: skip
