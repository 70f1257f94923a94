"""A simulated image together with the answer: labels, levels, field and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)  # arrays have no single truth value, so == would raise
class StepImage:
    """An image ``exp(smooth) * levels[labels]`` under noise, and everything it was made of.

    Attributes
    ----------
    image : ndarray of float32, of shape (*grid) or (*grid, p)
        The scan; several sequences lie along the last axis.
    labels : ndarray of int16, of shape (*grid)
        The class of each voxel of the mask, 0 to M - 1, numbered by ascending level (by the first sequence
        when there are several); -1 outside the mask.
    levels : ndarray of shape (M,) or (M, p)
        The levels, in the units of the image.
    smooth : ndarray of float32, of shape (*grid)
        The log field, shared by all sequences, with mean 0 over the mask.
    mask : ndarray of bool, of shape (*grid)
        The voxels that `labels` cover.
    spacing : tuple of float
        Size of a voxel along each axis, in mm.
    noise : float
        Standard deviation of the complex noise, in the units of the image.
    names : tuple of str
        The name of each class; tissues that no sequence tells apart share a class, joined by ``" + "``.
    contrasts : tuple of str
        The sequences.

    Examples
    --------
    >>> from stepsmooth.datasets import make_head_phantom
    >>> head = make_head_phantom((48, 56), field="coil", ratio=5.0, noise=0.0, random_state=0)
    >>> inside = head.mask
    >>> import numpy as np
    >>> np.allclose(head.image[inside], (head.field * head.levels[head.labels])[inside], rtol=1e-5)
    True
    """

    image: NDArray[np.float32]
    labels: NDArray[np.int16]
    levels: NDArray[np.float64]
    smooth: NDArray[np.float32]
    mask: NDArray[np.bool_]
    spacing: tuple[float, ...]
    noise: float
    names: tuple[str, ...]
    contrasts: tuple[str, ...]

    @property
    def field(self) -> NDArray[np.float32]:
        """The factor by which each voxel is too bright, ``exp(smooth)``."""
        return np.exp(self.smooth)

    @property
    def channel_axis(self) -> int | None:
        """The axis of the sequences: -1, or None when there is one."""
        return -1 if len(self.contrasts) > 1 else None


@dataclass(frozen=True, eq=False)
class LabelVolume:
    """A map of tissues, before any scanner has seen it.

    Attributes
    ----------
    labels : ndarray of uint8
        The tissue of each voxel: an index into `names`.
    names : tuple of str
        Names of the tissues, as in ``BRAINWEB_1_5T`` or ``BRAINWEB_3T``.
    spacing : tuple of float
        Size of a voxel along each axis, in mm.

    Examples
    --------
    >>> from stepsmooth.datasets import make_head_labels
    >>> head = make_head_labels((48, 56), random_state=0)
    >>> head.names[:4], head.labels.shape
    (('background', 'CSF', 'GM', 'WM'), (48, 56))
    """

    labels: NDArray[np.uint8]
    names: tuple[str, ...]
    spacing: tuple[float, ...]
