"""The parts of the page about points and signals."""

from typing import TYPE_CHECKING

import numpy as np

from stepsmooth.estimators.diagnostics import diagnostics
from stepsmooth.estimators.events import events
from stepsmooth.estimators.recording import read_recording
from stepsmooth.model.arrays import Anything
from stepsmooth.report.amplitude import AmplitudeDisplay
from stepsmooth.report.certificate import CertificateDisplay
from stepsmooth.report.certificate_line import line_panels
from stepsmooth.report.display import DecompositionDisplay
from stepsmooth.report.dwell import DwellDisplay
from stepsmooth.report.page.charts import HEIGHT, WIDTH, certificate_maps, histograms
from stepsmooth.report.page.content import Content, Table
from stepsmooth.report.page.pictures import Picture, figure_picture
from stepsmooth.report.page.trace import trace_data
from stepsmooth.report.palette import TYPOGRAPHY
from stepsmooth.report.residuals import ResidualDisplay
from stepsmooth.topology import Certificate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_EVENTS = 12
RESIDUALS = (
    ("Residuals along x", "What neither smooth part nor level explains; dotted: four noise standard deviations."),
    ("Quantiles of the residuals against the normal distribution", ""),
    ("Autocorrelation of the residuals", "Shaded: where 95 of 100 lags of white noise lie."),
    ("Standard deviation of the residuals by level", ""),
)


def signal_content(m: Anything, certificate: Certificate | None) -> Content:
    """Return what the page shows of a fitted `StepSmooth`."""
    n, d = len(m.labels_), m.n_features_in_
    precomputed = m.kernel == "precomputed" if isinstance(m.kernel, str) else False
    levels = f"{m.n_levels_} level{'s' if m.n_levels_ != 1 else ''}"
    if precomputed:
        return Content(kind="points", lede=f"{n:,} points known by their kernel; {levels}.", **_amplitudes(m))
    if d == 1:
        return _recorded(m, certificate, f"{n:,} samples along one axis; {levels}.")
    content = Content(kind="points", lede=f"{n:,} points in {d} dimensions; {levels}.", **_amplitudes(m))
    if d == 2:
        content.overview = _maps(m)
        content.certificate_pictures = _certificate_picture(m, certificate)
    return content


def _recorded(m: Anything, certificate: Certificate | None, lede: str) -> Content:
    """Return the parts about samples along one axis."""
    recording = read_recording(m, None, None, "write")
    X = np.asarray(m._data[0])[:, 0]
    errors = np.asarray(m.smooth_se_, dtype=np.float64).reshape(len(X), -1)
    used = np.flatnonzero((m.labels_ >= 0) & np.isfinite(errors).all(axis=1))
    order = used[np.argsort(X[used], kind="stable")]
    data = trace_data(recording, errors[order])
    content = Content(kind="signal", lede=lede, data={"trace": data}, **_amplitudes(m))
    if data["kept"] < data["n"]:
        content.viewer_note = (
            f"Drawn from {data['kept']:,} of {data['n']:,} samples: the lowest and the highest of every short stretch."
        )
    content.print_only = [
        figure_picture(DecompositionDisplay.from_estimator(m).figure_, "Observations, smooth part and step part")
    ]
    content.histograms += _mixtures(m)
    table = events(m)
    content.tables = [_dwells(table, m.n_levels_), _first_events(table)]
    complete = table[table["complete"]]
    if len(complete):
        content.dwells = _dwell_pictures(m)
    found = diagnostics(m)
    content.findings = list(found.findings or ("The residuals look like white Gaussian noise: nothing stands out.",))
    content.residuals = _residual_pictures(m) if len(found.autocorrelation) else []
    content.certificate_pictures = _certificate_picture(m, certificate)
    return content


def _amplitudes(m: Anything) -> dict[str, Anything]:
    """Return histograms of y before and after the smooth part is taken away."""
    Y = np.asarray(m._data[1], dtype=np.float64).reshape(len(m.labels_), -1)
    smooth = np.asarray(m.smooth_).reshape(len(Y), -1)
    known = (m.labels_ >= 0) & np.isfinite(Y).all(axis=1)
    levels = np.asarray(m.levels_, dtype=np.float64).reshape(m.n_levels_, -1)
    pictures: list[Picture] = []
    for c in range(Y.shape[1]):
        name = f"channel {c}" if Y.shape[1] > 1 else ""
        f = smooth[:, c if smooth.shape[1] > 1 else 0]
        pictures += histograms(Y[known, c], (Y[:, c] - f)[known], m.labels_[known], levels[:, c], name)
    return {"histograms": pictures}


def _figures(count: int, height: float = HEIGHT) -> "list[Figure]":
    from matplotlib.figure import Figure

    return [Figure(figsize=(WIDTH, height), layout="constrained") for _ in range(count)]


def _maps(m: Anything) -> list[Picture]:
    import matplotlib as mpl

    channels = np.asarray(m.levels_).reshape(m.n_levels_, -1).shape[1]
    figures = _figures(4 * channels, 4.2)
    with mpl.rc_context(TYPOGRAPHY):
        DecompositionDisplay.from_estimator(m, axes=[f.subplots() for f in figures])
    words = ("Observations", "Step part", "Smooth part", "Residual") * channels
    return [figure_picture(figure, f"{word} over the plane") for figure, word in zip(figures, words)]


def _dwell_pictures(m: Anything) -> list[Picture]:
    import matplotlib as mpl

    figures = _figures(m.n_levels_)
    with mpl.rc_context(TYPOGRAPHY):
        DwellDisplay.from_estimator(m, axes=[f.subplots() for f in figures])
    return [figure_picture(figure, f"Dwell times of level {k + 1}") for k, figure in enumerate(figures)]


def _mixtures(m: Anything) -> list[Picture]:
    """Return the histogram of each channel without the smooth part, under the fitted mixture."""
    import matplotlib as mpl

    figures = _figures(np.asarray(m.levels_).reshape(m.n_levels_, -1).shape[1])
    with mpl.rc_context(TYPOGRAPHY):
        AmplitudeDisplay.from_estimator(m, axes=[f.subplots() for f in figures])
    return [
        figure_picture(figure, "All samples without the smooth part, under the fitted mixture") for figure in figures
    ]


def _residual_pictures(m: Anything) -> list[Picture]:
    import matplotlib as mpl

    channels = np.asarray(m.levels_).reshape(m.n_levels_, -1).shape[1]
    figures = _figures(4 * channels)
    with mpl.rc_context(TYPOGRAPHY):
        ResidualDisplay.from_estimator(m, axes=[f.subplots() for f in figures])
    return [figure_picture(figure, alt, caption) for figure, (alt, caption) in zip(figures, RESIDUALS * channels)]


def _certificate_picture(m: Anything, certificate: Certificate | None) -> list[Picture]:
    """Return the certificate over the data; over a line narrow enough to be read on a phone."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    if certificate is None:
        return []
    X, y = m._data
    labelled = m.labels_ >= 0
    parts = {"y": y[labelled], "levels": m.levels_, "smooth": m.smooth_[labelled]}
    if X.shape[1] == 2:
        return certificate_maps(certificate, X[labelled], m.labels_[labelled], **parts)
    heights = line_panels(certificate)
    with mpl.rc_context(TYPOGRAPHY):
        figure = Figure(figsize=(7.2, sum(heights) + 0.3), layout="constrained")
        axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    CertificateDisplay.from_certificate(certificate, X[labelled], m.labels_[labelled], axes=axes, **parts)
    return [figure_picture(figure, f"Where the certificate holds: {certificate.verdict}")]


def _dwells(table: Anything, count: int) -> Table:
    """Return how often and how long each level was visited."""
    rows = []
    for k in range(count):
        mine = table[table["label"] == k]
        whole = mine["dwell"][mine["complete"]]
        spans = (
            [f"{v:.4g}" for v in (np.mean(whole), np.median(whole), np.max(whole))]
            if len(whole)
            else ["\N{EN DASH}"] * 3
        )
        rows.append((f"level {k + 1}", f"{len(mine):,}", f"{len(whole):,}", *spans))
    heads = ("", "events", "complete", "mean dwell", "median", "longest")
    return Table("Events by level", heads, tuple(rows), "Dwell times are those of complete events, in units of x.")


def _first_events(table: Anything) -> Table:
    names = [n for n in table.dtype.names if n.startswith("level")]
    rows = tuple(
        (
            *(f"{event[name]:.6g}" for name in ("start", "end", "dwell")),
            ", ".join(f"{event[name]:.4g}" for name in names),
            f"{event['probability']:.3f}",
            "" if event["complete"] else "cut off",
        )
        for event in table[:SHOWN_EVENTS]
    )
    note = f"The first {len(rows)} of {len(table):,}." if len(table) > len(rows) else ""
    return Table("Events", ("start", "end", "dwell", "level", "probability", ""), rows, note)
