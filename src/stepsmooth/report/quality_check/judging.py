"""The verdict on a fit, from what holds regions out and from the other figures."""

from sklearn.utils.validation import check_is_fitted

from stepsmooth.estimators import GridStepSmooth, StepSmooth
from stepsmooth.model.arrays import Anything
from stepsmooth.model.threads import one_thread
from stepsmooth.report.quality_check import figures
from stepsmooth.report.quality_check.cubes import held_out_cubes
from stepsmooth.report.quality_check.image import ThinImage
from stepsmooth.report.quality_check.points import Points
from stepsmooth.report.quality_check.result import Quality
from stepsmooth.report.quality_check.stretches import held_out_stretches


def quality(m: Anything, *, weights: Anything = None) -> Quality:
    """Say whether the smooth part of a fit helped, without knowing the truth.

    The verdict comes from regions of space, cubes of 20 mm in images, that are held out in turn: f is fitted again to
    the rest, as stiff as it was, continued into the region, and the region's raw data are scored under the mixture of
    the classes; the same without any f. "helped" is said if the paired difference over the regions is positive with a
    confidence of 99.5 %, also where regions are held out with their neighbours; "made worse" if it is negative with
    97.5 %. Large images are judged on a part of their voxels.

    Parameters
    ----------
    m : StepSmooth or GridStepSmooth, fitted
    weights : array, optional
        Of the voxels, as given to `GridStepSmooth.fit`, which does not keep them. A `StepSmooth` keeps its own.

    Returns
    -------
    Quality

    Examples
    --------
    >>> from stepsmooth import StepSmooth
    >>> from stepsmooth.datasets import make_sine_steps
    >>> from stepsmooth.report import quality
    >>> drifting = make_sine_steps(500, 2, 2.0, noise_variance=0.05, random_state=0)
    >>> quality(StepSmooth(2).fit(drifting.X, drifting.y)).verdict
    'helped'
    >>> steady = make_sine_steps(500, 2, amplitude=0.0, noise_variance=0.05, random_state=0)
    >>> quality(StepSmooth(2).fit(steady.X, steady.y)).verdict
    'no change'
    """
    if not isinstance(m, (StepSmooth, GridStepSmooth)):
        raise TypeError(f"m must be a fitted StepSmooth or GridStepSmooth, got {type(m).__name__}.")
    check_is_fitted(m)
    if isinstance(m, StepSmooth):
        if weights is not None:
            raise ValueError("weights are for images; a StepSmooth keeps the sample_weight of its fit.")
        points = Points.of(m)
        seen = figures.Seen.of_points(points)
        with one_thread():
            held_out = held_out_stretches(points)
    else:
        image = ThinImage.of(m, weights)
        seen = figures.Seen.of_image(image)
        with one_thread():
            held_out = held_out_cubes(image)
    low, high = figures.field_range(seen)
    return Quality(
        n_observations=len(seen.labels),
        cv_before=figures.within_level_variation(seen.before, seen),
        cv_after=figures.within_level_variation(seen.after, seen),
        cjv_before=figures.joint_variation(seen.before, seen),
        cjv_after=figures.joint_variation(seen.after, seen),
        field_low=low,
        field_high=high,
        near_boundary=figures.near_boundary(seen),
        residual_autocorrelation=figures.residual_autocorrelation(seen),
        gain=held_out.gain,
        gain_error=held_out.error,
        far_gain=held_out.far_gain,
        far_gain_error=held_out.far_error,
        n_regions=held_out.n_regions,
        multiplicative=seen.multiplicative,
    )
