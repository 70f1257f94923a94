"""What commands need of a ``result.json``, looked at before it is believed: a file may have been edited, or forged."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepsmooth.files.errors import InputError
from stepsmooth.files.folders import RESULT

_WORDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


def part(folder: Path, record: dict[str, Any], *names: str, kinds: tuple[type, ...] = (dict,)) -> Any:
    """Return what stands at a place of a record, if it is of one of the kinds that belong there.

    Parameters
    ----------
    folder : pathlib.Path
        Where the record comes from.
    record : dict
        As :func:`stepsmooth.files.record.read_record` returns it.
    *names : str
        The way to the place.
    kinds : tuple of types
        What may stand there.

    Examples
    --------
    >>> record = {"noise": {"of": "values"}}
    >>> part(Path("out"), record, "noise", "of", kinds=(str,))
    'values'
    >>> part(Path("out"), record, "noise", "variance", kinds=(list,))
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: out/result.json is damaged: noise.variance is missing, a list belongs there.
    """
    found: Any = record
    for depth, name in enumerate(names):
        if not isinstance(found, dict) or name not in found:
            raise _damage(folder, names[: depth + 1], "is missing", kinds if depth == len(names) - 1 else (dict,))
        found = found[name]
    if not isinstance(found, kinds):
        raise _damage(folder, names, f"is {_WORDS.get(type(found), 'a number')}", kinds)
    return found


def numbers(folder: Path, values: Any, what: str) -> NDArray[np.float64]:
    """Return numbers of a record as an array, or refuse whatever else stands there.

    Examples
    --------
    >>> numbers(Path("out"), [1, 2.5], "levels")
    array([1. , 2.5])
    >>> numbers(Path("out"), [1, None], "levels")
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: out/result.json is damaged: levels must be finite numbers.
    """
    try:
        out = np.array(values, dtype=np.float64) if _only_numbers(values) else np.array(np.nan)
    except (ValueError, OverflowError):  # rows of unequal length, and whole numbers beyond all floats
        out = np.array(np.nan)
    if not out.size or not np.all(np.isfinite(out)):
        raise InputError(f"{folder / RESULT} is damaged: {what} must be finite numbers.")
    return out


def told_certificate(folder: Path, record: dict[str, Any]) -> dict[str, Any] | None:
    """Return the certificate that a run wrote down, or None if it could give none.

    Examples
    --------
    >>> told_certificate(Path("out"), {"certificate": {"verdict": "identified", "words": "All of them."}})["verdict"]
    'identified'
    """
    found: dict[str, Any] | None = part(folder, record, "certificate", kinds=(dict, type(None)))
    if found is not None:
        for name in ("verdict", "words"):
            part(folder, record, "certificate", name, kinds=(str,))
    return found


def file_names(folder: Path, record: dict[str, Any], *names: str) -> list[str]:
    """Return names of files within the folder; whatever leads out of it is refused.

    Examples
    --------
    >>> file_names(Path("out"), {"corrected": ["../../T1w"]}, "corrected")
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: out/result.json is damaged: corrected must name files of its folder.
    """
    found: list[str] = part(folder, record, *names, kinds=(list,))
    for name in found:
        plain = isinstance(name, str) and name.isprintable() and name == Path(name).name
        if not plain or len(name.encode("utf-8", "replace")) > 200:
            raise InputError(f"{folder / RESULT} is damaged: {'.'.join(names)} must name files of its folder.")
    return found


def _only_numbers(values: Any) -> bool:
    if isinstance(values, list):
        return all(_only_numbers(value) for value in values)
    return isinstance(values, (int, float)) and not isinstance(values, bool)


def _damage(folder: Path, names: tuple[str, ...], what: str, kinds: tuple[type, ...]) -> InputError:
    right = " or ".join(_WORDS.get(kind, "a number") for kind in kinds)
    return InputError(f"{folder / RESULT} is damaged: {'.'.join(names)} {what}, {right} belongs there.")
