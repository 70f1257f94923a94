"""``stepsmooth apply``: a stored field on another image."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepsmooth.cli import options as o
from stepsmooth.cli.exits import ExitCode, end, sentences

if TYPE_CHECKING:
    from stepsmooth.files import ImageFile

File = Annotated[Path, typer.Argument(metavar="FILE", help="An image on the same grid of the world.")]
Target = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="The file to write; by default NAME_corrected right here.")
]
Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="Correct outside the mask of the fit too, where the field is a guess.")
]
KeepDtype = Annotated[bool, typer.Option("--keep-dtype", help="Round to the type of FILE instead of float32.")]


def apply(
    result: o.Result,
    file: File,
    out: Target = None,
    everywhere: Everywhere = False,
    keep_dtype: KeepDtype = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Apply a field that made its own image worse.")] = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Remove the field of an earlier result from another image.

    The image must lie on the same grid of the world; axes may run in another order or direction. Where the fit had a
    mask, values outside it stay as they are.

    \b
    Example:
      stepsmooth apply T1w_stepsmooth T2w.nii.gz --out T2w_corrected.nii.gz
    """  # noqa: D301
    with sentences():
        from stepsmooth.files import InputError, OutputError, read_image_file
        from stepsmooth.files.images import check_readable, ending_for, write_image_file
        from stepsmooth.files.record import read_record
        from stepsmooth.files.record_parts import part
        from stepsmooth.files.renaming import write_file

        record = read_record(result)
        if record["stepsmooth"]["kind"] != "image":
            raise InputError(f"{result} is the result of a signal: a field can only be applied to images.")
        worse = (part(result, record, "quality", kinds=(dict, type(None))) or {}).get("verdict") == "made worse"
        if worse and not force:
            end(ExitCode.WORSE, f"The field of {result} made its own image worse; --force applies it all the same.")
        check_readable(file)
        image = read_image_file(file)
        values, remarks = _without_field(
            image, result, part(result, record, "settings", "additive", kinds=(bool,)), everywhere
        )
        target = Path(f"{image.name}_corrected{ending_for(image, keep_dtype=keep_dtype)}") if out is None else out
        wanted = ending_for(image, keep_dtype=keep_dtype)
        if not target.name.endswith((wanted, ".nii") if image.format == "nifti" else wanted):
            end(ExitCode.ARGUMENTS, f"--out {target} must end in {wanted}, as {file} is of that kind.")
        if target.exists() and target.resolve() == file.resolve():
            raise OutputError(f"--out {target} is the input itself, which is never overwritten.")
        held = 0

        def write(path: Path) -> None:
            nonlocal held
            held = write_image_file(path, values, image, keep_dtype=keep_dtype)

        write_file(target, write, overwrite=overwrite)
        if held:
            remarks.append(f"{held:,} values lay outside the range of {image.dtype}, and are at its end.")
        if as_json:
            typer.echo(json.dumps({"out": str(target), "remarks": remarks, "input": image.facts()}))
        elif not quiet:
            for remark in remarks:
                typer.echo(f"note: {remark}")
            typer.echo(f"written: {target}")


def _without_field(image: "ImageFile", result: Path, additive: bool, everywhere: bool) -> tuple[Any, list[str]]:
    """Return an image without a stored field, with the axes of its file."""
    import numpy as np

    from stepsmooth.files import lay_out
    from stepsmooth.files.stored import needed_image, stored_image

    layout = lay_out([image])
    remarks = list(image.remarks)
    field, remark = layout.on_grid(needed_image(result, "field"), "field")
    remarks += [remark] if remark is not None else []
    mask = None if everywhere else stored_image(result, "mask")
    if mask is not None:
        inside = layout.on_grid(mask, "mask")[0] > 0
        field = np.where(inside, field, 0.0 if additive else 1.0)
    field = field[..., None] if layout.series_axis is not None else field
    values = layout.image - field if additive else layout.image / field
    return layout.channel(values.astype(layout.image.dtype), 0), remarks
