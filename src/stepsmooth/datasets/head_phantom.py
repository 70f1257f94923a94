"""A head of our own: skin, fat, muscle, skull, eyes and a brain with a folded cortex, at any resolution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Seed, generator, real_number, whole_number
from .fields import voxel_size
from .head_brain import NAMES
from .head_outside import Head, paint_head
from .simulate import simulate_scan
from .step_image import LabelVolume, StepImage

_VIEW = (181.0, 217.0, 181.0)  # mm, the box that holds the head: right, forward, up
_MIDDLE = (0.0, 2.0, 2.0)  # of the box, in the coordinates of the anatomy
_CHUNK = 1 << 17  # points painted at a time, so that memory does not grow with the volume


def make_head_labels(
    shape: Sequence[int] = (181, 217, 181),
    *,
    spacing: Sequence[float] | None = None,
    height: float = 12.0,
    random_state: Seed = None,
) -> LabelVolume:
    """Draw the tissues of a head: ten that give a signal, bone and air.

    Parameters
    ----------
    shape : sequence of 2 or 3 int, default (181, 217, 181)
        Voxels from left to right, from back to front and, for a volume, from bottom to top.
    spacing : sequence of float, optional
        Size of a voxel along each axis, in mm; a head is about 175 by 215 by 180 mm, and what lies outside the
        grid is cut off. By default the smallest cubic voxel with which the head fits.
    height : float, default 12.0
        Where a two-dimensional head is cut, in mm above the centre of the volume, between -80 and 80; 12 shows
        the ventricles, -28 the eyes.
    random_state : int, Generator or None, default None
        Size, folds, ventricles and everything else that differs between heads. A number gives the same head
        every time, at any resolution.

    Returns
    -------
    LabelVolume
        The tissues, named as in BrainWeb's twenty subjects. ``"vessels"`` include the fluid of the eyes.

    Examples
    --------
    >>> import numpy as np
    >>> from stepsmooth.datasets import make_head_labels
    >>> head = make_head_labels((90, 108), random_state=0)
    >>> head.labels.shape, len(np.unique(head.labels)), head.spacing[0] == head.spacing[1]
    ((90, 108), 12, True)
    """
    wanted = f"shape must hold 2 or 3 whole numbers of at least 1; found {shape!r}."
    if isinstance(shape, str) or not isinstance(shape, Sequence):
        raise TypeError(wanted)
    if len(shape) not in (2, 3):
        raise ValueError(wanted)
    grid = tuple(whole_number("shape", n, least=1) for n in shape)
    cut = real_number("height", height, least=-80, most=80)
    if spacing is None:
        spacing = (max(view / n for view, n in zip(_VIEW, grid)),) * len(grid)
    size = voxel_size(spacing, len(grid))
    head = Head.draw(generator(random_state))
    axes = [
        ((np.arange(n) - (n - 1) / 2) * step + middle).astype(np.float32)
        for n, step, middle in zip(grid, size, _MIDDLE)
    ]
    if len(grid) == 2:
        axes.append(np.array([_MIDDLE[2] + cut], dtype=np.float32))
    full = tuple(len(a) for a in axes)
    labels = np.empty(int(np.prod(full)), dtype=np.uint8)
    for begin in range(0, labels.size, _CHUNK):
        where = np.unravel_index(np.arange(begin, min(begin + _CHUNK, labels.size)), full)
        x, y, z = (axis[index] for axis, index in zip(axes, where))
        labels[begin : begin + _CHUNK] = paint_head((x, y, z), head)
    return LabelVolume(labels=labels.reshape(grid), names=NAMES, spacing=size)


def make_head_phantom(
    shape: Sequence[int] = (181, 217),
    *,
    spacing: Sequence[float] | None = None,
    height: float = 12.0,
    contrasts: str | Sequence[str] = "T1w",
    classes: Sequence[str] | None = None,
    strip: bool = False,
    field: str | ArrayLike | None = "coil",
    ratio: float = 5.0,
    noise: float = 3.0,
    partial_volume: float = 0.0,
    texture: float | Mapping[str, float] = 0.0,
    random_state: Seed = None,
) -> StepImage:
    """Scan a head with ten tissues, in two or three dimensions.

    It is :func:`make_head_labels` followed by :func:`simulate_scan`, with tissue parameters of BrainWeb at 3 T.

    Parameters
    ----------
    shape, spacing, height
        The grid, as in :func:`make_head_labels`.
    contrasts, classes, strip, ratio, noise, partial_volume, texture
        The scan, as in :func:`simulate_scan`.
    field : {"poly", "coil", "smooth", "rough"}, array-like or None, default "coil"
        The bias field, as in :func:`simulate_scan`.
    random_state : int, Generator or None, default None
        A number gives the same head, field and noise every time.

    Returns
    -------
    StepImage
        The scan and its parts.

    See Also
    --------
    load_brainweb : The map of tissues that the field has used since 1998, from a file.

    Examples
    --------
    >>> from stepsmooth.datasets import make_head_phantom
    >>> head = make_head_phantom((90, 108), contrasts=["T1w", "T2w", "PDw"], random_state=0)
    >>> head.image.shape, len(head.names), head.levels.shape
    ((90, 108, 3), 10, (10, 3))
    """
    anatomy, scan = generator(random_state).integers(2**63, size=2)
    return simulate_scan(
        make_head_labels(shape, spacing=spacing, height=height, random_state=int(anatomy)),
        contrasts=contrasts,
        classes=classes,
        strip=strip,
        field=field,
        ratio=ratio,
        noise=noise,
        partial_volume=partial_volume,
        texture=texture,
        random_state=int(scan),
    )
