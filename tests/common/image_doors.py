"""The ways in for an image: an array, NIfTI files read by the library, and such files at the command line."""

import nibabel
import numpy as np
from answers import Answer, RefusedError, asked, commanded

from stepsmooth import GridStepSmooth
from stepsmooth.files import InputError, lay_out, read_image_file

# Files hold single precision.
ATOL = 2e-5
SPACING = (2.0, 2.0, 3.0)


def through_an_array(folder, image, mask=None, weights=None, channels=False, series=False, **params):
    space = image.ndim - int(channels) - int(series)
    axes = {"channel_axis": -1 if channels else None, "series_axis": -1 if series else None}
    return _python(image, mask, weights, params | axes | {"spacing": SPACING[:space]})


def through_nifti(folder, image, mask=None, weights=None, channels=False, series=False, **params):
    files, extras = _written(folder, image, channels, series, mask, weights)
    try:
        layout = lay_out([read_image_file(path) for path in files])
        read = {name: layout.on_grid(read_image_file(path), name)[0] for name, path in extras.items()}
    except InputError as error:
        raise RefusedError(str(error)) from error
    axes = {"channel_axis": layout.channel_axis, "series_axis": layout.series_axis, "spacing": layout.spacing}
    mask = read["mask"] != 0 if "mask" in read else None
    found = _python(layout.image, mask, read.get("weights"), params | axes)
    if channels:  # they come first in a layout of several files
        found.corrected = np.moveaxis(found.corrected, layout.channel_axis, -1)
    return found


def _python(image, mask, weights, params):
    g, said = asked(lambda: GridStepSmooth(random_state=0, **params).fit(image, mask, weights))
    return Answer(g.labels_, g.levels_, g.smooth_, g.probabilities(), g.corrected_, said)


def through_the_command_line(
    folder, image, mask=None, weights=None, channels=False, series=False, n_levels=2, multiplicative=True, **params
):
    files, extras = _written(folder, image, channels, series, mask, weights)
    before = [path.read_bytes() for path in files]
    options = [part for name, path in extras.items() for part in (f"--{name}", path)]
    options += [] if multiplicative else ["--additive"]
    options += [part for name, value in params.items() for part in (f"--{name.removeprefix('label_')}", value)]
    out = folder / "out"
    record = commanded(out, "image", *files, "--levels", n_levels, "--seed", 0, "--force", *options)
    assert [path.read_bytes() for path in files] == before
    space = image.shape[: image.ndim - int(channels) - int(series)]
    frames = image.shape[-1:] if series else ()

    def load(name, shape):
        return np.asarray(nibabel.load(out / f"{name}.nii.gz").dataobj).reshape(shape)

    levels = np.array([entry["level"] for entry in record["levels"]])
    field = load("field", space)
    corrected = [load(f"{path.name.split('.')[0]}_corrected", (*space, *frames)) for path in files]
    return Answer(
        load("labels", (*space, *frames)).astype(int) - 1,
        levels,
        np.log(field) if multiplicative else field,
        load("probabilities", (*space, *frames, len(levels))),
        np.stack(corrected, axis=-1) if channels else corrected[0],
        record["remarks"],
    )


def _written(folder, image, channels, series, mask, weights):
    """Write an image, each channel as a file of its own, and what goes with it."""
    images = list(np.moveaxis(image, -1, 0)) if channels else [image]
    files = [_save(folder / f"image{i}.nii.gz", values, series) for i, values in enumerate(images)]
    given = {"mask": None if mask is None else mask.astype(np.uint8), "weights": weights}
    return files, {k: _save(folder / f"{k}.nii.gz", v, False) for k, v in given.items() if v is not None}


def _save(path, values, series):
    space = values.shape[:-1] if series else values.shape
    values = values.reshape(*space, *(1,) * (3 - len(space)), *values.shape[len(space) :])
    file = nibabel.Nifti1Image(values, np.diag([*SPACING, 1.0]))
    file.header.set_xyzt_units("mm", "sec")
    nibabel.save(file, path)
    return path


DOORS = {"array": through_an_array, "NIfTI": through_nifti, "command line": through_the_command_line}
