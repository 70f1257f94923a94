"""What a run leaves in ``result.json``: enough to know what was done, to what, with which outcome."""

import json
import math
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from stepsmooth.files.errors import InputError, reason
from stepsmooth.files.folders import RESULT

FORMAT = 1
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "nibabel", "tifffile")


def plain(value: Any) -> Any:
    """Return a value as JSON has it: lists for arrays, None for NaN and infinity, text for the rest.

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan]), 2: (np.int64(3), np.inf), "c": Path("x")})
    {'a': [1.0, None], '2': [3, None], 'c': 'x'}
    """
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def levels_of(m: Any) -> list[dict[str, Any]]:
    """Return the levels of a fitted estimator with their standard errors, one entry a label, numbered from 1.

    For an image the errors take labels and field as given; for a signal they are those of the fit.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> m = decompose([0.0, 5.0, 0.1, 5.1, 0.0, 5.0, 0.2, 4.9], solver="altmin", tau=1e6)
    >>> [(entry["label"], round(entry["level"])) for entry in levels_of(m)]
    [(1, 0), (2, 5)]
    """
    levels = np.asarray(m.levels_, dtype=np.float64)
    errors = getattr(m, "levels_se_", None)
    errors = _errors_on_grid(m) if errors is None else np.asarray(errors)
    variance = np.asarray(m.noise_variance_, dtype=np.float64)
    if variance.shape != levels.shape:
        variance = np.broadcast_to(variance[:, None] if variance.shape == levels.shape[:1] else variance, levels.shape)
    counts = np.bincount(m.labels_[m.labels_ >= 0].ravel(), minlength=len(levels))
    return [
        {
            "label": k + 1,
            "level": plain(levels[k]),
            "standard_error": plain(errors[k]),
            "noise_sd": plain(np.sqrt(variance[k])),
            "proportion": plain(m.proportions_[k]),
            "count": int(counts[k]),
        }
        for k in range(len(levels))
    ]


def result_record(
    m: Any,
    *,
    kind: str,
    settings: dict[str, Any],
    inputs: list[dict[str, Any]],
    certificate: Any,
    quality: Any,
    remarks: list[str],
    seconds: float,
) -> dict[str, Any]:
    """Return the content of ``result.json``, without the list of outputs.

    Parameters
    ----------
    m : StepSmooth or GridStepSmooth
        Fitted.
    kind : {"signal", "image"}
    settings : dict
    inputs : list of dict
        What identifies each file, its SHA-256 among it.
    certificate : Certificate or None
    quality : Quality or None
    remarks : list of str
    seconds : float
        How long the fit took.

    Examples
    --------
    >>> from stepsmooth import decompose
    >>> m = decompose([0.0, 5.0, 0.1, 5.1, 0.0, 5.0, 0.2, 4.9], solver="altmin", tau=1e6)
    >>> record = result_record(m, kind="signal", settings={}, inputs=[], certificate=m.certificate(), quality=None,
    ...                        remarks=[], seconds=0.1)
    >>> record["n_levels"]["value"], record["certificate"]["verdict"], record["tau"]["value"]
    (2, 'identified', 1000000.0)
    """
    curves = dict(m.selection_)
    stiffness = {"value": m.tau_, "curve": curves.pop("tau", None)}
    if kind == "image":
        no_field = bool(np.isinf(m.knots_))
        stiffness |= {
            "knots": m.knots_,
            "in_mm": m.spacing is not None,
            "no_field": no_field,
            "knots_curve": curves.pop("stiffness", None),
        }
    else:
        stiffness |= {"effective_dof": m.effective_dof_}
    in_logs = kind == "image" and bool(getattr(m, "_in_logs", False))
    return plain(  # type: ignore[no-any-return]
        {
            "stepsmooth": {"version": version("stepsmooth"), "format": FORMAT, "kind": kind},
            "versions": {"python": platform.python_version(), **_versions()},
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "settings": settings,
            "parameters": {k: v for k, v in m.get_params().items() if k != "callback"},
            "inputs": inputs,
            "n_levels": {"value": m.n_levels_, "curve": curves.pop("n_levels", None)},
            "levels": levels_of(m),
            "noise": {"variance": m.noise_variance_, "of": "logarithms" if in_logs else "values"},
            "tau": stiffness,
            "selection": curves,
            "label_prior": m.label_prior_,
            "converged": bool(m.converged_),
            "iterations": m.n_iter_,
            "certificate": None if certificate is None else certificate_record(certificate),
            "quality": None if quality is None else quality.as_dict(),
            "remarks": remarks,
        }
    )


def certificate_record(certificate: Any) -> dict[str, Any]:
    """Return a certificate in figures and words, ready for JSON."""
    parts = np.asarray(certificate.parts)
    return plain(  # type: ignore[no-any-return]
        {
            "verdict": certificate.verdict,
            "margin": certificate.margin,
            "variation": certificate.variation,
            "allowed": certificate.allowed,
            "broken_edges": len(certificate.edges),
            "parts": int(parts.max()) + 1 if parts.size else 0,
            "share_not_covered": float(np.mean(parts < 0)) if parts.size else 0.0,
            "alternative": certificate.alternative is not None,
            "flips": certificate.flips,
            "region": certificate.region,
            "premise": certificate.premise,
            "words": str(certificate),
        }
    )


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write ``result.json`` as the last file of a folder, with the names of all others in it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_record(Path(folder), {"stepsmooth": {"format": 1, "kind": "image"}})
    ...     read_record(Path(folder))["outputs"]
    ['result.json']
    """
    outputs = sorted({p.name for p in folder.iterdir()} | {RESULT})
    text = json.dumps(record | {"outputs": outputs}, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / RESULT).write_text(text + "\n", encoding="utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """Return what ``result.json`` of an output folder says, or refuse the folder in one sentence."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder of results." if folder.exists() else f"{folder} does not exist.")
    try:
        record: dict[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{folder} holds no {RESULT}: name an output folder of stepsmooth.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder / RESULT} cannot be read: {reason(error)}.") from error
    about = record.get("stepsmooth") if isinstance(record, dict) else None
    if not isinstance(about, dict) or about.get("kind") not in ("image", "signal"):
        raise InputError(f"{folder / RESULT} was not written by stepsmooth.")
    if about.get("format") != FORMAT:
        raise InputError(f"{folder / RESULT} is of format {about.get('format')!r}; this version reads {FORMAT}.")
    return record


def _errors_on_grid(m: Any) -> Any:
    """Return standard errors of an image's levels, labels and field taken as given."""
    channel = m.channel_axis
    values = m.corrected_[..., None] if channel is None else np.moveaxis(m.corrected_, channel, -1)
    labelled = m.labels_ >= 0
    labels, some = m.labels_[labelled], values[labelled].astype(np.float64)
    counts = np.bincount(labels, minlength=m.n_levels_)

    def mean(each: Any, less: int = 0) -> Any:
        total = [np.bincount(labels, column, minlength=m.n_levels_) for column in each.T]
        return np.stack(total, axis=1) / np.maximum(counts - less, 1)[:, None]

    variance = mean(np.square(some - mean(some)[labels]), less=1)
    errors = np.where(counts[:, None] > 1, np.sqrt(variance / np.maximum(counts, 1)[:, None]), np.nan)
    return errors[:, 0] if channel is None else errors


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
