"""NIfTI files: headers of 348 and 540 bytes, in both orders of bytes, with extensions."""

from __future__ import annotations

import nibabel
import numpy as np

from . import Door
from .images import knock_with


def seeds() -> list[bytes]:
    """Return small volumes of several types."""
    out = []
    for kind in (np.uint8, np.int16, np.float32, np.float64):
        values = np.arange(24).reshape(2, 3, 4).astype(kind)
        image = nibabel.Nifti1Image(values, np.diag([2.0, 2.0, 3.0, 1.0]))
        image.header.set_slope_inter(2.0, 1.0)
        image.header.set_xyzt_units("mm", "sec")
        out.append(image.to_bytes())
    swapped = nibabel.Nifti1Image(values, np.eye(4), nibabel.Nifti1Header(endianness=">"))
    extended = nibabel.Nifti1Image(values, np.eye(4))
    extended.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"a comment"))
    series = nibabel.Nifti1Image(np.ones((2, 2, 2, 2, 2), np.int16), np.eye(4))
    second = nibabel.Nifti2Image(values, np.eye(4))
    return [*out, *(image.to_bytes() for image in (swapped, extended, series, second))]


DOOR = Door(seeds, knock_with("a.nii"), longest=768)
