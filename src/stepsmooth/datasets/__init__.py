"""Signals with a known answer: generators that return the labels, the levels and the smooth part they used.

Every generator returns a :class:`StepSignal` drawn from ``y = smooth + levels[labels] + noise``. They
differ in how the labels arise: independently (:func:`make_sine_steps`), from a Markov chain
(:func:`make_markov_steps`), by cutting a uniform source at points that may depend on x
(:func:`make_self_mixing`), or in long segments with uneven levels below the noise (:func:`make_segments`).
"""

from .markov_steps import make_markov_steps
from .segments import make_segments
from .self_mixing import make_self_mixing
from .sine_steps import make_sine_steps
from .step_signal import StepSignal

__all__ = ["StepSignal", "make_markov_steps", "make_segments", "make_self_mixing", "make_sine_steps"]
