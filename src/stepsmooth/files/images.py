"""Images in and out, whatever their format: what decides is the ending of the name."""

from pathlib import Path

from stepsmooth.files import nifti, pictures
from stepsmooth.files.errors import InputError, reason
from stepsmooth.files.image_file import Array, ImageFile

_READERS = {
    ".nii": nifti.read_nifti,
    ".hdr": nifti.read_nifti,
    ".img": nifti.read_nifti,
    ".tif": pictures.read_tiff,
    ".tiff": pictures.read_tiff,
    ".png": pictures.read_png,
    ".npy": pictures.read_npy,
}


def read_image_file(path: Path) -> ImageFile:
    """Read an image: NIfTI, TIFF, PNG or NPY.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    ImageFile

    Examples
    --------
    >>> read_image_file(Path("no/such/T1w.nii.gz"))
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: no/such/T1w.nii.gz does not exist.
    """
    check_readable(path)
    name = path.name.lower()
    ending = Path(name[:-3] if name.endswith(".gz") else name).suffix
    reader = _READERS.get(ending)
    if reader is None or (name.endswith(".gz") and reader is not nifti.read_nifti):
        known = ", ".join(["NIfTI (.nii, .nii.gz, .hdr/.img)", "TIFF (.tif)", "PNG (.png)", "NPY (.npy)"])
        raise InputError(f"{path} is of an unknown kind: {known} are read.")
    return reader(path)


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, is a folder, is empty or may not be read."""
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file.")
    try:
        with open(path, "rb") as handle:
            if not handle.read(1):
                raise InputError(f"{path} is empty.")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}.") from error


def ending_for(like: ImageFile, *, keep_dtype: bool = False) -> str:
    """Return the ending of a file that is written like another: PNG cannot hold float32, and becomes TIFF.

    Examples
    --------
    >>> import numpy as np
    >>> page = ImageFile(Path("page.png"), "png", np.zeros((4, 5)), "YX", np.dtype("uint8"))
    >>> ending_for(page), ending_for(page, keep_dtype=True)
    ('.tif', '.png')
    """
    if like.format == "png":
        return ".png" if keep_dtype else ".tif"
    return {"nifti": ".nii.gz", "tiff": ".tif", "npy": ".npy"}[like.format]


def write_image_file(path: Path, values: Array, like: ImageFile, *, purpose: str = "", keep_dtype: bool = False) -> int:
    """Write values on the grid of another image, in the format that the ending says.

    Parameters
    ----------
    path : pathlib.Path
        As :func:`ending_for` has it.
    values : array
    like : ImageFile
        The image whose header is kept.
    purpose : str
        Empty for an image like the other, else what it is: "field", "labels", "mask", "probabilities".
    keep_dtype : bool
        Round to the type of the file that was read.

    Returns
    -------
    int
        How many values lay outside the range of that type, and were held at its end.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> like = ImageFile(Path("a.npy"), "npy", np.zeros((2, 2)), "XY", np.dtype("uint8"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     held = write_image_file(Path(folder) / "b.npy", np.full((2, 2), 300.0), like, keep_dtype=True)
    ...     held, np.load(Path(folder) / "b.npy").max()
    (4, np.uint8(255))
    """
    ending = Path(path.name[:-3] if path.name.endswith(".gz") else path.name).suffix.lower()
    if ending == ".nii":
        return nifti.write_nifti(path, values, like, purpose=purpose, keep_dtype=keep_dtype)
    if ending == ".png":
        return pictures.write_png(path, values, like)
    write = pictures.write_npy if ending == ".npy" else pictures.write_tiff
    return write(path, values, like, keep_dtype=keep_dtype)
