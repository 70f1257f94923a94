"""The parts of the page about images and volumes."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.lettering import entitle
from stepsmooth.report.page.charts import certificate_maps, chart, histograms
from stepsmooth.report.page.content import Content, Row
from stepsmooth.report.page.pictures import Bytes3, Picture, array_picture, grey_pixels, label_pixels, mapped_pixels
from stepsmooth.report.page.scan import Scan, read_scan
from stepsmooth.report.page.slices import LAYERS, Taker, image_layers, slice_rows
from stepsmooth.report.page.volumes import viewer_volumes
from stepsmooth.report.palette import INK, SEQUENTIAL, level_colours
from stepsmooth.topology import Certificate, Lattice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]
MANY_CHANNELS = 4  # of more, the first are shown
TIMES = " \N{MULTIPLICATION SIGN} "
HISTOGRAM = 2_000_000  # voxels that a histogram is made of
PARTS = ("#0072B2", "#E69F00", "#8a8a8a")  # the largest, smaller ones, not covered


def grid_content(
    m: Anything,
    certificate: Certificate | None,
    affine: Anything,
    names: Sequence[str] | None,
    image: Anything,
    room: int,
) -> Content:
    """Return what the page shows of a fitted `GridStepSmooth`.

    Parameters
    ----------
    m : GridStepSmooth
    certificate : Certificate or None
    affine : (4, 4) array or None
        From voxels to millimetres; None for images whose first axis runs down.
    names : sequence of str or None
        Of the channels.
    image : array or None
        The image given to ``fit``.
    room : int
        Bytes for the volumes of the viewer.
    """
    scan = read_scan(m, image)
    channels = _channel_names(names, scan.n_channels)
    content = Content(kind="image", lede=_lede(m, scan), channels=channels if len(channels) > 1 else [])
    low, high = scan.field_range()
    ramp = mapped_pixels(np.linspace(0, 1, 256)[None], 0.0, 1.0, np.ones((1, 256), dtype=bool), SEQUENTIAL)
    content.field_bar = (_short(low), array_picture(ramp, "The colours of the field, low to high"), _short(high))
    content.histograms = _histograms(scan, channels)
    if scan.n_axes == 3:
        world = _affine(affine, scan)
        content.kind = "volume"
        packed = viewer_volumes(scan, world, channels, level_colours(len(scan.levels)), room)
        content.data = {"volume": packed.data}
        content.viewer_note = _reduced(packed.factors)
        content.rows = slice_rows(scan, world, affine is not None)
        content.rows_note = (
            "Slices through the middle of the labelled voxels; intensities on one scale before and after."
        )
    elif scan.n_axes == 2:
        content.data = {"image": {"channels": len(channels)}}
        content.layers = image_layers(scan, len(channels), affine is not None)
        small = image_layers(scan, 1, affine is not None, longest=640)
        content.rows = [Row("", tuple(picture for _, picture in small))]
    else:
        content.kind = "points"
        content.overview = _profiles(scan)
    content.certificate_pictures = _certificate(scan, certificate, affine)
    return content


def _lede(m: Anything, scan: Scan) -> str:
    size = TIMES.join(str(s) for s in scan.labels.shape)
    kind = {2: "image", 3: "volume"}.get(scan.n_axes, "grid")
    unit = "pixels" if scan.n_axes == 2 else "voxels"
    share = f"{np.count_nonzero(scan.inside):,} of them labelled"
    levels = f"{m.n_levels_} level{'s' if m.n_levels_ != 1 else ''}"
    low, high = scan.field_range()
    how = f"a field that multiplies, highest to lowest {high / low:.3g}" if scan.multiplicative and low > 0 else ""
    how = how or f"a field that adds, range {high - low:.3g}"
    if np.isinf(m.knots_):
        how = "no field"
    frames = f"; the first of {scan.frames} frames is shown" if scan.frames > 1 else ""
    several = f", {scan.n_channels} channels that share the field" if scan.n_channels > 1 else ""
    return f"{kind.capitalize()} of {size} {unit}, {share}{several}; {levels} under {how}{frames}."


def _channel_names(names: Sequence[str] | None, count: int) -> list[str]:
    given = [str(name) for name in names or ()]
    words = given if len(given) == count else [f"channel {c + 1}" for c in range(count)]
    return words[:MANY_CHANNELS]


def _affine(affine: Anything, scan: Scan) -> Floats:
    """Return the affine given, or voxels of the right size around the middle."""
    if affine is not None:
        return np.asarray(affine, dtype=np.float64)
    world = np.diag([*scan.spacing, 1.0])
    world[:3, 3] = -(np.array(scan.labels.shape) - 1) / 2.0 * scan.spacing
    return world


def _reduced(factors: tuple[int, ...]) -> str:
    if max(factors) == 1:
        return ""
    blocks = TIMES.join(str(k) for k in factors)
    return f"The viewer shows means over blocks of {blocks} voxels, to keep this file small; results are not reduced."


def _histograms(scan: Scan, channels: Sequence[str]) -> list[Picture]:
    at = np.flatnonzero(scan.inside)
    at = at[:: max(len(at) // HISTOGRAM, 1)]
    labels = scan.labels.reshape(-1)[at]
    pictures: list[Picture] = []
    for c, name in enumerate(channels):
        before, after = (v[c].reshape(-1)[at].astype(np.float64) for v in (scan.original, scan.corrected))
        pictures += histograms(before, after, labels, scan.levels[:, c], name if len(channels) > 1 else "")
    return pictures


def _profiles(scan: Scan) -> list[Picture]:
    """Return what can be shown of a grid that is neither an image nor a volume: its first line."""
    first = (0,) * (scan.n_axes - 1)
    lines = (scan.original[0][first], scan.corrected[0][first], scan.field[first])
    return [chart(partial(_profile, line=line, title=word), word) for line, word in zip(lines, LAYERS)]


def _profile(ax: "Axes", line: Array, title: str) -> None:
    ax.plot(line, color=INK, linewidth=1.1)
    entitle(ax, title)


def _certificate(scan: Scan, certificate: Certificate | None, affine: Anything) -> list[Picture]:
    """Return the certificate in place: over an image as it is, of a volume the parts in three slices."""
    inside = scan.inside
    if certificate is None or len(certificate.parts) != np.count_nonzero(inside):
        return []
    if scan.n_axes == 2:
        return certificate_maps(
            certificate, Lattice(inside, scan.spacing), scan.labels, y=scan.corrected[0], levels=scan.levels[:, 0]
        )
    if scan.n_axes != 3:
        return []
    codes = np.full(inside.shape, -1)
    codes[inside] = np.where(certificate.parts == 0, 0, np.where(certificate.parts > 0, 1, 2))
    low, high = scan.window(0)

    def over_anatomy(take: Taker) -> Bytes3:
        grey = grey_pixels(take(scan.corrected[0]), low, high)[..., None]
        return (0.6 * label_pixels(take(codes), PARTS) + 0.4 * grey).astype(np.uint8)

    rows = slice_rows(scan, _affine(affine, scan), affine is not None, only=over_anatomy)
    return [picture for row in rows for picture in row.pictures]


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
