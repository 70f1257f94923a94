"""The picture of a decomposed image: four panels, the middle slice of a volume, refusals in a sentence."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from stepsmooth import GridStepSmooth
from stepsmooth.datasets import make_head_phantom
from stepsmooth.report import ImageDisplay
from stepsmooth.report.image_display import _slice


@pytest.fixture(scope="module")
def brain():
    head = make_head_phantom((60, 72), classes=("CSF", "GM", "WM"), strip=True, random_state=0)
    model = GridStepSmooth(3, knots=60.0, label_prior="proportions").fit(head.image, mask=head.mask)
    return head, model


def test_the_panels_show_image_field_correction_and_labels(brain):
    head, model = brain
    display = ImageDisplay.from_estimator(model, head.image, truth=head)
    shown = [np.ma.filled(ax.images[0].get_array(), np.nan).T for ax in display.axes_]
    assert_array_equal(shown[0], head.image)
    assert_array_equal(shown[2], model.corrected_)
    assert_array_equal(shown[1][head.mask], model.field_[head.mask])
    assert_array_equal(shown[3][head.mask], model.labels_[head.mask])
    assert np.isnan(shown[3][~head.mask]).all()
    assert "% right" in display.axes_[3].get_title(loc="right")


def test_of_a_volume_the_middle_slice_is_drawn():
    volume = np.arange(60.0).reshape(3, 4, 5)
    assert_array_equal(_slice(volume), volume[:, :, 2])


def test_another_image_or_other_axes_are_refused(brain):
    head, model = brain
    with pytest.raises(ValueError, match=r"image has shape \(59, 72\), but the fit has labels of shape \(60, 72\)"):
        ImageDisplay.from_estimator(model, head.image[1:])
    with pytest.raises(ValueError, match="axes must be 4, got 3"):
        ImageDisplay.from_estimator(model, head.image, axes=[None] * 3)
