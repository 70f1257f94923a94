"""Step-and-smooth decompositions: y = f(x) + mu_z + noise, taken apart."""

from stepsmooth.estimators import StepSmooth, decompose

__version__ = "0.1.0"
__all__ = ["StepSmooth", "__version__", "decompose"]
