"""``stepsmooth demo``: four decompositions with a known answer, in words and in pictures."""

from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from stepsmooth.cli.terminal import output_folder, progress, refuse

if TYPE_CHECKING:
    from stepsmooth.estimators import StepSmooth
    from stepsmooth.model.arrays import Anything

Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Where the pictures go; created if need be.")]
KMEANS, ALTMIN = "k-means of y alone", "AltMin"


class Timed(NamedTuple):
    """A fitted estimator, the seconds it took, and those of the first call if that had to compile."""

    model: "StepSmooth"
    seconds: float
    first: float | None


def demo(out: Out = Path("demo")) -> None:
    """Decompose four data sets whose answer is known, and show how close the answer comes.

    First the paper's model, a sine wave with three levels and noise, beside a k-means of y alone; then the same
    with labels that last, by the joint solver beside AltMin; then points scattered over a checkerboard that a hill
    hides; then a slice of a head under a bias field. Numbers are printed, pictures are written. The demo ends with a
    report of the whole head: one HTML file with a viewer.

    Example:  stepsmooth demo --out demo
    """
    folder = output_folder(out)
    with progress(total=7) as steps:
        steps.begin("Importing numerics")
        import matplotlib as mpl

        mpl.use("Agg")  # files only: no window system is asked for
        from stepsmooth.cli.head import head_slice, report_head, tell_head, tell_report, timed_head
        from stepsmooth.cli.scattered import scattered_points
        from stepsmooth.datasets import make_markov_steps, make_sine_steps
        from stepsmooth.peers import kmeans_levels
        from stepsmooth.report import DecompositionDisplay, ImageDisplay, contrast_figure, save_figure

        steps.begin("Decomposing a signal (compiling, the first time)")
        signal = make_sine_steps(1_000, 3, 3, noise_variance=0.05, random_state=0)
        line = timed_fit(signal, compiling=True)
        rival = kmeans_levels(signal.x, signal.y, 3)

        steps.begin("Decomposing a signal whose labels last (compiling, the first time)")
        lasting = make_markov_steps(500, 3, 2, switching=0.03, noise_variance=0.05, random_state=0)
        chain = timed_fit(lasting, solver="joint", compiling=True)
        swallowed = timed_fit(lasting).model
        beside = SimpleNamespace(labels=swallowed.labels_, levels=swallowed.levels_, smooth=swallowed.smooth_)

        steps.begin("Decomposing scattered points")
        points = scattered_points(random_state=0)
        plane = timed_fit(points)

        steps.begin("Decomposing a slice of a head (compiling, the first time)")
        head = head_slice()
        brain, seconds = timed_head(head)

        steps.begin("Drawing")
        figures = {
            "decomposition.png": contrast_figure(
                line.model, signal.X, signal.y, rival=rival, name=KMEANS, truth=signal
            ),
            "lasting.png": contrast_figure(chain.model, lasting.X, lasting.y, rival=beside, name=ALTMIN, truth=lasting),
            "scattered.png": DecompositionDisplay.from_estimator(plane.model, points.X, points.y, truth=points).figure_,
            "head.png": ImageDisplay.from_estimator(brain, head.image, truth=head).figure_,
        }
        try:
            written = [save_figure(figure, folder / name, colours=256) for name, figure in figures.items()]
            steps.begin("Decomposing a whole head, and writing its report")
            volume, whole = report_head(folder / "head.html")
        except OSError as error:
            refuse(f"--out {out} cannot be written to: {error.strerror}.")

    console = Console(highlight=False)
    tell(console, "A sine wave with three levels (the paper's model)", signal, line, rival, KMEANS)
    tell(console, "The same with labels that last, by the joint solver", lasting, chain, beside, ALTMIN)
    tell(console, "Points scattered over a checkerboard, under a hill", points, plane)
    tell_head(console, head, brain, seconds)
    console.print("Pictures: " + ", ".join(str(path) for path in written), soft_wrap=True, markup=False)
    tell_report(console, volume, whole, folder / "head.html")


def timed_fit(data: "Anything", *, solver: str = "altmin", compiling: bool = False) -> Timed:
    """Fit, twice if the first call compiles: its seconds are told apart."""
    from stepsmooth import StepSmooth

    def run() -> tuple["StepSmooth", float]:
        begin = perf_counter()
        model = StepSmooth(n_levels=len(data.levels), solver=solver).fit(data.X, data.y)
        return model, perf_counter() - begin

    model, first = run()
    seconds = run()[1] if compiling else first
    return Timed(model, seconds, first if first > 2 * seconds else None)


def tell(
    console: Console, title: str, data: "Anything", fitted: Timed, rival: "Anything" = None, name: str = ""
) -> None:
    """Print the answer beside the truth, and beside another method's answer if there is one."""
    import numpy as np

    from stepsmooth.metrics import bayes_oracle, field_rmse, ordered_accuracy

    model = fitted.model
    console.print(f"[bold]{title}: {len(data.y):,} points")
    table = Table(box=None)
    table.add_column("", style="dim")
    for heading in ["truth", "recovered"] + ([name] if rival is not None else []):
        table.add_column(heading, justify="right")

    def row(what: str, truth: str, recovered: str, other: str) -> None:
        table.add_row(what, truth, recovered, *([other] if rival is not None else []))

    def accuracy(labels: "Anything") -> str:
        return f"{ordered_accuracy(data.labels, labels):.1%}"

    # Only smooth + constant is identified: the true levels are shown with the true smooth part centred.
    for k, level in enumerate(data.levels + data.smooth.mean()):
        row(f"level {k}", f"{level:.2f}", f"{model.levels_[k]:.2f}", f"{rival.levels[k]:.2f}" if rival else "")
    row("labels right", "", accuracy(model.labels_), accuracy(rival.labels) if rival else "")
    parts = [model.smooth_, rival.smooth if rival else 0 * data.smooth]
    errors = [f"{field_rmse(data.smooth, part):.3f}" for part in parts]
    row("smooth part, rms error", "", *errors)
    row("noise variance", f"{data.noise_variance:.3f}", f"{np.mean(model.noise_variance_):.3f}", "")
    row("seconds", "", f"{fitted.seconds:.3f}", "")
    console.print(table)

    # Where labels last, neighbours tell: the oracle uses the chain as well.
    chain = getattr(model, "transition_matrix_", None)
    best = bayes_oracle(data.y, data.smooth, data.levels, data.noise_variance, transition_matrix=chain)
    console.print(f"Whoever knew everything but the labels would have {accuracy(best)} of them right.")
    if fitted.first is not None:
        remark = "it includes compiling the loops, or loading them compiled"
        console.print(f"The first call took {fitted.first:.1f} s: {remark}.")
    console.print()
