"""Item 10d: uneven light: frames of a time lapse under one shading, a printed page, coins on a table."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stepsmooth.experiments.drawing import paint, panels
from stepsmooth.experiments.outcome import Claim, Outcome, Row, Settings, judge
from stepsmooth.experiments.running import Runner, attempt, number
from stepsmooth.report.palette import SEQUENTIAL, level_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PHOTOGRAPHS = ("page", "coins")
FRAMES = 6  # of the time lapse, in a quick run


@dataclass(frozen=True, eq=False)
class Found:
    """An image taken apart; of a series, its first frame is drawn."""

    image: np.ndarray
    field: np.ndarray
    corrected: np.ndarray
    labels: np.ndarray
    levels: np.ndarray


def photograph(name: str, quick: bool) -> np.ndarray:
    """Read one of scikit-image's photographs, thinned in a quick run."""
    try:
        from skimage import data
    except ModuleNotFoundError as absent:
        raise ModuleNotFoundError("scikit-image is not installed: pip install stepsmooth[peers]") from absent
    step = 2 if quick else 1
    return np.asarray(getattr(data, name)()[::step, ::step], dtype=np.float32)


def time_lapse(settings: Settings) -> np.ndarray:
    """Read frames of the time lapse, evenly spread over it and scaled to the same median: its brightness drifts."""
    file = settings.file("microscopy", "timelapse_nanog.npz")
    if file is None:
        raise FileNotFoundError("set STEPSMOOTH_DATA to a folder with microscopy/timelapse_nanog.npz")
    with np.load(file, allow_pickle=False) as kept:
        images = np.asarray(kept["images"])
    count = FRAMES if settings.quick else 24
    chosen = images[np.linspace(0, len(images) - 1, count).astype(int)]
    medians = np.median(chosen, axis=(1, 2), keepdims=True)
    return np.asarray(chosen / medians * medians.mean(), dtype=np.float32)


def take_apart(name: str, settings: Settings) -> tuple[Row, Found | None]:
    """Fit one image or series; return how even the background became, and the parts."""
    kept: list[Found] = []

    def measure() -> Row:
        from stepsmooth import GridStepSmooth

        series = name == "time lapse"
        image = time_lapse(settings) if series else photograph(name, settings.quick)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GridStepSmooth(2, series_axis=0 if series else None)
            model.fit(image, mask=np.ones(image.shape, dtype=bool))
        seconds = time.perf_counter() - start
        corrected, labels = np.asarray(model.corrected_), np.asarray(model.labels_)
        parts = (image[0], corrected[0], labels[0]) if series else (image, corrected, labels)
        kept.append(Found(parts[0], np.asarray(model.field_), parts[1], parts[2], np.asarray(model.levels_)))
        most = int(np.argmax(model.proportions_))  # the class of most pixels: paper, table, dish
        before, after = (unevenness(values, labels == most) for values in (image, corrected))
        return {
            "shape": " x ".join(map(str, image.shape)),
            "levels": ", ".join(f"{level:.0f}" for level in model.levels_),
            "knots": float(model.knots_),
            "field, largest / smallest": float(model.field_.max() / model.field_.min()),
            "background variation before": before,
            "background variation after": after,
            "two-class overlap before": overlap(image, labels),
            "two-class overlap after": overlap(corrected, labels),
            "seconds": seconds,
        }

    row = attempt({"image": name}, measure)
    return row, kept[0] if kept else None


def unevenness(values: np.ndarray, where: np.ndarray) -> float:
    """Return the robust coefficient of variation of the values there.

    Examples
    --------
    >>> unevenness(np.array([1.0, 1.0, 1.0]), np.ones(3, dtype=bool))
    0.0
    """
    low, middle, high = np.quantile(values[where], (0.16, 0.5, 0.84))
    return float((high - low) / 2.0 / middle)


def overlap(values: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of pixels on the wrong side of the one threshold that tells the two labels apart best.

    Examples
    --------
    >>> overlap(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]))
    0.0
    """
    order = np.argsort(values, axis=None)
    high = (labels.ravel()[order] == 1).astype(np.int64)
    below = np.concatenate([[0], np.cumsum(high)])  # bright ones under the threshold
    above = np.concatenate([[0], np.cumsum(1 - high)])  # dark ones under it
    return float((below + above[-1] - above).min() / high.size)


def run(runner: Runner) -> Outcome:
    """Take the images apart, draw them, and say how even they became."""
    names = ("time lapse", *PHOTOGRAPHS)
    results = runner.each("uneven light", take_apart, [(name, runner.settings) for name in names])
    rows = [row for row, _ in results]
    out = Outcome(
        tables={"lighting": rows},
        shown={"lighting": tuple(dict.fromkeys(column for row in rows for column in row))},
        settings={"images": names, "levels": 2},
        choices=[
            "Two classes, all else as it comes; frames of the time lapse are scaled to the same median.",
            "There is no truth: figures say how even the largest class became.",
        ],
        missing=[f"{row['image']}: {row['error']}" for row in rows if "error" in row],
    )
    found = {name: parts for name, (_, parts) in zip(names, results) if parts is not None}
    if found:
        out.figures["lighting"] = draw(found)
        out.captions["lighting"] = "What was seen, the light, what is left without it, and two classes."
    good = [row for row in rows if "error" not in row]
    better = [number(r, "background variation after") < number(r, "background variation before") for r in good]
    words = "; ".join(
        f"{r['image']}: variation of the largest class {number(r, 'background variation before'):.3f} before, "
        f"{number(r, 'background variation after'):.3f} after; pixels beyond one threshold "
        f"{number(r, 'two-class overlap before'):.3f}, {number(r, 'two-class overlap after'):.3f}"
        for r in good
    )
    out.claims.append(
        Claim(
            "beyond the paper",
            "Uneven light is evened out: what should be of one brightness becomes so.",
            words or "no image at hand",
            judge(all(better) if good else None),
            "lighting",
        )
    )
    return out


def draw(found: dict[str, Found]) -> Figure:
    """Draw a row for each image."""
    from stepsmooth.report.lettering import entitle

    heights = [f.image.shape[0] / f.image.shape[1] for f in found.values()]
    with panels(len(found), 4, (12.0, 2.9 * sum(heights) + 0.5 * len(found)), height_ratios=heights) as (figure, axes):
        for row, (name, f) in zip(axes, found.items()):
            window: dict[str, Any] = {"cmap": "gray", "vmin": 0.0, "vmax": float(np.quantile(f.corrected, 0.999))}
            _show(row[0], f.image, **window)
            _show(row[1], f.field, cmap=SEQUENTIAL)
            _show(row[2], f.corrected, **window)
            _show(row[3], paint(f.labels, level_colours(2)))
            for ax, title in zip(row, (name.capitalize(), "Light", "Corrected", "Classes")):
                entitle(ax, title)
    return figure


def _show(ax: Axes, values: np.ndarray, **colouring: Any) -> None:
    ax.imshow(values, interpolation="nearest", **colouring)
    ax.set_axis_off()
