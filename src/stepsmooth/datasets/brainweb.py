"""BrainWeb's maps of tissues, read from a file: any format that nibabel reads, and raw bytes.

Cite Collins et al. (1998), IEEE Transactions on Medical Imaging 17, for the normal phantom, and
Aubert-Broche et al. (2006), IEEE Transactions on Medical Imaging 25, for the twenty subjects.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .step_image import LabelVolume
from .tissues import BRAINWEB_1_5T, BRAINWEB_3T

_SOURCE = "https://brainweb.bic.mni.mcgill.ca"
_ENDINGS = (".nii.gz", ".nii", ".mnc.gz", ".mnc", ".mgz", ".rawb.gz", ".rawb")
_NORMAL = ("normal_crisp_1mm", "phantom_1.0mm_normal_crisp")
# Grids of the distributed raw files, from left to right, back to front and bottom to top, with the voxel in mm.
_RAW_GRIDS = {(181, 217, 181): 1.0, (362, 434, 362): 0.5, (256, 256, 181): 1.0}


def load_brainweb(path: str | os.PathLike[str] | None = None, *, subject: str | int = "normal") -> LabelVolume:
    """Read a BrainWeb phantom: the tissue of each voxel.

    Parameters
    ----------
    path : str or path-like, optional
        The file, or a folder to look in (there, or in its folder ``brainweb``); by default the folder that the
        environment variable ``STEPSMOOTH_DATA`` names. A file may be NIfTI, MINC or anything else that nibabel
        reads, or BrainWeb's raw bytes (``.rawb``), compressed or not.
    subject : "normal" or int, default "normal"
        Which phantom to look for in a folder: the normal one, with ten labels, or the number of one of the twenty
        subjects (4, 5, 6, 18, 20, 38, 41 to 54), with twelve.

    Returns
    -------
    LabelVolume
        The tissues, their names and the voxel size, with axes from left to right, back to front, bottom to top
        as far as the file says. A map with a label above 9 has the names of the twenty subjects, and so has any
        file whose name begins with ``subject``.

    Raises
    ------
    FileNotFoundError
        Where there is no such file; the message says where to get it.

    See Also
    --------
    simulate_scan : From tissues to an image.
    make_head_labels : A head that needs no file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import nibabel
    >>> import numpy as np
    >>> from stepsmooth.datasets import load_brainweb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "normal_crisp_1mm.nii.gz"
    ...     nibabel.save(nibabel.Nifti1Image(np.full((4, 5, 6), 3, dtype=np.uint8), np.eye(4)), path)
    ...     volume = load_brainweb(folder)
    >>> volume.labels.shape, volume.names[3], volume.spacing
    ((4, 5, 6), 'WM', (1.0, 1.0, 1.0))
    """
    file = _find(path, subject)
    labels, spacing = _read_raw(file) if ".rawb" in file.name else _read_image(file)
    many = labels.max() >= len(BRAINWEB_1_5T) or file.name.startswith("subject")
    names = tuple(BRAINWEB_3T if many else BRAINWEB_1_5T)
    if labels.max() >= len(names):
        raise ValueError(
            f"path must be a map of BrainWeb labels, 0 to {len(names) - 1}; found {labels.max()} in {file}."
        )
    return LabelVolume(labels=labels.astype(np.uint8), names=names, spacing=spacing)


def _find(path: str | os.PathLike[str] | None, subject: str | int) -> Path:
    """Return the file that is meant, or say where to get one."""
    stems = _stems(subject)
    given = os.environ.get("STEPSMOOTH_DATA") if path is None else path
    if not given:
        raise FileNotFoundError(_missing("path was not given and STEPSMOOTH_DATA is not set", subject))
    place = Path(given)
    if place.is_file():
        return place
    for folder in (place, place / "brainweb"):
        for stem in stems:
            for ending in _ENDINGS:
                if (folder / (stem + ending)).is_file():
                    return folder / (stem + ending)
    found = f"path {str(place)!r} holds no such file" if place.is_dir() else f"path {str(place)!r} does not exist"
    raise FileNotFoundError(_missing(found, subject))


def _stems(subject: str | int) -> tuple[str, ...]:
    if subject == "normal":
        return _NORMAL
    if isinstance(subject, bool) or not isinstance(subject, int) or subject < 0:
        raise ValueError(f"subject must be 'normal' or the number of one of the twenty subjects; found {subject!r}.")
    return (f"subject{subject:02d}_crisp_1mm", f"subject{subject:02d}_crisp_v", f"subject{subject:02d}_crisp")


def _missing(found: str, subject: str | int) -> str:
    which = "the normal phantom" if subject == "normal" else f"subject {subject}"
    return (
        f"{found}: fetch BrainWeb's anatomical model of {which} from {_SOURCE}"
        f" and pass its file, or name its folder in STEPSMOOTH_DATA as {_stems(subject)[-1]}{_ENDINGS[-1]}"
        f" (or {', '.join(_ENDINGS[:-1])}); make_head_labels needs no file."
    )


def _read_image(file: Path) -> tuple[NDArray[np.int64], tuple[float, ...]]:
    import nibabel  # slow to load, and not needed by the generators

    image = nibabel.load(file)
    nearest = nibabel.as_closest_canonical(image)  # type: ignore[no-untyped-call]  # right, forward, up, whatever the file's order
    values = np.asanyarray(nearest.dataobj).squeeze()
    labels = np.rint(values).astype(np.int64)
    if values.ndim != 3 or not np.all(np.abs(values - labels) < 0.01) or labels.min() < 0:
        raise ValueError(
            "path must be a three-dimensional map of whole numbers from 0; "
            f"found shape {values.shape} with values from {values.min():g} to {values.max():g} in {file}."
        )
    return labels, tuple(float(step) for step in nearest.header.get_zooms()[:3])


def _read_raw(file: Path) -> tuple[NDArray[np.int64], tuple[float, ...]]:
    raw = gzip.decompress(file.read_bytes()) if file.name.endswith(".gz") else file.read_bytes()
    for (nx, ny, nz), step in _RAW_GRIDS.items():
        if len(raw) == nx * ny * nz:  # x varies fastest
            values = np.frombuffer(raw, dtype=np.uint8).reshape(nz, ny, nx).transpose(2, 1, 0)
            return values.astype(np.int64), (step,) * 3
    sizes = ", ".join("x".join(map(str, grid)) for grid in _RAW_GRIDS)
    raise ValueError(f"path must be raw bytes on a grid of {sizes}; found {len(raw)} bytes in {file}.")
