"""Whether two images lie on the same grid of the world, in whatever order and direction their axes run."""

from dataclasses import dataclass

import numpy as np

from stepsmooth.files.errors import InputError
from stepsmooth.files.image_file import Array, ImageFile

# Corners may lie this far apart, in voxels: header fields are single precision, and scanners round.
TOLERANCE = 0.05
# Below this they are the same, and nothing needs to be said.
EXACT = 1e-3


@dataclass(frozen=True)
class Match:
    """How the axes of an image run on the grid of another: which axis each is, and which run backwards.

    Attributes
    ----------
    order : tuple of int
        The axis of the image that is the first, second, ... of the grid.
    backwards : tuple of int
        The axes of the grid along which the image runs backwards.
    remark : str or None
        What a user should be told.
    """

    order: tuple[int, ...]
    backwards: tuple[int, ...]
    remark: str | None = None

    def to_grid(self, array: Array) -> Array:
        """Return an array with the image's axes, on the grid; further axes stay last."""
        rest = range(len(self.order), array.ndim)
        return np.flip(np.transpose(array, (*self.order, *rest)), self.backwards)

    def from_grid(self, array: Array) -> Array:
        """Return an array on the grid with the image's own axes."""
        rest = range(len(self.order), array.ndim)
        back = (*np.argsort(self.order).tolist(), *rest)
        return np.transpose(np.flip(array, self.backwards), back)


def match(image: ImageFile, reference: ImageFile) -> Match:
    """Return how an image lies on the grid of another, or refuse with a sentence that says how far it is off.

    Parameters
    ----------
    image, reference : ImageFile
        Their axes of space come first.

    Returns
    -------
    Match
        Its remark is set unless both lie at the same place, axis by axis.

    Examples
    --------
    >>> from pathlib import Path
    >>> def at(name, affine):
    ...     array = np.zeros((4, 5, 6))
    ...     return ImageFile(Path(name), "nifti", array, "XYZ", array.dtype, affine=np.array(affine, dtype=float))
    >>> image = at("T1w.nii", np.eye(4))
    >>> flipped = at("mask.nii", [[-1, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> match(flipped, image).remark
    'mask.nii runs along other axes or directions than T1w.nii; it was turned to match, by world space.'
    >>> match(at("mask.nii", np.diag([1, 1, 2, 1])), image)
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: mask.nii lies elsewhere than T1w.nii: corners are up to 5 mm apart ...
    """
    names = f"{image.path.name} and {reference.path.name}"
    ours, theirs = image.space, reference.space
    plain = tuple(range(len(theirs)))
    if image.affine is None or reference.affine is None:
        if ours != theirs:
            raise InputError(f"{names} differ in shape: {_size(ours)} and {_size(theirs)} voxels.")
        blind = image if image.affine is None else reference
        both = image.affine is None and reference.affine is None
        remark = None if both else f"{names} were matched by shape alone: {blind.path.name} has no place in the world."
        return Match(plain, (), remark)
    moved = np.linalg.inv(reference.affine) @ image.affine
    turn = np.rint(moved[:3, :3])
    ours3, theirs3 = _three(ours), _three(theirs)
    if sorted(ours) != sorted(theirs):
        raise InputError(f"{names} differ in shape: {_size(ours)} and {_size(theirs)} voxels.")
    proper = np.array_equal(np.abs(turn).sum(axis=0), np.ones(3)) and np.array_equal(np.abs(turn).sum(1), np.ones(3))
    order = tuple(int(a) for a in np.abs(turn).argmax(axis=1)) if proper else (0, 1, 2)
    if not proper or tuple(ours3[a] for a in order) != theirs3:
        turn, order = np.eye(3), (0, 1, 2)
        if ours != theirs:
            raise InputError(f"{names} differ in shape: {_size(ours)} and {_size(theirs)} voxels.")
    backwards = tuple(a for a in range(3) if turn[a, order[a]] < 0)
    corners = np.array(np.meshgrid(*[(0, n - 1) for n in ours3], indexing="ij")).reshape(3, -1)
    expected = turn @ corners + np.where([[a in backwards] for a in range(3)], np.array(theirs3)[:, None] - 1, 0)
    found = moved[:3, :3] @ corners + moved[:3, 3:]
    off = float(np.abs(found - expected).max())
    apart = float(np.linalg.norm(reference.affine[:3, :3] @ (found - expected), axis=0).max())
    if off > TOLERANCE:
        raise InputError(
            f"{image.path.name} lies elsewhere than {reference.path.name}: corners are up to {apart:.3g} mm apart "
            f"({off:.2g} voxels, {TOLERANCE:g} are allowed); resample it to the grid of {reference.path.name}."
        )
    rows = len(theirs)
    if order != (0, 1, 2) or backwards:
        remark = (
            f"{image.path.name} runs along other axes or directions than {reference.path.name}; "
            "it was turned to match, by world space."
        )
    elif off > EXACT:
        remark = f"{names} lie {apart:.2g} mm apart at most: taken as the same grid."
    else:
        remark = None
    if rows < 3:  # flat images: only the axes that they have
        order, backwards = tuple(a for a in order if a < rows), tuple(a for a in backwards if a < rows)
    return Match(order, backwards, remark)


def _three(shape: tuple[int, ...]) -> tuple[int, int, int]:
    padded = (*shape, 1, 1, 1)
    return padded[0], padded[1], padded[2]


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(str(n) for n in shape)
