"""Data of the volume benchmarks: BrainWeb's labels, fields and slices where they are, the embedded head where not.

The folder is the one that STEPSMOOTH_DATA names; it is never part of the project.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

from stepsmooth.datasets import LabelVolume, load_brainweb, make_head_labels

BRAIN = ("CSF", "GM", "WM")
_ORIGIN = np.array([-90.0, -126.0, -72.0])  # mm, the first voxel of every BrainWeb phantom


def folder() -> Path | None:
    """Where BrainWeb lies, if anywhere."""
    given = os.environ.get("STEPSMOOTH_DATA")
    place = Path(given) / "brainweb" if given else None
    return place if place is not None and place.is_dir() else None


def source(quick: bool = False) -> str:
    """Say which head the figures are for."""
    if quick:
        return "the embedded head, coarse"
    return "BrainWeb" if folder() else "the embedded head (set STEPSMOOTH_DATA for BrainWeb)"


@cache
def normal_head(shape: tuple[int, ...] | None = None) -> LabelVolume:
    """BrainWeb's normal phantom; a shape asks for the embedded head at that resolution."""
    if shape is None and folder():
        return load_brainweb()
    return make_head_labels(shape or (181, 217, 181), random_state=900_000)


@cache
def subject_head(shape: tuple[int, ...] | None = None) -> LabelVolume:
    """BrainWeb's subject 05, with ten tissues; a shape asks for the embedded head."""
    if shape is None and folder():
        return load_brainweb(subject=5)
    return make_head_labels(shape or (181, 217, 181), random_state=900_005)


def axial(volume: LabelVolume, index: int) -> LabelVolume:
    """One slice of a volume; a slice is returned as it is."""
    if volume.labels.ndim == 2:
        return volume
    return LabelVolume(np.ascontiguousarray(volume.labels[:, :, index]), volume.names, volume.spacing[:2])


def inhomogeneity(which: str, percent: float, volume: LabelVolume) -> np.ndarray:
    """BrainWeb's own field on a phantom's grid, as a log field; a random cubic where BrainWeb is absent."""
    place = folder()
    if place is None:
        from stepsmooth.datasets import make_field

        return make_field(volume.labels > 0, "poly", 2.0, spacing=volume.spacing, random_state=900_001)
    import nibabel
    from scipy.ndimage import gaussian_filter, map_coordinates

    stored = nibabel.load(place / f"inu_{which}_100.nii.gz")
    values = np.asarray(stored.dataobj, dtype=np.float64)
    values[:, :, 0] = values[:, :, 1]  # the lowest plane is an artefact of resampling
    factor = gaussian_filter(1 + percent / 100 * (values - 5), 2 / 1.5, mode="nearest")  # steps of uint8, 2 mm
    to_index = np.linalg.inv(stored.affine)
    size = np.array(volume.spacing)
    axes = [_ORIGIN[a] + size[a] * np.arange(n) for a, n in enumerate(volume.labels.shape)]
    # Both grids are aligned with the axes, so each index depends on one coordinate alone.
    index = [to_index[a, a] * axes[a] + to_index[a, 3] for a in range(3)]
    field = map_coordinates(factor, np.meshgrid(*index, indexing="ij"), order=1, mode="nearest")
    return np.log(field).astype(np.float32)


def genuine_slice(name: str) -> np.ndarray:
    """A slice as BrainWeb's own simulator gave it, on the phantom's x and y."""
    from matplotlib.image import imread

    place = folder()
    if place is None:
        raise FileNotFoundError("the genuine slices lie with BrainWeb: set STEPSMOOTH_DATA")
    pixels = imread(place / name)
    grey = pixels[..., 0] if pixels.ndim == 3 else pixels
    return np.ascontiguousarray(grey.T[:180, :216], dtype=np.float32)
