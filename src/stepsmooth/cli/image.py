"""``stepsmooth image``: an image file, or several that share a field, taken apart."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepsmooth.cli import options as o
from stepsmooth.cli.exits import ExitCode, end, noted, sentences
from stepsmooth.cli.presets import ImagePreset, misfit, with_preset
from stepsmooth.cli.telling import conclude, end_if_worse, judge, tell
from stepsmooth.cli.terminal import progress

if TYPE_CHECKING:
    from stepsmooth import GridStepSmooth
    from stepsmooth.files import ImageLayout
    from stepsmooth.files.image_file import Array

USUAL = {"levels": "auto", "solver": "auto", "prior": "auto", "rician": False, "keep_dtype": False}

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="NIfTI, TIFF, PNG or NPY; several are channels with one field.")
]
Mask = Annotated[Path | None, typer.Option("--mask", help="Where to estimate; the rest stays as it is.")]
Weights = Annotated[Path | None, typer.Option("--weights", help="How much each voxel counts; 0 is absent.")]
Additive = Annotated[
    bool, typer.Option("--additive", help="The field adds to the levels, instead of multiplying them.")
]
Spacing = Annotated[
    str | None, typer.Option("--spacing", metavar="MM", help="Size of a voxel, such as 1,1,3, instead of the header's.")
]
Channel = Annotated[
    int | None,
    typer.Option("--channel-axis", help="The axis of the channels of a file, from 0, where its format does not say."),
]
Prior = Annotated[o.ImagePrior | None, typer.Option("--prior", help="What labels do: potts lets neighbours agree.")]
Rician = Annotated[
    bool | None, typer.Option("--rician/--gaussian", help="Noise of magnitude images, or plain (the default).")
]
Preset = Annotated[ImagePreset | None, typer.Option("--preset", help="Settings for a common job; options override it.")]
KeepDtype = Annotated[
    bool | None,
    typer.Option("--keep-dtype/--float32", help="Round corrected images to the type of the input, or not (default)."),
]


def image(
    files: Files,
    mask: Mask = None,
    weights: Weights = None,
    levels: o.Levels = None,
    additive: Additive = False,
    spacing: Spacing = None,
    channel_axis: Channel = None,
    prior: Prior = None,
    rician: Rician = None,
    solver: o.SolverOption = None,
    preset: Preset = None,
    seed: o.Seed = None,
    threads: o.Threads = None,
    out: o.Out = None,
    overwrite: o.Overwrite = False,
    keep_dtype: KeepDtype = None,
    probabilities: o.Probabilities = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
) -> None:
    """Remove the field from images, and label what is under it.

    Writes NAME_corrected for each file, field, labels with labels.tsv, result.json and report.html into a folder,
    which appears when everything is in it. Inputs are never touched.

    \b
    Examples:
      stepsmooth image T1w.nii.gz --mask brain.nii.gz --preset t1w-brain
      stepsmooth image T1w.nii.gz T2w.nii.gz --levels 3 --out both
      stepsmooth image page.png --preset document

    \b
    Presets:
      t1w-brain       T1w with a brain mask: three levels, Rician noise
      whole-head      a head without a mask: air is found and left alone
      multi-sequence  several files of one head that share a field
      document        a page under uneven light: ink and paper, type kept
    """  # noqa: D301
    wrong = misfit(preset, masked=mask is not None, files=len(files))
    if wrong is not None:
        end(ExitCode.ARGUMENTS, wrong)
    given = {"levels": levels, "solver": solver, "prior": prior, "rician": rician, "keep_dtype": keep_dtype}
    settings = with_preset(preset, given, USUAL)
    settings |= {
        "additive": additive,
        "spacing": o.numbers("--spacing", spacing),
        "channel_axis": channel_axis,
        "preset": preset,
        "seed": seed,
        "mask": None if mask is None else mask.name,
        "weights": None if weights is None else weights.name,
    }
    count = o.level_count(settings["levels"])
    with sentences():
        from concurrent.futures import ThreadPoolExecutor

        from stepsmooth.files import ResultFolder
        from stepsmooth.files.image_file import stem
        from stepsmooth.files.image_results import corrected_files, describe, write_image_results
        from stepsmooth.files.images import check_readable

        inputs = [*files, *(p for p in (mask, weights) if p is not None)]
        for path in inputs:
            check_readable(path)
        out = Path(f"{stem(files[0])}_stepsmooth") if out is None else out
        with (
            progress(total=5, quiet=quiet or as_json) as steps,
            ResultFolder(out, inputs=inputs, overwrite=overwrite) as results,
        ):
            steps.begin("Reading")
            remarks: list[str] = []
            layout, extras = _read(files, mask, weights, settings, remarks)
            steps.begin_fit("stepsmooth.grid")
            o.use_threads(threads)
            began = perf_counter()
            with noted(remarks):
                m = _fit(layout, extras, count, settings, steps)
            remarks += _if_small(layout)
            seconds = perf_counter() - began
            steps.begin("Judging, writing images")
            found = m.probabilities() if probabilities else None
            keep = {"keep_dtype": settings["keep_dtype"]}
            # To pack files takes about half as long as to judge, and the interpreter does not wait for it.
            with ThreadPoolExecutor(1) as beside:
                files_written = beside.submit(
                    write_image_results, results.path, layout, m, mask=extras["mask"], probabilities=found, **keep
                )
                verdicts = judge(m, remarks)
                held = files_written.result()
            written = force or not verdicts.worse
            if written:
                remarks += held
            else:
                for path in corrected_files(results.path, layout, **keep):
                    path.unlink()
            steps.begin("Writing the report")
            record = conclude(
                results,
                m,
                verdicts,
                kind="image",
                title=", ".join(path.name for path in files),
                settings=settings,
                inputs=_facts(layout, mask, weights),
                remarks=remarks,
                seconds=seconds,
                more={"layout": describe(layout)},
                affine=layout.files[0].affine if m.smooth_.ndim == 3 else None,
                image=layout.image,
                names=[file.name for file in layout.files] if len(layout.files) > 1 else None,
            )
        tell(out, m, verdicts, record, quiet=quiet, as_json=as_json)
    end_if_worse(out, verdicts, written=written, what="the corrected image")


def _read(
    files: list[Path], mask: Path | None, weights: Path | None, settings: dict[str, Any], remarks: list[str]
) -> tuple["ImageLayout", dict[str, Any]]:
    """Read all files, on the grid of the first."""
    import numpy as np

    from stepsmooth.files import InputError, lay_out, read_image_file

    layout = lay_out(
        [read_image_file(path) for path in files], channel_axis=settings["channel_axis"], spacing=settings["spacing"]
    )
    remarks += layout.remarks
    extras: dict[str, Any] = {"mask": None, "weights": None}
    for name, path in (("mask", mask), ("weights", weights)):
        if path is None:
            continue
        values, remark = layout.on_grid(read_image_file(path), f"--{name}")
        remarks += [remark] if remark is not None else []
        extras[name] = (values != 0.0) & ~np.isnan(values) if name == "mask" else values
    if extras["mask"] is not None and not extras["mask"].any():
        raise InputError(f"--mask {mask} is empty: no voxel is inside.")
    return layout, extras


def _fit(
    layout: "ImageLayout", extras: dict[str, Any], count: int | str, settings: dict[str, Any], steps: Any
) -> "GridStepSmooth":
    from stepsmooth import GridStepSmooth

    m = GridStepSmooth(
        count,
        multiplicative=not settings["additive"],
        channel_axis=layout.channel_axis,
        series_axis=layout.series_axis,
        spacing=layout.spacing if layout.in_mm else None,
        solver=str(settings["solver"]),
        label_prior=str(settings["prior"]),
        noise="rician" if settings["rician"] else "gaussian",
        callback=steps.round,
        random_state=settings["seed"],
    )
    page = settings["preset"] == ImagePreset.DOCUMENT and settings["solver"] == "altmin" and not settings["additive"]
    image = _without_black(layout.image) if page else layout.image
    m.fit(image, mask=extras["mask"], weights=extras["weights"])
    m.callback = None
    return m


def _if_small(layout: "ImageLayout") -> list[str]:
    """Return what a user should be told of an image that is smaller than a head."""
    from stepsmooth.estimators.lengths import SHORTEST

    space = [n for n in layout.grid if n > 1]
    side = max(n * h for n, h in zip(space, layout.spacing))
    if not layout.in_mm or side >= SHORTEST:
        return []
    name = layout.files[0].path.name
    return [f"{name} is {side:.3g} mm wide, smaller than a head: how fast its field may change goes by its size."]


def _without_black(image: "Array") -> "Array":
    """Return a page with 0 as half a step of eight bits: ink as black as can be has no logarithm, and so no label."""
    import numpy as np

    least = np.float32(np.nanmax(image) / 512.0)
    return np.where((image >= 0) & (image < least), least, image)


def _facts(layout: "ImageLayout", mask: Path | None, weights: Path | None) -> list[dict[str, Any]]:
    from stepsmooth.files.image_file import checksum

    facts = [{"role": "image", **file.facts()} for file in layout.files]
    for role, path in (("mask", mask), ("weights", weights)):
        if path is not None:
            facts.append({"role": role, "name": path.name, "sha256": checksum(path)})
    return facts
