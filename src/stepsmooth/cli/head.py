"""The images of the demo: a head under a bias field, as a slice and as a volume, with the answer known."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from stepsmooth import GridStepSmooth
    from stepsmooth.datasets import StepImage

TISSUES = ("CSF", "GM", "WM")


def head_slice() -> "StepImage":
    """Return a slice of the brain under a coil's field of five to one and 3 % noise."""
    from stepsmooth.datasets import make_head_phantom

    return make_head_phantom((181, 217), classes=TISSUES, strip=True, ratio=5.0, noise=3.0, random_state=0)


def report_head(path: Path) -> "tuple[StepImage, GridStepSmooth]":
    """Decompose the whole brain in voxels of 3 mm, and write the report of it."""
    import numpy as np

    from stepsmooth.datasets import make_head_phantom
    from stepsmooth.report import write

    head = make_head_phantom((60, 72, 60), classes=TISSUES, strip=True, ratio=5.0, noise=3.0, random_state=0)
    model, _ = timed_head(head)
    affine = np.diag([*head.spacing, 1.0])
    affine[:3, 3] = -(np.array(head.image.shape) - 1) / 2 * head.spacing
    write(
        model,
        path,
        title="A head under a bias field",
        affine=affine,
        image=head.image,
        inputs={"source": "stepsmooth.datasets.make_head_phantom", "field": "coil, 5 to 1", "noise": "3 %"},
    )
    return head, model


def timed_head(head: "StepImage") -> tuple["GridStepSmooth", float]:
    """Fit, and say how many seconds that took."""
    from stepsmooth import GridStepSmooth

    begin = perf_counter()
    model = GridStepSmooth(len(TISSUES), spacing=head.spacing).fit(head.image, mask=head.mask)
    return model, perf_counter() - begin


def tell_head(console: Console, head: "StepImage", model: "GridStepSmooth", seconds: float) -> None:
    """Print the answer beside the truth, and beside a k-means of the image as it is."""
    import numpy as np

    from stepsmooth.metrics import field_rmse, label_accuracy
    from stepsmooth.model.kmeans import kmeans_1d

    inside = head.mask
    rival = kmeans_1d(head.image[inside].astype(float), len(TISSUES))[1]
    console.print(f"[bold]A slice of a head under a bias field: {int(inside.sum()):,} voxels in the mask")
    table = Table(box=None)
    table.add_column("", style="dim")
    for heading in ("truth", "recovered", "k-means"):
        table.add_column(heading, justify="right")
    # Only field times constant is identified: the true levels are shown with the true log field centred.
    unit = float(np.exp(np.mean(head.smooth[inside])))
    for k, name in enumerate(head.names):
        table.add_row(name, f"{head.levels[k] * unit:.3f}", f"{model.levels_[k]:.3f}", "")
    right = [label_accuracy(head.labels[inside], labels) for labels in (model.labels_[inside], rival)]
    table.add_row("labels right", "", *(f"{share:.1%}" for share in right))
    table.add_row("log field, rms error", "", f"{field_rmse(head.smooth[inside], model.smooth_[inside]):.4f}", "")
    table.add_row("seconds", "", f"{seconds:.1f}", "")
    console.print(table)
    console.print()


def tell_report(console: Console, head: "StepImage", model: "GridStepSmooth", path: Path) -> None:
    """Print where the report is, and what it is about."""
    from stepsmooth.metrics import label_accuracy

    right = label_accuracy(head.labels[head.mask], model.labels_[head.mask])
    size = " by ".join(str(n) for n in head.image.shape)
    console.print(f"The same head as a volume of {size} voxels: {right:.1%} of its labels agree with the truth.")
    console.print(f"Its report, to open in a browser: {path}", soft_wrap=True, markup=False)
