"""The memory that a call needs: the peak of what the process holds, begun anew right before it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path


def peak_of(call: Callable[[], object]) -> float | None:
    """Return the megabytes that a call adds at its peak to what the process held before; None where nobody tells.

    What the process holds already and uses again is not added, and where the system cannot forget an earlier peak, what
    lies below that is not either: the answer may be too small, never too large.

    Examples
    --------
    >>> import numpy as np
    >>> needed = peak_of(lambda: np.ones(10_000_000).sum())
    >>> needed is None or needed > 50.0
    True
    """
    before = current_mb() if forget_peak() else peak_mb()
    call()
    after = peak_mb()
    return None if before is None or after is None else after - before


def current_mb() -> float | None:
    """Return the resident memory now, where the system tells."""
    return _status("VmRSS")


def peak_mb() -> float | None:
    """Return the largest resident memory of this process.

    On Linux `ru_maxrss` of a child begins at its parent's size at the fork; VmHWM begins at zero.
    """
    peak = _status("VmHWM")
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def forget_peak() -> bool:
    """Let the peak begin again at the present size; False where the system does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(key: str) -> float | None:
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    return None
