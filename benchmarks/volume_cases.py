"""Cases of the volume benchmark, each defined once: an image, what is told about it, and the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stepsmooth.datasets import LabelVolume, StepImage, make_field, simulate_scan

from .harness import SEED
from .tables import Claim
from .volume_data import BRAIN, axial, genuine_slice, inhomogeneity, normal_head, subject_head

ERRORS = ("field_rmse", "field_sd", "inconsistent", "loss")  # the less the better
THREE = ("T1w", "T2w", "PDw")
SMALL = (60, 72, 60)  # the grid of a quick run
SMALL_SLICE = (90, 108)


@dataclass(frozen=True, eq=False)
class Task:
    """An image to take apart."""

    scan: StepImage
    masked: bool = True  # whether the mask is told
    field_known: bool = True
    bayes: bool = True  # whether noise alone separates image and labels
    added: np.ndarray | None = None  # a log field put onto a real scan, whose own is unknown

    @property
    def n_levels(self) -> int:
        """Levels to look for, air not counted."""
        return len(self.scan.levels)


@dataclass(frozen=True)
class Case:
    """A row of the table: how to make its images, how many, and what must be reached."""

    name: str
    make: Callable[[int, bool], Task]  # of the number of the dataset, and whether the run is a quick one
    count: int = 5
    targets: tuple[tuple[str, str, float | str], ...] = ()  # method, column, figure to reach or method to equal
    slow: bool = True  # too large for csaps and LapGM

    def claims(self, find: Callable[..., float | None], wanted: Callable[[str], bool]) -> list[Claim]:
        """Compare what was measured with what must be reached, for the methods that were asked for."""
        out = []
        for method, column, target in self.targets:
            figure = find(column, case=self.name, method=target) if isinstance(target, str) else target
            if wanted(method) and figure is not None:
                beside = f", beside {target}" if isinstance(target, str) else ""
                value = find(column, case=self.name, method=method)
                sense = "at most" if column in ERRORS else "at least"
                out.append(Claim(f"{self.name}: {column} of {method}{beside}", value, figure, sense))
        return out


def brain(number: int, quick: bool, *, flat: bool, kind: str, ratio: float, noise: float) -> Task:
    """Three tissues of the normal head under a drawn field, the mask told."""
    head = normal_head((SMALL_SLICE if flat else SMALL) if quick else None)
    volume = axial(head, 90) if flat else head
    return Task(simulate_scan(volume, classes=BRAIN, field=kind, ratio=ratio, noise=noise, random_state=SEED + number))


def ten(number: int, quick: bool, *, contrasts: tuple[str, ...]) -> Task:
    """Ten tissues of subject 05 at 3 T, under BrainWeb's field B at 100 %."""
    head = subject_head(SMALL if quick else None)
    field = inhomogeneity("B", 100, head) if not quick else "poly"
    return Task(simulate_scan(head, contrasts=contrasts, field=field, noise=3.0, random_state=SEED + number))


def no_mask(number: int, quick: bool, *, noise: float, strip: bool) -> Task:
    """The head in air, nothing told: brain alone (four classes with air), or with scalp and all."""
    head = normal_head(SMALL if quick else None)
    classes = BRAIN if strip else None
    scan = simulate_scan(head, classes=classes, strip=strip, field="coil", noise=noise, random_state=SEED + number)
    return Task(scan, masked=False)


def genuine(number: int, quick: bool, *, files: tuple[str, ...]) -> Task:
    """Slices as BrainWeb's simulator gave them, against the labels; the field is known for T1 alone."""
    images = np.stack([genuine_slice(file) for file in files], axis=-1)
    head = normal_head()
    labels = axial(head, 94)
    plan = simulate_scan(labels, classes=BRAIN, noise=0.0)
    known = files == ("BrainT1Slice.png",)
    smooth = inhomogeneity("A", 20, head)[:, :, 94] if known else np.zeros(labels.labels.shape, dtype=np.float32)
    tissue = plan.labels if known or len(files) > 1 else np.where(plan.mask, 2 - plan.labels, -1).astype(np.int16)
    flat = images * np.exp(-smooth)[..., None]
    levels = np.stack([flat[tissue == k].mean(axis=0) for k in range(3)])
    scan = replace(
        plan,
        image=images if len(files) > 1 else images[..., 0],
        labels=tissue,  # in proton density CSF is the brightest
        levels=levels if len(files) > 1 else levels[:, 0],
        smooth=smooth,
        contrasts=files,
    )
    return Task(scan, field_known=known, bayes=False)


def harmless(number: int, quick: bool) -> Task:
    """A slice without a field, with texture and partial volume: nothing to correct."""
    head = axial(normal_head(SMALL_SLICE if quick else None), 90)
    scan = simulate_scan(
        head, classes=BRAIN, noise=3.0, texture=0.15, partial_volume=1.5, random_state=SEED + 500 + number
    )
    return Task(scan, bayes=False)


def average_brain(number: int, quick: bool) -> Task:
    """ICBM152 at 2 mm, from nilearn's wheel: an average of real scans; the field added to it is known."""
    from nilearn.datasets import load_mni152_brain_mask, load_mni152_template

    image = np.asarray(load_mni152_template(resolution=2).dataobj, dtype=np.float32)
    mask = np.asarray(load_mni152_brain_mask(resolution=2).dataobj) > 0
    mask &= image > 0
    volume = LabelVolume(mask.astype(np.uint8) * 3, normal_head(SMALL).names, (2.0, 2.0, 2.0))
    plan = simulate_scan(volume, classes=["WM"], noise=0.0)
    scan = replace(plan, image=image / np.float32(image[mask].max()), levels=np.ones(3))
    added = make_field(mask, "coil", 5.0, spacing=volume.spacing, random_state=SEED + number)
    return Task(scan, field_known=False, bayes=False, added=added)


BAYES = "pixelwise Bayes"
OURS, POTTS, PLAIN = "stepsmooth", "stepsmooth, potts", "stepsmooth, no potts"
_COIL = partial(brain, kind="coil")

CASES = (
    Case(
        "volume-coil-3",
        partial(_COIL, flat=False, ratio=5.0, noise=3.0),
        5,
        ((OURS, "field_rmse", 0.0015), (OURS, "times_n4", 10.0)),
    ),
    Case(
        "volume-coil-9",
        partial(_COIL, flat=False, ratio=5.0, noise=9.0),
        5,
        ((PLAIN, "accuracy", 0.922), (POTTS, "accuracy", 0.988)),
    ),
    Case(
        "slice-coil-9",
        partial(_COIL, flat=True, ratio=12.0, noise=9.0),
        10,
        ((PLAIN, "accuracy", 0.893), (POTTS, "accuracy", 0.96)),
        slow=False,
    ),
    Case("slice-coil-0", partial(_COIL, flat=True, ratio=12.0, noise=0.0), 5, (), slow=False),
    Case(
        "slice-rough-3",
        partial(brain, kind="rough", flat=True, ratio=12.0, noise=3.0),
        10,
        ((OURS, "accuracy", 0.993),),
        slow=False,
    ),
    Case("ten-1", partial(ten, contrasts=("T1w",)), 2, ((OURS, "bayes_gap", -0.01),)),
    Case("ten-3", partial(ten, contrasts=THREE), 2, ((OURS, "accuracy", 0.995), (OURS, "dice_min", 0.8))),
    # With the scalp two levels are .8 sd of 9 % noise apart: knowing everything, a voxel alone is right in .85.
    *(
        Case(f"{name}-{noise}", partial(no_mask, noise=float(noise), strip=strip), 3, ((OURS, "accuracy", reach),))
        for name, strip in (("air", True), ("head", False))
        for noise, reach in ((0, 0.995), (3, 0.99), (9, 0.97))
    ),
    *(
        Case(
            f"genuine-{name}",
            partial(genuine, files=files),
            1,
            ((OURS, "accuracy", reach), (OURS, "field_rmse", "kmeans raw")),  # the latter where the field is known
            slow=False,
        )
        for name, files, reach in (
            ("t1", ("BrainT1Slice.png",), 0.966),
            ("pd", ("BrainProtonDensitySlice.png",), 0.871),
            ("both", ("BrainT1Slice.png", "BrainProtonDensitySlice.png"), 0.970),
        )
    ),
    Case(
        "icbm152",
        average_brain,
        3,
        ((OURS, "inconsistent", "N4, to 1e-6"), (OURS, "field_sd", "N4, to 1e-6")),
    ),
    Case("harmless", harmless, 20, ((OURS, "loss", 0.001), (OURS, "field_sd", 0.01)), slow=False),
)
