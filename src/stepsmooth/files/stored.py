"""A result read back from its folder: enough of it to certify labels anew and to apply the field elsewhere."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from stepsmooth.estimators.certificate import certificate_of
from stepsmooth.estimators.grid_certificate import grid_certificate
from stepsmooth.files.errors import InputError, reason
from stepsmooth.files.folders import RESULT
from stepsmooth.files.image_file import ImageFile
from stepsmooth.files.images import read_image_file
from stepsmooth.files.layout import lay_out
from stepsmooth.files.record import read_record
from stepsmooth.files.record_parts import file_names, numbers, part
from stepsmooth.files.tables import open_table


def certify_stored(folder: Path, *, c: float = 2.0, confidence: float = 0.95) -> Any:
    """Return the certificate of a result, computed from the files of its folder.

    Parameters
    ----------
    folder : pathlib.Path
        An output folder of ``stepsmooth signal`` or ``stepsmooth image``.
    c, confidence : float
        As in :meth:`stepsmooth.StepSmooth.certificate`.

    Returns
    -------
    Certificate
    """
    record = read_record(folder)
    entries = part(folder, record, "levels", kinds=(list,))
    levels = numbers(folder, [e.get("level") if isinstance(e, dict) else None for e in entries], "levels")
    variance = numbers(folder, part(folder, record, "noise", "variance", kinds=(list, int, float)), "noise.variance")
    right = (
        levels.ndim in (1, 2)
        and len(levels) > 1
        and variance.shape in ((), levels.shape, levels.shape[:1], levels.shape[1:])
    )
    if not right or np.any(variance < 0.0):
        raise InputError(f"{folder / RESULT} is damaged: levels and noise.variance do not go together.")
    try:
        if record["stepsmooth"]["kind"] == "signal":
            return _certify_signal(folder, levels, variance, c, confidence)
        return _certify_image(folder, record, levels, variance, c, confidence)
    except (ValueError, IndexError) as error:  # files that are whole, each for itself, but do not go together
        if isinstance(error, InputError) and str(folder) in str(error):
            raise
        raise InputError(f"{folder} cannot be certified anew: {reason(error)}.") from error


def stored_image(folder: Path, name: str) -> ImageFile | None:
    """Return one of the images of an output folder, or None if it has none of that name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "field.npy", np.ones((2, 3)))
    ...     stored_image(Path(folder), "field").array.shape, stored_image(Path(folder), "mask")
    ((2, 3), None)
    """
    for ending in (".nii.gz", ".tif", ".npy"):
        if (folder / f"{name}{ending}").exists():
            return read_image_file(folder / f"{name}{ending}")
    return None


def needed_image(folder: Path, name: str) -> ImageFile:
    """Return one of the images of an output folder, or refuse the folder."""
    found = stored_image(folder, name)
    if found is None:
        raise InputError(f"{folder} holds no {name} image: it is not the result of `stepsmooth image`, or not whole.")
    return found


def _certify_signal(folder: Path, levels: Any, variance: Any, c: float, confidence: float) -> Any:
    paths = [folder / f"decomposition{e}" for e in (".csv", ".tsv", ".parquet")]
    path = next((p for p in paths if p.exists()), None)
    if path is None:
        raise InputError(f"{folder} holds no decomposition: it is not whole.")
    table = open_table(path)

    def named(name: str) -> Any:
        columns = [i for i, found in enumerate(table.names) if found == name or found.startswith(f"{name}_")]
        return np.column_stack([table.numbers(i) for i in columns])

    smooth = named("smooth")
    fitted = SimpleNamespace(
        labels_=table.numbers(list(table.names).index("label")).astype(np.int64) - 1,
        levels_=levels,
        noise_variance_=variance,
        smooth_=smooth if smooth.shape[1] > 1 else smooth[:, 0],
        __sklearn_tags__=lambda: SimpleNamespace(input_tags=SimpleNamespace(pairwise=False)),
    )
    return certificate_of(fitted, named("x"), named("y"), c=c, confidence=confidence)


def _certify_image(
    folder: Path, record: dict[str, Any], levels: Any, variance: Any, c: float, confidence: float
) -> Any:
    settings = part(folder, record, "settings")
    names = [stored_image(folder, name) for name in file_names(folder, record, "layout", "corrected")]
    files = [file for file in names if file is not None]
    if not files or len(files) < len(names) or settings.get("keep_dtype"):
        raise InputError(
            f"{folder} holds no corrected image in full precision, on which labels could be certified anew."
        )
    axis = part(folder, {"channel_axis": None} | settings, "channel_axis", kinds=(int, type(None)))
    spacing = numbers(folder, part(folder, record, "layout", "spacing", kinds=(list,)), "layout.spacing").ravel()
    layout = lay_out(files, channel_axis=axis, spacing=spacing.tolist())
    field = layout.on_grid(needed_image(folder, "field"), "field")[0]
    additive = bool(settings.get("additive"))
    channel, series = layout.channel_axis, layout.series_axis
    fitted = SimpleNamespace(
        labels_=lay_out([needed_image(folder, "labels")]).image.astype(np.int64) - 1,
        levels_=levels,
        n_levels_=len(levels),
        noise_variance_=variance,
        smooth_=field if additive else np.log(field),
        corrected_=layout.image,
        spacing=layout.spacing,
        _axes=(channel, series if series is None or channel is None else series - 1),
        _multiplicative=not additive,
        _in_logs=part(folder, record, "noise", "of", kinds=(str,)) == "logarithms",
    )
    return grid_certificate(fitted, c=c, confidence=confidence)
