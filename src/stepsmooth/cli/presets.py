"""Settings for common jobs, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ImagePreset(StrEnum):
    """Common jobs with images."""

    T1W_BRAIN = "t1w-brain"
    WHOLE_HEAD = "whole-head"
    MULTI_SEQUENCE = "multi-sequence"
    DOCUMENT = "document"


class SignalPreset(StrEnum):
    """Common jobs with signals."""

    ION_CHANNEL = "ion-channel"


@dataclass(frozen=True)
class Preset:
    """What a preset is for, what it sets, and whether it needs a mask (None: either way) and how many files."""

    words: str
    settings: Mapping[str, Any]
    mask: bool | None = None
    files: int = 1


PRESETS: dict[str, Preset] = {
    ImagePreset.T1W_BRAIN: Preset(
        "a T1-weighted scan with a mask of the brain: three levels (CSF, grey, white), Rician noise",
        {"levels": "3", "rician": True},
        mask=True,
    ),
    ImagePreset.WHOLE_HEAD: Preset(
        "a scan of a head without a mask: air is found at the border and left as it is, Rician noise",
        {"rician": True},
        mask=False,
    ),
    ImagePreset.MULTI_SEQUENCE: Preset(
        "several sequences of one head that share a field (T1w, T2w, ...), Rician noise",
        {"rician": True},
        files=2,
    ),
    ImagePreset.DOCUMENT: Preset(
        "a photographed or scanned page: two levels (ink, paper) under uneven light, written as the file was",
        # The joint solver learns levels where small blocks are of one: strokes are thinner than that.
        {"levels": "2", "solver": "altmin", "keep_dtype": True},
    ),
    SignalPreset.ION_CHANNEL: Preset(
        "currents of ion channels: equally spaced levels, labels that last",
        {"ladder": True, "prior": "markov"},
    ),
}


def with_preset(name: str | None, given: Mapping[str, Any], otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings: what was given, else what the preset says, else the usual.

    Parameters
    ----------
    name : str or None
        The preset.
    given : mapping
        None where an option was not given.
    otherwise : mapping
        What is usual.

    Examples
    --------
    >>> with_preset("document", {"levels": None, "keep_dtype": False}, {"levels": "auto", "keep_dtype": False})
    {'levels': '2', 'keep_dtype': False}
    """
    preset = {} if name is None else PRESETS[name].settings
    return {key: value if value is not None else preset.get(key, otherwise.get(key)) for key, value in given.items()}


def misfit(name: str | None, *, masked: bool, files: int) -> str | None:
    """Return why a preset does not go with these inputs, or None if it does.

    Examples
    --------
    >>> misfit("t1w-brain", masked=False, files=1)
    '--preset t1w-brain is for scans with a mask: name it with --mask, or use --preset whole-head.'
    """
    if name is None:
        return None
    preset = PRESETS[name]
    if preset.mask is True and not masked:
        return f"--preset {name} is for scans with a mask: name it with --mask, or use --preset whole-head."
    if preset.mask is False and masked:
        return f"--preset {name} is for scans without a mask: leave --mask out, or use --preset t1w-brain."
    if files < preset.files:
        return f"--preset {name} is for several files that share a field: name at least {preset.files}."
    return None
