"""The report as a file: whole, small, closed to the network, and honest about what it leaves out."""

import gzip
import hashlib
import re
from base64 import b64decode
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest
from nibabel import Nifti1Image

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.datasets import make_head_phantom, make_sine_steps
from stepsmooth.estimators.recording import read_recording
from stepsmooth.report import write
from stepsmooth.report.page import writing
from stepsmooth.report.page.charts import choice_curves
from stepsmooth.report.page.scan import Scan, read_scan
from stepsmooth.report.page.slices import slice_rows
from stepsmooth.report.page.trace import trace_data
from stepsmooth.report.page.volumes import viewer_volumes
from stepsmooth.report.page.words import remarks
from stepsmooth.topology import certify

EASY = {"knots": 90.0, "label_prior": "proportions"}
CERTIFICATE = certify([0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1], [0.0, 1.0], modulus=0.1)


def told(verdict="helped"):
    """What a page needs of figures of quality."""
    return SimpleNamespace(verdict=verdict, words=lambda: "One thing.\nAnother.", as_dict=lambda: {"gain": 0.25})


@pytest.fixture(scope="module")
def signal():
    data = make_sine_steps(200, 2, 1.0, noise_variance=0.01, random_state=0)
    return StepSmooth(2, solver="altmin").fit(data.X, data.y)


@pytest.fixture(scope="module")
def points():
    """Points whose page has few pictures."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    return StepSmooth(2, kernel="rbf", tau=0.1).fit(X, X[:, 0] + (np.arange(40) % 2))


@pytest.fixture(scope="module")
def head():
    return make_head_phantom((20, 24, 18), classes=("CSF", "GM", "WM"), strip=True, random_state=0)


@pytest.fixture(scope="module")
def volume(head):
    return GridStepSmooth(3, spacing=head.spacing, **EASY).fit(head.image, mask=head.mask)


def page_of(m, folder, **options):
    options = {"quality": told(), "certificate": CERTIFICATE} | options
    return write(m, folder / "report.html", **options).read_text()


def small_scan(shape=(8, 10, 12), seed=0):
    rng = np.random.default_rng(seed)
    image = rng.random((1, *shape))
    labels = rng.integers(-1, 2, size=shape)
    return Scan(image, image / 2, 1 + image[0], labels, np.array([[0.3], [0.7]]), (1.0, 1.0, 1.0), True)


def test_the_page_names_no_other_address(volume, tmp_path):
    page = page_of(volume, tmp_path)
    own = page[: page.index('<script type="application/json"')]
    assert set(re.findall(r'(?:src|href)="([a-z]+):', own)) == {"data", "https"}
    assert re.findall(r'href="([^"]+)"', own) == ["https://niivue.com"]  # a link to follow, not a file to fetch
    assert "default-src 'none'" in page


def test_text_from_outside_is_escaped_everywhere(points, tmp_path):
    hostile = "</script><script>alert('x')</script>\u2028&"
    page = page_of(
        points, tmp_path, title=hostile, inputs=[{"name": hostile, hostile: hostile}], settings={hostile: hostile}
    )
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert") >= 6


def test_a_page_appears_whole_or_not_at_all(points, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("mine")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(points, path, quality=told(), certificate=CERTIFICATE)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_would_be_too_large_gets_coarser_volumes(volume, tmp_path, monkeypatch):
    plain = page_of(volume, tmp_path)
    assert "means over blocks" not in plain
    monkeypatch.setattr(writing, "ROOM", 12_000)
    page = page_of(volume, tmp_path)
    assert "means over blocks of " in page
    assert len(page) < len(plain)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("helped", "It helped"), ("no change", "No change"), ("made worse", "It made things worse")],
)
def test_the_verdict_stands_above_everything_else(points, tmp_path, verdict, words):
    page = page_of(points, tmp_path, quality=told(verdict))
    assert page.index(words) < page.index("Identified") < page.index("Levels</h2>")
    assert "One thing." in page


def test_quality_and_certificate_are_asked_for_if_they_are_not_given(points, tmp_path):
    page = write(points, tmp_path / "report.html").read_text()
    assert "Did the correction help?" in page
    assert "Can the labels be trusted?" in page
    assert points.certificate().premise in page


def test_what_cannot_be_said_is_named(signal, tmp_path):
    X, y = signal._data
    m = StepSmooth(2, kernel="precomputed", tau=1e-3).fit(np.minimum(X, X.T), y[:, 0])
    page = write(m, tmp_path / "report.html", quality=told()).read_text()
    assert "No certificate: " in page


def test_a_fit_that_did_not_converge_says_so():
    data = make_sine_steps(200, 3, 2.0, noise_variance=0.1, random_state=0)
    with pytest.warns(match="converge"):
        m = StepSmooth(3, solver="altmin", max_iter=1, tau=1e-4).fit(data.X, data.y)
    assert "had not converged" in remarks(m)[0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"inputs": "a.nii"}, "inputs must be a mapping"),
        ({"affine": np.eye(3)}, r"affine must be a \(4, 4\) matrix"),
        ({"affine": np.zeros((4, 4))}, r"affine must be a \(4, 4\) matrix"),
        ({"image": np.zeros((2, 2))}, "image must be the one given to fit"),
    ],
)
def test_bad_arguments_are_named(volume, tmp_path, wrong, words):
    with pytest.raises(ValueError, match=words):
        page_of(volume, tmp_path, **wrong)
    assert list(tmp_path.iterdir()) == []


def test_the_original_is_put_together_from_its_parts(head, volume):
    scan, given = read_scan(volume), read_scan(volume, head.image)
    assert np.array_equal(given.original[0], head.image)
    assert np.allclose(scan.original, given.original, rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((40,), {"solver": "altmin"}, "Grid of 40"),
        ((30, 36), {}, "Image of 30"),
        ((2, 30, 36), {"channel_axis": 0}, "2 channels that share the field"),
        ((3, 30, 36), {"series_axis": 0}, "the first of 3 frames is shown"),
        ((30, 36), {"multiplicative": False}, "a field that adds"),
    ],
)
def test_grids_of_every_kind_have_a_page(tmp_path, shape, options, words):
    rng = np.random.default_rng(0)
    stripes = 1.0 + (np.arange(shape[-1]) // 6 % 2)
    image = stripes * np.exp(np.linspace(-0.2, 0.2, shape[-1])) + 0.02 * rng.normal(size=shape)
    settings = {"label_prior": "auto"} if options.get("solver") == "altmin" else EASY
    g = GridStepSmooth(2, **settings | options).fit(image, mask=np.ones(g_shape(shape, options), dtype=bool))
    assert words in page_of(g, tmp_path)


def g_shape(shape, options):
    return shape[1:] if "channel_axis" in options else shape


def test_points_in_a_plane_have_maps(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    m = StepSmooth(2, kernel="rbf", tau=0.1).fit(X, X[:, 0] + (np.arange(60) % 2))
    page = page_of(m, tmp_path, certificate=m.certificate())
    assert "60 points in 2 dimensions" in page
    assert all(f"{part} over the plane" in page for part in ("Observations", "Step part", "Smooth part", "Residual"))


def test_viewer_volumes_are_nifti_files_that_hold_the_values():
    scan = small_scan()
    affine = np.diag([2.0, 3.0, 4.0, 1.0])
    data = viewer_volumes(scan, affine, ["T1w"], ["#0072B2", "#E69F00"], 10**7).data

    def read(text):
        return Nifti1Image.from_bytes(gzip.decompress(b64decode(text)))

    original = read(data["channels"][0]["original"])
    assert np.allclose(original.get_fdata(), scan.original[0], atol=1e-3)
    assert np.array_equal(original.affine, affine)
    assert np.array_equal(read(data["labels"]["volume"]).get_fdata(), scan.labels + 1)
    field = read(data["field"]["volume"]).get_fdata()
    assert np.allclose(field[scan.inside], scan.field[scan.inside], atol=2e-3)
    assert np.all(field[~scan.inside] < scan.field_range()[0])


def test_coarser_volumes_stay_in_place():
    scan = small_scan((16, 16, 16))
    packed = viewer_volumes(scan, np.eye(4), ["T1w"], ["#0072B2", "#E69F00"], 12_000)
    coarse = Nifti1Image.from_bytes(gzip.decompress(b64decode(packed.data["channels"][0]["original"])))
    k = packed.factors[0]
    assert k > 1
    # The first voxel lies in the middle of the block that it stands for.
    assert np.allclose(coarse.affine[:3, 3], (k - 1) / 2)
    assert np.allclose(coarse.get_fdata()[0, 0, 0], scan.original[0, :k, :k, :k].mean(), atol=2e-3)


@pytest.mark.parametrize("turned", ["flipped", "permuted"])
def test_slices_show_the_same_whatever_the_order_of_the_axes(turned):
    scan = small_scan()

    def turn(array):
        return array[..., ::-1, :, :] if turned == "flipped" else np.swapaxes(array, -1, -3)

    other = Scan(turn(scan.original), turn(scan.corrected), turn(scan.field), turn(scan.labels), *list_of(scan))
    affine = np.diag([-1.0, 1.0, 1.0, 1.0]) if turned == "flipped" else np.eye(4)[[2, 1, 0, 3]]
    middle = np.full(scan.labels.shape, 0)  # every voxel labelled, so that the middle is the same
    one = slice_rows(replace_labels(scan, middle), np.eye(4), True)
    two = slice_rows(replace_labels(other, turn(middle)), affine, True)
    same = [a.source == b.source for r, s in zip(one, two) for a, b in zip(r.pictures, s.pictures)]
    # With an even number of voxels the middle is one of two, which a flip exchanges: the plane cut there may differ.
    assert same.count(True) >= (8 if turned == "flipped" else 12)


def list_of(scan):
    return scan.levels, scan.spacing, scan.multiplicative


def replace_labels(scan, labels):
    return Scan(scan.original, scan.corrected, scan.field, labels, *list_of(scan))


def test_a_long_trace_is_thinned_without_losing_its_extremes(signal):
    n = 300_000
    rng = np.random.default_rng(0)
    y = rng.normal(size=n)
    y[123_456], y[234_567] = 50.0, -40.0
    recording = read_recording(signal, None, None, "test")
    long = type(recording)(
        **vars(recording)
        | {
            "x": np.arange(n) / 1e4,
            "smooth": np.zeros((n, 1)),
            "steps": y[:, None],
            "labels": (y > 0).astype(np.int64),
            "probabilities": np.ones((n, 2)),
        }
    )
    data = trace_data(long, None, room=400_000)
    assert data["n"] == n
    assert data["kept"] < n
    values = data["channels"][0]["y"]
    coded = np.frombuffer(b64decode(values["values"]), dtype="<u2")
    decoded = values["low"] + values["step"] * coded
    assert len(decoded) == data["kept"]
    assert np.allclose([decoded.max(), decoded.min()], [50.0, -40.0])
    assert sum(len(str(part)) for part in data.values()) < 4 / 3 * 400_000 + 60_000


def test_every_choice_of_the_estimators_has_a_chart():
    data = make_sine_steps(80, 2, 1.0, noise_variance=0.01, random_state=0)
    chosen = StepSmooth("auto", solver="altmin").fit(data.X, data.y).selection_
    assert [p.alt.split(":")[0] for p in choice_curves(chosen)] == [
        "Choice of the number of levels",
        "Choice of the smoothness",
    ]


def test_the_viewer_is_the_released_bundle_and_its_licence_comes_with_it():
    assets = files("stepsmooth.report").joinpath("assets")
    licence = assets.joinpath("niivue.LICENSE.txt").read_text()
    assert hashlib.sha256(assets.joinpath("niivue.umd.js").read_bytes()).hexdigest() in licence
    assert "BSD 2-Clause" in licence
