"""`stepsmooth image`: what it writes, what it leaves alone, and what it says."""

import json

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image
from scipy.ndimage import gaussian_filter

from stepsmooth import GridStepSmooth
from stepsmooth.metrics import label_accuracy

OUTPUTS = ["T1w_corrected.nii.gz", "field.nii.gz", "labels.nii.gz", "labels.tsv", "mask.nii.gz", "probabilities.nii.gz"]
OUTPUTS += ["report.html", "result.json"]


def load(path):
    return np.asarray(nibabel.load(path).dataobj)


def test_it_ends_well_and_writes_what_it_says(corrected):
    assert (corrected.done.exit_code, corrected.done.stderr) == (0, "")
    assert sorted(p.name for p in corrected.out.iterdir()) == OUTPUTS
    assert f"look at: {corrected.out / 'report.html'}" in corrected.done.stdout
    assert "verdict: helped" in corrected.done.stdout


def test_inputs_are_not_touched(corrected):
    assert {name: (corrected.folder / name).read_bytes() for name in corrected.before} == corrected.before


def test_the_numbers_are_those_of_the_estimator(corrected, head):
    scan, mask = load(corrected.folder / "T1w.nii.gz")[..., 0], load(corrected.folder / "brain.nii.gz")[..., 0]
    m = GridStepSmooth(3, spacing=head.spacing, random_state=0).fit(scan, mask=mask > 0)
    np.testing.assert_array_equal(load(corrected.out / "labels.nii.gz")[..., 0], m.labels_ + 1)
    np.testing.assert_allclose(load(corrected.out / "field.nii.gz")[..., 0], m.field_, rtol=1e-5)
    np.testing.assert_allclose(load(corrected.out / "T1w_corrected.nii.gz")[..., 0], m.corrected_, rtol=1e-5)
    found = load(corrected.out / "probabilities.nii.gz")
    assert found.shape == (*scan.shape, 1, 3)
    np.testing.assert_allclose(found[..., 0, :], m.probabilities(), atol=1e-5)


def test_the_labels_are_right_and_zero_outside(corrected, head):
    labels = load(corrected.out / "labels.nii.gz")[..., 0]
    assert np.all((labels == 0) == ~head.mask)
    assert label_accuracy(head.labels[head.mask], labels[head.mask].astype(int)) > 0.95


def test_outside_the_mask_values_stay_as_they_are(corrected, head):
    before, after = load(corrected.folder / "T1w.nii.gz")[..., 0], load(corrected.out / "T1w_corrected.nii.gz")[..., 0]
    np.testing.assert_array_equal(after[~head.mask], before[~head.mask])
    assert np.mean(after[head.mask] != before[head.mask]) > 0.9


def test_corrected_times_field_is_the_image(corrected, head):
    product = load(corrected.out / "T1w_corrected.nii.gz") * load(corrected.out / "field.nii.gz")
    before = load(corrected.folder / "T1w.nii.gz")
    np.testing.assert_allclose(product[..., 0][head.mask], before[..., 0][head.mask], rtol=1e-5)


@pytest.mark.parametrize("name", ["T1w_corrected", "field", "labels", "mask"])
def test_headers_are_kept(corrected, name):
    before, after = nibabel.load(corrected.folder / "T1w.nii.gz"), nibabel.load(corrected.out / f"{name}.nii.gz")
    np.testing.assert_array_equal(after.affine, before.affine)
    for field in ("qform_code", "sform_code", "xyzt_units"):
        assert after.header[field] == before.header[field]
    assert after.header.get_zooms()[:3] == before.header.get_zooms()[:3]
    assert (after.dataobj.slope, after.dataobj.inter) == (1.0, 0.0)


def test_the_table_of_labels_is_in_the_order_of_levels(corrected):
    names, *rows = [line.split("\t") for line in (corrected.out / "labels.tsv").read_text().splitlines()]
    assert names[:3] == ["index", "name", "level"]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    levels = [float(row[2]) for row in rows]
    assert levels == sorted(levels)
    labels = load(corrected.out / "labels.nii.gz")
    assert [int(row[names.index("voxels")]) for row in rows] == np.bincount(labels.ravel())[1:].tolist()


def test_the_record_says_what_was_done_to_what_with_which_outcome(corrected):
    record = json.loads((corrected.out / "result.json").read_text())
    assert record["outputs"] == OUTPUTS
    assert record["settings"]["levels"] == "3"
    assert record["versions"]["numpy"] == np.__version__
    assert len(record["levels"]) == record["n_levels"]["value"] == 3
    assert all(entry["standard_error"] > 0 for entry in record["levels"])
    assert len(record["noise"]["variance"]) == 3
    assert record["tau"]["knots_curve"] is not None
    assert record["certificate"]["verdict"] in ("identified", "not identified", "cannot tell")
    assert record["quality"]["verdict"] == "helped"
    assert [entry["role"] for entry in record["inputs"]] == ["image", "mask"]
    import hashlib

    content = (corrected.folder / "T1w.nii.gz").read_bytes()
    assert record["inputs"][0]["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def shared(run, write_scans, tmp_path_factory):
    """Two sequences that share a field; the second runs backwards along its first axis."""
    folder = write_scans(tmp_path_factory.mktemp("shared"))
    image = nibabel.load(folder / "T2w.nii.gz")
    affine = image.affine.copy()
    affine[0, 3] += affine[0, 0] * (image.shape[0] - 1)
    affine[0, 0] *= -1
    nibabel.save(nibabel.Nifti1Image(np.asarray(image.dataobj)[::-1], affine), folder / "T2w.nii.gz")
    out = folder / "both"
    done = run(
        *("image", folder / "T1w.nii.gz", folder / "T2w.nii.gz", "--mask", folder / "brain.nii.gz"),
        *("--levels", 3, "--preset", "multi-sequence", "--out", out, "--json"),
    )
    return done, folder, out


def test_several_files_share_one_field(shared, head):
    done, folder, out = shared
    assert done.exit_code == 0, done.stderr
    field = load(out / "field.nii.gz")
    for name, turn in (("T1w", 1), ("T2w", -1)):
        before, after = load(folder / f"{name}.nii.gz")[::turn], load(out / f"{name}_corrected.nii.gz")[::turn]
        inside = head.mask[..., None]
        np.testing.assert_allclose((after * field)[inside], before[inside], rtol=1e-4)
        np.testing.assert_array_equal(after[~inside], before[~inside])


def test_what_was_turned_to_match_is_told_and_written_as_it_was(shared):
    done, folder, out = shared
    record = json.loads(done.stdout)
    assert any("T2w.nii.gz runs along other axes" in remark for remark in record["remarks"])
    for name in ("T1w", "T2w"):
        before, after = nibabel.load(folder / f"{name}.nii.gz"), nibabel.load(out / f"{name}_corrected.nii.gz")
        np.testing.assert_array_equal(after.affine, before.affine)


def test_json_on_stdout_is_the_record_and_nothing_else(shared):
    done, _, out = shared
    told = json.loads(done.stdout)
    assert told.pop("out") == str(out)
    assert told == json.loads((out / "result.json").read_text())


@pytest.mark.parametrize("black", [50, 0])
def test_a_page_is_corrected_as_a_page(run, tmp_path, short_report, black):
    rng = np.random.default_rng(0)
    ink = np.repeat(np.repeat(rng.random((12, 15)) < 0.3, 4, axis=0), 4, axis=1)
    light = np.exp(np.linspace(-0.4, 0.4, ink.shape[1]))
    noise = np.where(ink & (black == 0), 0.0, 3.0) * rng.normal(size=ink.shape)
    page = np.clip(light * np.where(ink, black, 150) + noise, 0, 255).astype(np.uint8)
    Image.fromarray(page).save(tmp_path / "page.png")
    done = run("image", tmp_path / "page.png", "--preset", "document", "--out", tmp_path / "out", "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    with Image.open(tmp_path / "out" / "page_corrected.png") as written:
        corrected = np.asarray(written)
    assert corrected.dtype == np.uint8
    assert np.std(corrected[~ink]) < 0.3 * np.std(page[~ink])
    assert np.mean((tifffile.imread(tmp_path / "out" / "labels.tif") == 1) == ink) > 0.98


@pytest.mark.parametrize("seed", [0, 1])
def test_strokes_of_two_pixels_on_rough_paper_are_ink(run, tmp_path, short_report, seed):
    rng, shape = np.random.default_rng(seed), (90, 120)
    strokes = np.zeros(shape, dtype=bool)
    for _ in range(20):
        i, j = rng.integers(2, shape[0] - 2), rng.integers(0, shape[1] - 12)
        across = slice(i, i + 2), slice(j, j + 12)
        down = slice(max(i - 6, 0), i + 6), slice(j, j + 2)
        strokes[across if rng.random() < 0.5 else down] = True
    sharp = gaussian_filter(np.where(strokes, 60.0, 190.0), 1.0)
    paper = gaussian_filter(rng.normal(size=shape), 1.5)
    u, v = np.mgrid[: shape[0], : shape[1]] / shape[1]
    light = np.exp(-0.7 * np.exp(-((u - 0.2) ** 2 + (v - 0.1) ** 2) / 0.15))
    page = light * (1.0 + 0.08 * paper / paper.std()) * sharp + 2.0 * rng.normal(size=shape)
    Image.fromarray(np.clip(page, 1, 255).astype(np.uint8)).save(tmp_path / "page.png")
    done = run("image", tmp_path / "page.png", "--preset", "document", "--out", tmp_path / "out", "--quiet", "--force")
    assert done.exit_code == 0, done.stderr
    assert np.mean((tifffile.imread(tmp_path / "out" / "labels.tif") == 1) == (sharp < 125.0)) > 0.98


def test_frames_share_one_field_and_have_labels_each(run, head, tmp_path, short_report):
    frames = np.stack([1000.0 * head.image[..., 0]] * 2, axis=-1)[:, :, None].astype(np.float32)
    frames[..., 1][~head.mask] = 7.0
    nibabel.save(nibabel.Nifti1Image(frames, np.diag([*head.spacing, 3.0, 1.0])), tmp_path / "bold.nii")
    np.save(tmp_path / "mask.npy", head.mask[..., None])
    weights = np.ones(head.mask.shape, np.float32)
    weights[::5, ::5] = 0.0
    np.save(tmp_path / "weights.npy", weights[..., None])
    done = run(
        *("image", tmp_path / "bold.nii", "--mask", tmp_path / "mask.npy", "--weights", tmp_path / "weights.npy"),
        *("--levels", 3, "--out", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("matched by shape alone") == 2
    labels = load(tmp_path / "out" / "labels.nii.gz")
    assert (labels.shape, load(tmp_path / "out" / "field.nii.gz").shape) == (frames.shape, frames.shape[:3])
    np.testing.assert_array_equal(labels[..., 0], labels[..., 1])
    absent = (weights == 0.0) | ~head.mask
    assert np.all((labels[:, :, 0, 0] == 0) == absent)
    after = load(tmp_path / "out" / "bold_corrected.nii.gz")
    np.testing.assert_array_equal(after[..., 1][~head.mask], 7.0)


@pytest.mark.parametrize("additive", [False, True])
def test_an_array_may_have_a_field_that_adds(run, tmp_path, short_report, additive):
    rng = np.random.default_rng(0)
    steps = np.repeat(np.repeat(rng.integers(2, size=(8, 8)), 5, axis=0), 5, axis=1)
    slope = np.linspace(-1.0, 1.0, 40)
    values = steps * 2.0 + slope + 0.05 * rng.normal(size=steps.shape)
    np.save(tmp_path / "a.npy", values)
    options = ["--additive"] if additive else []
    done = run("image", tmp_path / "a.npy", "--levels", 2, "--out", tmp_path / "out", *options)
    if not additive:
        assert done.exit_code == 3
        assert "use --additive" in done.stderr
        assert not (tmp_path / "out").exists()
        return
    assert done.exit_code == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "labels.npy"), steps + 1)
    field = np.load(tmp_path / "out" / "field.npy")
    assert np.abs(field - slope).max() < 0.1
    np.testing.assert_allclose(np.load(tmp_path / "out" / "a_corrected.npy") + field, values, atol=1e-5)


def test_of_what_is_smaller_than_a_head_that_is_told(run, tmp_path, short_report):
    labels = np.random.default_rng(0).integers(2, size=(10, 12)).repeat(5, axis=0).repeat(5, axis=1)
    nibabel.save(
        nibabel.Nifti1Image((100 + 50 * labels).astype(np.int16)[..., None], np.eye(4)), tmp_path / "mouse.nii"
    )
    done = run("image", tmp_path / "mouse.nii", "--levels", 2, "--spacing", 0.5, "--out", tmp_path / "out")
    assert "mouse.nii is 30 mm wide, smaller than a head" in done.stdout
    assert json.loads((tmp_path / "out" / "result.json").read_text())["tau"]["in_mm"]


def test_what_made_it_worse_is_reported_but_not_written(run, write_scans, tmp_path, worse, short_report):
    write_scans(tmp_path)
    command = ["image", tmp_path / "T1w.nii.gz", "--mask", tmp_path / "brain.nii.gz", "--levels", 3]
    command += ["--out", tmp_path / "out"]
    done = run(*command)
    assert done.exit_code == 5
    assert "made it worse" in done.stderr
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert {"report.html", "result.json"} <= names
    assert not any("corrected" in name for name in names)
    assert json.loads((tmp_path / "out" / "result.json").read_text())["quality"]["verdict"] == "made worse"

    refused = run("apply", tmp_path / "out", tmp_path / "T2w.nii.gz", "--out", tmp_path / "b.nii.gz")
    assert refused.exit_code == 5
    assert not (tmp_path / "b.nii.gz").exists()

    forced = run(*command, "--force", "--overwrite")
    assert forced.exit_code == 5
    assert (tmp_path / "out" / "T1w_corrected.nii.gz").exists()


@pytest.mark.parametrize(
    "options, words",
    [
        (["--preset", "t1w-brain"], "--preset t1w-brain is for scans with a mask"),
        (["--preset", "multi-sequence"], "--preset multi-sequence is for several files"),
        (["--levels", "many"], "--levels must be a whole number of at least 1, or auto, got 'many'"),
        (["--levels", "0"], "--levels must be a whole number"),
        (["--spacing", "wide"], "--spacing must be numbers with commas between them"),
        (["--threads", "4096"], "--threads 4096 is more than this machine has"),
        (["--preset", "nonsense"], "nonsense"),
        (["--prior", "markov"], "markov"),
    ],
)
def test_wrong_options_are_told_and_nothing_is_written(run, write_scans, tmp_path, options, words):
    write_scans(tmp_path)
    done = run("image", tmp_path / "T1w.nii.gz", "--out", tmp_path / "out", *options)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (tmp_path / "out").exists()
