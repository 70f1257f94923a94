"""Small charts of the page, each a figure of its own, so that they stack on a phone and stay legible."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.report.certificate import CertificateDisplay
from stepsmooth.report.certificate_map import Plane
from stepsmooth.report.lettering import entitle
from stepsmooth.report.page.pictures import Picture, figure_picture
from stepsmooth.report.palette import GREY, INK, TRUTH, TYPOGRAPHY, level_colours
from stepsmooth.topology import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.4, 2.9  # inches: on a phone nine points are then still ten pixels


def chart(draw: Callable[["Axes"], None], alt: str, *, height: float = HEIGHT, caption: str = "") -> Picture:
    """Return one panel, drawn by a function, as a picture.

    Examples
    --------
    >>> chart(lambda ax: ax.set_title("empty"), "an empty panel").alt
    'an empty panel'
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(TYPOGRAPHY):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure.subplots())
        return figure_picture(figure, alt, caption)


def histograms(before: Floats, after: Floats, labels: Ints, levels: Floats, name: str = "") -> list[Picture]:
    """Return the intensities before and after, stacked by label on one scale, with the levels marked.

    Parameters
    ----------
    before, after : (n,) arrays
        Of the labelled voxels or samples.
    labels : (n,) array of ints
    levels : (M,) array
    name : str
        Of the channel, if there are several.

    Examples
    --------
    >>> y = np.array([1.0, 1.1, 2.0, 2.1])
    >>> [p.alt for p in histograms(y, y, np.array([0, 0, 1, 1]), np.array([1.0, 2.0]))]
    ['Histogram before the correction, stacked by label', 'Histogram after the correction, stacked by label']
    """
    both = np.concatenate([before, after, levels])
    both = both[np.isfinite(both)]
    low, high = np.quantile(both, [0.001, 0.999])
    low, high = min(low, levels.min()), max(high, levels.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, int(np.clip(np.sqrt(len(after)), 12, 120)) + 1)
    counts = [_stacked(values, labels, len(levels), edges) for values in (before, after)]
    tallest = max(float(c.sum(axis=0).max()) for c in counts) or 1.0
    titles = [f"{word}, {name}" if name else word for word in ("Before", "After")]

    def draw(ax: "Axes", stack: Floats, title: str) -> None:
        base = np.zeros(len(edges) - 1)
        for heights, colour in zip(stack, level_colours(len(levels))):
            ax.stairs(base + heights, edges, baseline=base, fill=True, color=colour, alpha=0.8, linewidth=0)
            base += heights
        for level in levels:
            ax.axvline(level, color=INK, linewidth=0.8, dashes=(3, 2))
        ax.set(xlim=(low, high), ylim=(0.0, 1.06 * tallest), yticks=[])
        ax.spines["left"].set_visible(False)
        entitle(ax, title, "dashed: levels")

    return [
        chart(partial(draw, stack=stack, title=title), f"Histogram {word} the correction, stacked by label", height=2.4)
        for stack, title, word in zip(counts, titles, ("before", "after"))
    ]


def certificate_maps(certificate: Certificate, X: Anything, labels: Anything, **parts: Anything) -> list[Picture]:
    """Return the certificate over a plane or an image, a picture for each panel.

    Parameters
    ----------
    certificate : Certificate
    X, labels, **parts
        As :meth:`stepsmooth.report.CertificateDisplay.from_certificate` takes them.

    Examples
    --------
    >>> from stepsmooth.topology import certify
    >>> X, labels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    >>> len(certificate_maps(certify(X, labels, [0.0, 1.0], modulus=0.1), X, labels))
    3
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    words = ["Where the certificate breaks", "Labels", "Parts that hang together"]
    words += ["Other labels that fit as well"] if certificate.alternative is not None else []
    with mpl.rc_context(TYPOGRAPHY):
        figures = [Figure(figsize=(WIDTH, _map_height(X)), layout="constrained") for _ in words]
        axes = [figure.subplots() for figure in figures]
        CertificateDisplay.from_certificate(certificate, X, labels, axes=axes, **parts)
        return [figure_picture(figure, word) for figure, word in zip(figures, words)]


def _map_height(X: Anything) -> float:
    """Return the height of a map, in inches, with room for its title and legend."""
    across, down = np.ptp(Plane(X).positions(), axis=0)
    return float(np.clip(WIDTH * down / max(across, 1e-300), 1.2, 4.5)) + 0.8


def _stacked(values: Floats, labels: Ints, count: int, edges: Floats) -> Floats:
    return np.array([np.histogram(values[labels == k], bins=edges)[0] for k in range(count)], dtype=np.float64)


def choice_curves(selection: Mapping[str, Anything]) -> list[Picture]:
    """Return a chart for each choice that the fit made: what was tried, how it did, and what was taken.

    Parameters
    ----------
    selection : mapping
        `selection_` of a fitted estimator.

    Examples
    --------
    >>> curve = {"method": "evidence", "n_levels": np.array([1, 2]), "criterion": np.array([9.0, 4.0]), "chosen": 2}
    >>> [p.alt for p in choice_curves({"n_levels": curve})]
    ['Choice of the number of levels: 2 of 2 tried, by evidence']
    """
    return [picture for name, curve in selection.items() if (picture := _choice(name, curve)) is not None]


def _choice(name: str, curve: Anything) -> Picture | None:
    if not isinstance(curve, Mapping):
        return None
    method = str(curve.get("method", ""))
    by = f", by {METHODS.get(method, method)}" if method else ""
    if name == "n_levels" and "n_levels" in curve:
        tried = np.asarray(curve["n_levels"])
        alt = f"Choice of the number of levels: {curve['chosen']} of {len(tried)} tried{by}"
        chosen = int(np.flatnonzero(tried == curve["chosen"])[0]) if np.any(tried == curve["chosen"]) else None
        return _curve(alt, "Number of levels", [str(k) for k in tried], curve, chosen)
    if name == "stiffness" and "knots" in curve:
        knots = np.asarray(curve["knots"], dtype=np.float64)
        words = ["no field" if np.isinf(k) else f"{k:.3g}" for k in knots]
        at = np.flatnonzero((knots == curve["chosen"]) | (np.isinf(knots) & np.isinf(float(curve["chosen"]))))
        chosen = int(at[0]) if len(at) else None
        taken = words[chosen] if chosen is not None else f"{float(curve['chosen']):.3g}"
        label = "distance of the field's knots, stiff to soft"
        return _curve(
            f"Choice of the field's stiffness: {taken}{by}", "Stiffness of the field", words, curve, chosen, label
        )
    if name == "tau" and "effective_dof" in curve:
        return _tau(curve, by)
    if name == "label_prior" and "score" in curve:
        words = list(curve["score"])
        values = {"score": np.array([curve["score"][w] for w in words], dtype=np.float64), "method": method}
        alt = f"Choice of the label prior: {curve['chosen']}{by}"
        return _curve(alt, "Prior of the labels", words, values, words.index(curve["chosen"]))
    if name == "kernel" and "candidates" in curve:
        words = [str(c).split("length scale ")[-1] for c in curve["candidates"]]
        chosen = list(curve["candidates"]).index(curve["chosen"])
        alt = f"Choice of the kernel: {curve['chosen']}{by}"
        return _curve(alt, "Length scale of the kernel", words, curve, chosen)
    return None


METHODS = {"held-out blocks": "held-out regions", "gcv": "generalised cross-validation", "cv": "cross-validation"}
METHODS |= {"reml": "restricted likelihood"}


def _curve(
    alt: str, title: str, words: Sequence[str], curve: Mapping[str, Anything], chosen: int | None, label: str = ""
) -> Picture:
    """Return the curve over a few candidates, the chosen one marked; whiskers are standard errors."""
    higher = "score" in curve
    values = np.asarray(curve["score"] if higher else curve["criterion"], dtype=np.float64)
    errors = curve.get("error")

    def draw(ax: "Axes") -> None:
        at = np.arange(len(values))
        seen = np.isfinite(values)
        ax.plot(at[seen], values[seen], color=GREY, linewidth=1.0, zorder=1)
        if errors is not None:
            ax.errorbar(at[seen], values[seen], np.asarray(errors)[seen], fmt="none", ecolor=GREY, elinewidth=0.8)
        ax.scatter(at[seen], values[seen], s=16, color=INK, zorder=2, linewidths=0)
        if chosen is not None:
            ax.scatter(at[chosen], values[chosen], s=90, facecolors="none", edgecolors=TRUTH, linewidths=1.8, zorder=3)
        ax.set_xticks(at, words)
        ax.margins(x=0.08, y=0.16)
        ax.set_xlabel(label)
        entitle(ax, title, "ringed: taken; higher is better" if higher else "ringed: taken; lower is better")

    return chart(draw, alt)


def _tau(curve: Mapping[str, Anything], by: str) -> Picture:
    dof, values = (np.asarray(curve[key], dtype=np.float64) for key in ("effective_dof", "criterion"))
    chosen = int(curve["chosen"])
    logarithmic = bool(np.any((dof > 0.0) & np.isfinite(values)))  # two or three points leave no curve

    def draw(ax: "Axes") -> None:
        from matplotlib.ticker import NullFormatter

        ax.plot(
            dof, values, color=GREY, linewidth=1.0, marker="o", markersize=3, markerfacecolor=INK, markeredgewidth=0
        )
        ax.scatter(dof[chosen], values[chosen], s=90, facecolors="none", edgecolors=TRUTH, linewidths=1.8, zorder=3)
        if logarithmic:
            ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("effective degrees of freedom")
        entitle(ax, "Smoothness", "ringed: taken; lower is better")

    return chart(draw, f"Choice of the smoothness: {dof[chosen]:.3g} degrees of freedom{by}")
