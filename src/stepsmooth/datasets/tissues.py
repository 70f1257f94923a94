"""What tissues look like in a scanner: BrainWeb's relaxation times and the signal of three MRI sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Contrast = Literal["T1w", "T2w", "PDw"]
CONTRASTS: tuple[str, ...] = get_args(Contrast)

# The tissue whose signal is 1, and of which the noise is a percentage.
REFERENCE = {"T1w": "WM", "T2w": "CSF", "PDw": "CSF"}

# Sequences, in ms: a spoiled FLASH (T1w) and the two echoes of a dual spin echo (PDw, T2w).
_FLASH_TR, _FLASH_TE, _FLIP = 18.0, 10.0, np.deg2rad(30.0)
_SPIN_TR, _FIRST_ECHO, _SECOND_ECHO = 3300.0, 35.0, 120.0


@dataclass(frozen=True)
class Tissue:
    """Relaxation times in ms and proton density.

    Examples
    --------
    >>> from stepsmooth.datasets.tissues import BRAINWEB_1_5T
    >>> BRAINWEB_1_5T["WM"]
    Tissue(t1=500.0, t2=70.0, t2_star=61.0, density=0.77)
    """

    t1: float
    t2: float
    t2_star: float
    density: float


VOID = Tissue(1.0, 1.0, 1.0, 0.0)

BRAINWEB_1_5T: Mapping[str, Tissue] = {
    "background": VOID,
    "CSF": Tissue(2569.0, 329.0, 58.0, 1.00),
    "GM": Tissue(833.0, 83.0, 69.0, 0.86),
    "WM": Tissue(500.0, 70.0, 61.0, 0.77),
    "fat": Tissue(350.0, 70.0, 58.0, 1.00),
    "muscle/skin": Tissue(900.0, 47.0, 30.0, 1.00),
    "skin": Tissue(2569.0, 329.0, 58.0, 1.00),
    "skull": VOID,
    "glial": Tissue(833.0, 83.0, 69.0, 0.86),
    "connective": Tissue(500.0, 70.0, 61.0, 0.77),
}
"""Labels 0 to 9 of BrainWeb's normal phantom, at 1.5 T. Skin equals CSF, glial GM and connective WM."""

BRAINWEB_3T: Mapping[str, Tissue] = {
    "background": VOID,
    "CSF": Tissue(4163.0, 329.0, 58.0, 1.00),
    "GM": Tissue(1433.2, 92.6, 69.0, 0.86),
    "WM": Tissue(866.9, 60.8, 61.0, 0.77),
    "fat": Tissue(346.0, 70.0, 58.0, 1.00),
    "muscle": Tissue(1232.9, 37.2, 30.0, 1.00),
    "muscle/skin": Tissue(377.0, 97.5, 58.0, 1.00),
    "skull": VOID,
    "vessels": Tissue(1984.4, 275.0, 58.0, 1.00),
    "around fat": Tissue(346.0, 70.0, 58.0, 0.77),
    "dura": Tissue(2569.0, 329.0, 58.0, 1.00),
    "marrow": Tissue(365.0, 133.0, 61.0, 0.77),
}
"""Labels 0 to 11 of BrainWeb's twenty subjects, and of our phantom, at 3 T: ten tissues, all different."""


def signal(tissue: Tissue, contrast: str) -> float:
    """Return the signal of a tissue, in units of the fully relaxed signal of water.

    Parameters
    ----------
    tissue : Tissue
        Relaxation times and proton density.
    contrast : {"T1w", "T2w", "PDw"}
        T1w is a spoiled FLASH (TR 18 ms, TE 10 ms, 30 degrees); PDw and T2w are the echoes at 35 and 120 ms
        of a dual spin echo (TR 3300 ms).

    Returns
    -------
    float
        The signal, 0 for a void.

    Examples
    --------
    >>> from stepsmooth.datasets.tissues import BRAINWEB_1_5T, signal
    >>> [round(signal(BRAINWEB_1_5T[name], "T1w"), 4) for name in ("CSF", "GM", "WM")]
    [0.021, 0.0521, 0.0702]
    """
    if contrast not in CONTRASTS:
        raise ValueError(f"contrasts must be among {', '.join(CONTRASTS)}; found {contrast!r}.")
    if contrast == "T1w":
        recovery = np.exp(-_FLASH_TR / tissue.t1)
        magnetisation = np.sin(_FLIP) * (1 - recovery) / (1 - np.cos(_FLIP) * recovery)
        return float(tissue.density * magnetisation * np.exp(-_FLASH_TE / tissue.t2_star))
    # Each echo inverts what has recovered since the last pulse.
    times = np.array([_SPIN_TR - (_FIRST_ECHO + _SECOND_ECHO) / 2, _SPIN_TR - _FIRST_ECHO / 2, _SPIN_TR])
    magnetisation = 1 + np.dot([-2.0, 2.0, -1.0], np.exp(-times / tissue.t1))
    echo = _SECOND_ECHO if contrast == "T2w" else _FIRST_ECHO
    return float(tissue.density * magnetisation * np.exp(-echo / tissue.t2))


def tissue_levels(
    tissues: Mapping[str, Tissue], names: Sequence[str], contrasts: Sequence[str] = ("T1w",)
) -> NDArray[np.float64]:
    """Return the level of each named tissue in each sequence, white matter (T1w) or CSF (T2w, PDw) being 1.

    Parameters
    ----------
    tissues : mapping of str to Tissue
        ``BRAINWEB_1_5T`` or ``BRAINWEB_3T``.
    names : sequence of str
        Which of them.
    contrasts : sequence of {"T1w", "T2w", "PDw"}, default ("T1w",)
        The sequences.

    Returns
    -------
    ndarray of shape (len(names), len(contrasts))
        The levels.

    Examples
    --------
    >>> from stepsmooth.datasets.tissues import BRAINWEB_1_5T, tissue_levels
    >>> tissue_levels(BRAINWEB_1_5T, ["CSF", "GM", "WM"], ["T1w", "T2w"]).round(3)
    array([[0.299, 1.   ],
           [0.743, 0.402],
           [1.   , 0.281]])
    """
    unknown = [name for name in names if name not in tissues]
    if unknown:
        raise ValueError(f"classes must be among {', '.join(tissues)}; found {unknown[0]!r}.")
    raw = [[signal(tissues[name], c) for c in contrasts] for name in names]
    unit = [signal(tissues[REFERENCE[c]], c) for c in contrasts]
    return np.asarray(np.divide(raw, unit), dtype=np.float64).reshape(len(names), len(contrasts))
