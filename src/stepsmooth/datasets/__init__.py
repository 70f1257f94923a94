"""Data with a known answer: generators that return the labels, the levels and the smooth part they used.

Signals are :class:`StepSignal`, drawn from ``y = smooth + levels[labels] + noise``. They
differ in how the labels arise: independently (:func:`make_sine_steps`), from a Markov chain
(:func:`make_markov_steps`), by cutting a uniform source at points that may depend on x
(:func:`make_self_mixing`), or in long segments with uneven levels below the noise (:func:`make_segments`).

Images are :class:`StepImage`, ``exp(smooth) * levels[labels]`` under Rician noise: a head of our own
(:func:`make_head_phantom`), or any map of tissues (:func:`load_brainweb`, :func:`make_head_labels`) put through
:func:`simulate_scan`, under a field of :func:`make_field`.
"""

from .brainweb import load_brainweb
from .fields import make_field
from .head_phantom import make_head_labels, make_head_phantom
from .markov_steps import make_markov_steps
from .segments import make_segments
from .self_mixing import make_self_mixing
from .simulate import simulate_scan
from .sine_steps import make_sine_steps
from .step_image import LabelVolume, StepImage
from .step_signal import StepSignal

__all__ = [
    "LabelVolume",
    "StepImage",
    "StepSignal",
    "load_brainweb",
    "make_field",
    "make_head_labels",
    "make_head_phantom",
    "make_markov_steps",
    "make_segments",
    "make_self_mixing",
    "make_sine_steps",
    "simulate_scan",
]
