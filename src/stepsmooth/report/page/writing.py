"""One file that shows a whole result, to be opened, sent and printed."""

import os
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepsmooth.estimators import GridStepSmooth
from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.report.graph_page import in_script
from stepsmooth.report.page import words
from stepsmooth.report.page.charts import choice_curves
from stepsmooth.report.page.content import Content
from stepsmooth.report.page.grid import grid_content
from stepsmooth.report.page.signal import signal_content
from stepsmooth.report.palette import level_colours
from stepsmooth.report.quality_check import quality as measure
from stepsmooth.topology import Certificate

LARGEST = 20_000_000  # bytes of a page
ROOM = 12_000_000  # bytes for the volumes of the viewer, at first
SCRIPTS = {
    "volume": ("niivue.umd.js", "volume.js"),
    "image": ("wipe.js",),
    "signal": ("trace_view.js", "trace.js"),
    "points": (),
}


def write(
    m: Anything,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    quality: Anything = None,
    certificate: Certificate | None = None,
    inputs: Anything = None,
    settings: Anything = None,
    affine: Anything = None,
    image: Anything = None,
    names: Sequence[str] | None = None,
) -> Path:
    """Write a report of a fitted estimator: one HTML file that needs no network and no other file.

    The page says whether the correction helped and whether the labels can be trusted, then shows the data, the
    levels, what was chosen and why, and the settings. Volumes are shown in a viewer, images under a slider, signals
    as a trace to zoom into; on paper, pictures take their place.

    Parameters
    ----------
    m : StepSmooth or GridStepSmooth
        Fitted.
    path : path-like
        The file to write; it appears at once, whole.
    title : str, optional
        Such as the name of the file that was decomposed.
    quality : Quality, optional
        By default :func:`stepsmooth.report.quality` is asked.
    certificate : Certificate, optional
        By default ``m.certificate()``.
    inputs : mapping, or list of mappings with a ``"name"`` each, optional
        The files that went in, with their checksums or whatever else there is to say of them.
    settings : mapping, optional
        How the result was made; by default the parameters of the estimator.
    affine : (4, 4) array, optional
        From voxels to millimetres in the scanner's frame, for images with an orientation.
    image : array, optional
        The image given to ``fit``; by default it is put together from the corrected image and the field.
    names : sequence of str, optional
        Of the channels.

    Returns
    -------
    pathlib.Path
        The path written. The file has at most 20 MB; volumes in the viewer are made coarser to fit.

    Examples
    --------
    >>> import tempfile
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.report import write
    >>> X = np.random.default_rng(0).random((40, 3))
    >>> m = StepSmooth(2, kernel="rbf", tau=0.1).fit(X, X[:, 0] + np.arange(40) % 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write(m, Path(folder) / "report.html", title="Forty <points>").read_text()
    >>> "Forty &lt;points&gt;" in page, "<points>" in page
    (True, False)
    """
    check_is_fitted(m)
    affine = _affine(affine)
    missing: list[str] = []
    quality = _asked("figures of quality", lambda: measure(m), missing) if quality is None else quality
    certificate = _asked("certificate", m.certificate, missing) if certificate is None else certificate
    room = ROOM
    while True:
        content = _content(m, certificate, affine, names, image, room)
        page = _render(m, content, title or _name(m), quality, certificate, inputs, settings, missing)
        if len(page) <= LARGEST or room < 100_000:
            break
        room //= 2
    return _write_whole(page, Path(path))


def _content(
    m: Anything, certificate: Certificate | None, affine: Anything, names: Anything, image: Anything, room: int
) -> Content:
    if isinstance(m, GridStepSmooth):
        return grid_content(m, certificate, affine, names, image, room)
    return signal_content(m, certificate)


def _affine(affine: Anything) -> Floats | None:
    if affine is None:
        return None
    matrix = np.asarray(affine, dtype=np.float64)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or abs(np.linalg.det(matrix[:3, :3])) == 0.0:
        raise ValueError(
            f"affine must be a (4, 4) matrix that can be inverted, or None; got shape {matrix.shape}"
            + (f" with values {matrix.tolist()}." if matrix.shape == (4, 4) else ".")
        )
    return matrix


def _asked(what: str, ask: Callable[[], Anything], missing: list[str]) -> Anything:
    """Return the answer, or None, with a remark that says why there is none."""
    try:
        return ask()
    except ValueError as error:  # such as a kernel matrix under noise, which has no points to certify
        missing.append(f"No {what}: {error}")
        return None


def _name(m: Anything) -> str:
    if isinstance(m, GridStepSmooth):
        return "A decomposed image"
    return "A decomposed signal" if m.n_features_in_ == 1 else "Decomposed points"


def _render(
    m: Anything,
    content: Content,
    title: str,
    quality: Anything,
    certificate: Certificate | None,
    inputs: Anything,
    settings: Anything,
    missing: list[str],
) -> bytes:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from stepsmooth import __version__

    environment = Environment(
        loader=PackageLoader("stepsmooth.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [_asset(name) for name in SCRIPTS[content.kind]]
    style = _asset("report.css")
    verdicts = [words.quality_verdict(quality)] if quality is not None else []
    verdicts += [words.certificate_verdict(certificate)] if certificate is not None else []
    page = environment.get_template("report.html").render(
        title=title,
        content=content,
        verdicts=verdicts,
        remarks=words.remarks(m) + missing,
        levels=words.level_rows(m, level_colours(m.n_levels_)),
        several=len(m.levels_.shape) > 1 and m.levels_.shape[1] > 1,
        choices=choice_curves(m.selection_),
        certificate=certificate,
        finite_margin=certificate is not None and isfinite(certificate.margin),
        quality=words.quality_rows(quality) if quality is not None else [],
        inputs=words.rows_of(inputs, "inputs"),
        settings=words.rows_of(m.get_params() if settings is None else settings, "settings"),
        # The levels have a table of their own, where they count from one.
        summary="\n".join(line for line in m.summary().splitlines() if not line.startswith("  ")),
        version=__version__,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=style,
        scripts=scripts,
        style_hash=_hash(style),
        script_hashes=[_hash(script) for script in scripts],
        data=in_script(content.data),
    )
    return page.encode()


def _asset(name: str) -> str:
    return files("stepsmooth.report").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _write_whole(content: bytes, target: Path) -> Path:
    """Write under a temporary name beside the target, then move it there in one step."""
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target
