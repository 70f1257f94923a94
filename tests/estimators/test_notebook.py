"""Estimators in a notebook: scikit-learn's view of the parameters, and what was found."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from sklearn import config_context

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.datasets import make_head_phantom, make_sine_steps


def html_of(m):
    bundle = m._repr_mimebundle_()
    assert bundle["text/plain"] == repr(m)
    # Every view of an estimator is numbered.
    one, other = (re.sub(r"-id-\d+", "", html) for html in (bundle["text/html"], m._repr_html_()))
    assert one == other
    return bundle["text/html"]


def signal(channels=0):
    data = make_sine_steps(60, 2, 1.0, random_state=0)
    return data.X, data.y if not channels else np.stack([data.y] * channels, axis=1)


@pytest.mark.parametrize("m", [StepSmooth(3), GridStepSmooth(3)])
def test_an_unfitted_estimator_shows_its_parameters(m):
    html = html_of(m)
    assert "n_levels" in html
    assert "noise sd" not in html


@pytest.mark.parametrize("channels", [0, 2])
def test_a_fitted_signal_shows_levels_shares_and_a_trace(channels):
    html = html_of(StepSmooth(2, solver="altmin").fit(*signal(channels)))
    assert html.count("<circle") == 60
    assert html.count(" %</td>") == 2


def test_points_known_by_their_kernel_have_no_trace():
    X, y = signal()
    m = StepSmooth(2, kernel="precomputed", tau=1e-3).fit(np.minimum(X, X.T), y)
    assert "<circle" not in html_of(m)


@pytest.mark.parametrize("shape", [(40, 48), (20, 24, 20)])
def test_a_fitted_image_shows_its_middle_slice_corrected_and_labelled(shape):
    head = make_head_phantom(shape, classes=("CSF", "GM", "WM"), strip=True, random_state=0)
    g = GridStepSmooth(3, knots=90.0, label_prior="proportions").fit(head.image, mask=head.mask)
    sources = re.findall(r"data:image/png;base64,([^\"]+)", html_of(g))
    corrected, labels = (np.asarray(Image.open(BytesIO(b64decode(s)))) for s in sources)
    assert corrected.shape == labels.shape == (*shape[:2], 3)
    middle = g.labels_ if len(shape) == 2 else g.labels_[..., shape[2] // 2]
    assert np.array_equal(labels.any(axis=2), middle >= 0)


def test_text_alone_is_shown_if_scikit_learn_is_told_so():
    with config_context(display="text"):
        assert list(StepSmooth()._repr_mimebundle_()) == ["text/plain"]
