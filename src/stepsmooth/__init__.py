"""Step-and-smooth decompositions: y = f(x) + mu_z + noise, taken apart."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepsmooth.estimators import GridStepSmooth, StepSmooth, decompose, diagnostics, events

__version__ = "0.1.0"
__all__ = ["GridStepSmooth", "StepSmooth", "__version__", "decompose", "diagnostics", "events"]


def __getattr__(name: str) -> Any:
    # The estimators load when they are first asked for, so that `stepsmooth --help` does not wait for numba.
    if name in ("GridStepSmooth", "StepSmooth", "decompose", "diagnostics", "events"):
        from stepsmooth import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'stepsmooth' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
