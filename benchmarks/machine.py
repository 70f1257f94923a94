"""What a result was measured on: processor, versions, load."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "stepsmooth",
    "csaps",
    "ckwrap",
    "hmmlearn",
    "ruptures",
    "SimpleITK",
    "lapgm",
    "nibabel",
)


def describe() -> dict[str, object]:
    """Record the machine and the versions, once per run."""
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": memory_gb(),
        "huge_pages": os.environ.get("NUMPY_MADVISE_HUGEPAGE") != "0",  # does NumPy ask for them?
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "blas": blas(),
    }


def cpu_model() -> str:
    """Name of the processor as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory_gb() -> float | None:
    """Physical memory, where the system tells."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None


def version(name: str) -> str | None:
    """Version of an installed distribution; a checkout on the path counts, absence is None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        if name != "stepsmooth":
            return None
        import stepsmooth

        return str(getattr(stepsmooth, "__version__", "unknown"))


def blas() -> list[str]:
    """Linear-algebra libraries in this process, with the threads they may use."""
    import numpy  # noqa: F401  # loads its library, so that it is seen
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return [
        f"{p['internal_api']} {p.get('version')} x{p['num_threads']} threads"
        for p in threadpool_info()
        if p["user_api"] == "blas"
    ]


def load() -> list[float] | None:
    """Load average over 1, 5 and 15 minutes: a time taken under load says so."""
    try:
        return [round(v, 2) for v in os.getloadavg()]
    except (AttributeError, OSError):
        return None
