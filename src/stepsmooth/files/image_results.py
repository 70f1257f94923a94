"""The files that a decomposed image becomes."""

from pathlib import Path
from typing import Any

import numpy as np

from stepsmooth.files.image_file import Array
from stepsmooth.files.images import ending_for, write_image_file
from stepsmooth.files.layout import ImageLayout
from stepsmooth.files.record import levels_of
from stepsmooth.files.tables import write_table


def write_image_results(
    folder: Path,
    layout: ImageLayout,
    m: Any,
    *,
    mask: Array | None = None,
    probabilities: Array | None = None,
    keep_dtype: bool = False,
) -> list[str]:
    """Write corrected images, field, labels and their table, and return what a user should be told.

    Parameters
    ----------
    folder : pathlib.Path
    layout : ImageLayout
    m : GridStepSmooth
        Fitted to `layout.image`.
    mask : array of bool, optional
        As given to the fit; it is kept, so that the field can later be applied where it was estimated.
    probabilities : array, optional
        The probability of each class, along a last axis, if they are to be written, too.
    keep_dtype : bool
        Round the corrected images to the type of their files.

    Returns
    -------
    list of str
    """
    first = layout.files[0]
    ending = ending_for(first)

    def write(name: str, values: Array) -> None:
        write_image_file(folder / f"{name}{ending}", values, first, purpose=name)

    write("field", layout.space_only(m.field_.astype(np.float32)))
    small = m.n_levels_ < 256
    write("labels", layout.each_frame((m.labels_ + 1).astype(np.uint8 if small else np.int16)))
    write_table(folder / "labels.tsv", _label_table(layout, m))
    if mask is not None:
        write("mask", layout.space_only(mask.astype(np.uint8)))
    if probabilities is not None:
        write("probabilities", layout.space_only(probabilities.astype(np.float32)))
    remarks = []
    for index, target in enumerate(corrected_files(folder, layout, keep_dtype=keep_dtype)):
        file = layout.files[index]
        held = write_image_file(target, layout.channel(m.corrected_, index), file, keep_dtype=keep_dtype)
        if held:
            remarks.append(f"{target.name}: {held:,} values lay outside the range of {file.dtype}, and are at its end.")
    return remarks


def corrected_files(folder: Path, layout: ImageLayout, *, keep_dtype: bool = False) -> list[Path]:
    """Return where the corrected images are written."""
    endings = [ending_for(file, keep_dtype=keep_dtype) for file in layout.files]
    return [folder / f"{name}{ending}" for name, ending in zip(corrected_names(layout), endings)]


def corrected_names(layout: ImageLayout) -> list[str]:
    """Return the names of the corrected images, without endings: those of the files, told apart where they are alike.

    Examples
    --------
    >>> from stepsmooth.files.image_file import ImageFile
    >>> from stepsmooth.files.layout import lay_out
    >>> files = [ImageFile(Path(d) / "T1w.npy", "npy", np.ones((3, 3)), "XY", np.dtype("f4")) for d in "ab"]
    >>> corrected_names(lay_out(files))
    ['T1w_1_corrected', 'T1w_2_corrected']
    """
    names = [file.name for file in layout.files]
    return [
        f"{name}_{i + 1}_corrected" if names.count(name) > 1 else f"{name}_corrected" for i, name in enumerate(names)
    ]


def describe(layout: ImageLayout) -> dict[str, Any]:
    """Return what it takes to read the results of an image back, ready for JSON."""
    return {
        "axes": layout.files[0].axes,
        "spacing": list(layout.spacing),
        "corrected": corrected_names(layout),
    }


def _label_table(layout: ImageLayout, m: Any) -> dict[str, Array]:
    """Return the table of the labels, as BIDS has it (index, name), with levels and sizes."""
    entries = levels_of(m)
    table: dict[str, Array] = {
        "index": np.array([entry["label"] for entry in entries]),
        "name": np.array([f"level {entry['label']}" for entry in entries]),
    }
    several = np.ndim(m.levels_) == 2
    for what in ("level", "standard_error", "noise_sd"):
        values = np.array([entry[what] for entry in entries], dtype=np.float64).reshape(len(entries), -1)
        for channel in range(values.shape[1]):
            table[f"{what}_{channel + 1}" if several else what] = values[:, channel]
    table["voxels"] = np.array([entry["count"] for entry in entries])
    table["proportion"] = np.array([entry["proportion"] for entry in entries], dtype=np.float64)
    sizes = layout.files[0].spacing
    if sizes is not None:
        frames = layout.image.shape[layout.series_axis] if layout.series_axis is not None else 1
        table["volume_ml"] = table["voxels"] * float(np.prod(sizes)) / 1000.0 / frames
    return table
