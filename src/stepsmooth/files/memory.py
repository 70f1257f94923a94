"""Whether there is memory for what a header asks for: known before anything is allocated."""

import os
from pathlib import Path

from stepsmooth.files.errors import InputError

_MEMINFO = Path("/proc/meminfo")
_GROUPS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def available_memory() -> int | None:
    """Return the bytes that a process may still take, or None where the system does not tell.

    Examples
    --------
    >>> free = available_memory()
    >>> free is None or free > 0
    True
    """
    found = [value for value in (_free_on_machine(), _free_in_group()) if value is not None]
    return min(found) if found else None


def check_room(path: Path, shape: tuple[int, ...], bytes_per_value: int) -> None:
    """Refuse a file whose header promises more values than there is memory for.

    Parameters
    ----------
    path : pathlib.Path
    shape : tuple of int
        As the header has it.
    bytes_per_value : int
        What each value takes while it is worked on.

    Examples
    --------
    >>> check_room(Path("T1w.nii.gz"), (30000, 30000, 30000), 12)
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: T1w.nii.gz has 30000 x 30000 x 30000 values by its header, which take ...
    >>> check_room(Path("T1w.nii.gz"), (3, 3, 3), 12)
    """
    needed = bytes_per_value
    for length in shape:
        needed *= int(length)
    free = available_memory()
    if needed < 0 or (free is not None and needed > free):
        size = " x ".join(str(length) for length in shape)
        raise InputError(
            f"{path} has {size} values by its header, which take at least {in_words(needed)} of memory, but only "
            f"{in_words(free or 0)} are free: crop the image, lower its resolution, or check its header."
        )


def in_words(size: float) -> str:
    """Return a number of bytes as people say it.

    Examples
    --------
    >>> in_words(2_500_000)
    '2.5 MB'
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"


def _free_on_machine() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_group() -> int | None:
    """Return what is left of the limit of a container, if there is one."""
    for limit, used in _GROUPS:
        try:
            most = (Path("/sys/fs/cgroup") / limit).read_text().strip()
            taken = int((Path("/sys/fs/cgroup") / used).read_text())
            if most != "max" and int(most) < 1 << 60:
                return max(int(most) - taken, 0)
        except (OSError, ValueError):
            continue
    return None
