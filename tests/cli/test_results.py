"""`stepsmooth apply` and `stepsmooth certify`: what earlier results are good for."""

import json

import nibabel
import numpy as np
import pytest


def load(path):
    return np.asarray(nibabel.load(path).dataobj)


def test_applied_to_its_own_image_a_field_gives_the_corrected_image(run, corrected, tmp_path):
    done = run("apply", corrected.out, corrected.folder / "T1w.nii.gz", "--out", tmp_path / "a.nii.gz")
    assert (done.exit_code, done.stderr) == (0, "")
    np.testing.assert_allclose(load(tmp_path / "a.nii.gz"), load(corrected.out / "T1w_corrected.nii.gz"), rtol=1e-6)


def test_applied_to_another_image_it_keeps_that_image_s_header_and_outside(run, corrected, head, tmp_path):
    image = nibabel.load(corrected.folder / "T2w.nii.gz")
    turned = nibabel.Nifti1Image(
        np.asarray(image.dataobj)[:, ::-1], image.affine @ np.array(
            [[1, 0, 0, 0], [0, -1, 0, image.shape[1] - 1], [0, 0, 1, 0], [0, 0, 0, 1.0]]
        )
    )  # fmt: skip
    turned.header["descrip"] = b"second"
    nibabel.save(turned, tmp_path / "T2w.nii.gz")
    done = run("apply", corrected.out, tmp_path / "T2w.nii.gz", "--out", tmp_path / "b.nii.gz", "--json")
    told = json.loads(done.stdout)
    assert "turned to match" in told["remarks"][0]
    after = nibabel.load(tmp_path / "b.nii.gz")
    np.testing.assert_array_equal(after.affine, nibabel.load(tmp_path / "T2w.nii.gz").affine)
    assert after.header["descrip"].item() == b"second"
    before, field = load(tmp_path / "T2w.nii.gz")[:, ::-1], load(corrected.out / "field.nii.gz")
    inside = head.mask[..., None]
    values = np.asarray(after.dataobj)[:, ::-1]
    np.testing.assert_allclose(values[inside], (before / field)[inside], rtol=1e-5)
    np.testing.assert_array_equal(values[~inside], before[~inside])


def test_everywhere_is_everywhere_and_the_type_is_kept_when_asked(run, corrected, tmp_path):
    options = ["--out", tmp_path / "b.nii.gz", "--everywhere", "--keep-dtype", "--quiet"]
    done = run("apply", corrected.out, corrected.folder / "T1w.nii.gz", *options)
    assert (done.exit_code, done.stdout) == (0, "")
    before, field = load(corrected.folder / "T1w.nii.gz"), load(corrected.out / "field.nii.gz")
    assert load(tmp_path / "b.nii.gz").dtype == np.int16
    np.testing.assert_allclose(load(tmp_path / "b.nii.gz"), before / field, atol=0.51)


def test_a_series_is_corrected_frame_by_frame(run, corrected, tmp_path):
    image = nibabel.load(corrected.folder / "T1w.nii.gz")
    frames = np.stack([load(corrected.folder / "T1w.nii.gz")] * 3, axis=-1)
    nibabel.save(nibabel.Nifti1Image(frames, image.affine), tmp_path / "bold.nii.gz")
    assert run("apply", corrected.out, tmp_path / "bold.nii.gz", "--out", tmp_path / "b.nii.gz").exit_code == 0
    for frame in np.moveaxis(load(tmp_path / "b.nii.gz"), -1, 0):
        np.testing.assert_allclose(frame, load(corrected.out / "T1w_corrected.nii.gz"), rtol=1e-6)


def test_neither_the_input_nor_an_older_file_is_overwritten(run, corrected, tmp_path):
    source = tmp_path / "T1w.nii.gz"
    source.write_bytes((corrected.folder / "T1w.nii.gz").read_bytes())
    before = source.read_bytes()
    done = run("apply", corrected.out, source, "--out", source, "--overwrite")
    assert (done.exit_code, source.read_bytes()) == (4, before)
    assert "is the input itself" in done.stderr
    (tmp_path / "b.nii.gz").write_text("mine")
    done = run("apply", corrected.out, source, "--out", tmp_path / "b.nii.gz")
    assert (done.exit_code, (tmp_path / "b.nii.gz").read_text()) == (4, "mine")
    assert run("apply", corrected.out, source, "--out", tmp_path / "b.nii.gz", "--overwrite").exit_code == 0


def test_a_field_does_not_go_where_it_does_not_belong(run, corrected, decomposed, tmp_path):
    image = nibabel.load(corrected.folder / "T1w.nii.gz")
    moved = image.affine.copy()
    moved[0, 3] += 10.0
    nibabel.save(nibabel.Nifti1Image(np.asarray(image.dataobj), moved), tmp_path / "moved.nii.gz")
    for arguments, code, words in (
        ([corrected.out, tmp_path / "moved.nii.gz"], 3, "lies elsewhere than"),
        ([decomposed.out, tmp_path / "moved.nii.gz"], 3, "is the result of a signal"),
        ([tmp_path / "none", tmp_path / "moved.nii.gz"], 3, "does not exist"),
        ([tmp_path, tmp_path / "moved.nii.gz"], 3, "holds no result.json"),
        ([corrected.out, tmp_path / "missing.nii.gz"], 3, "missing.nii.gz does not exist"),
        ([corrected.out, corrected.folder / "T1w.nii.gz", "--out", tmp_path / "a.png"], 2, "must end in .nii.gz"),
    ):
        done = run("apply", *arguments)
        assert done.exit_code == code
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("result", ["corrected", "decomposed"])
def test_the_certificate_of_the_run_is_told_and_found_again_from_the_files(run, result, request):
    out = request.getfixturevalue(result).out
    stored = json.loads((out / "result.json").read_text())["certificate"]
    told = run("certify", out, "--json")
    assert json.loads(told.stdout) == stored
    assert told.exit_code == (0 if stored["verdict"] == "identified" else 6)
    again = json.loads(run("certify", out, "--c", 2.0, "--json").stdout)
    assert again["verdict"] == stored["verdict"]
    assert again["margin"] == pytest.approx(stored["margin"], rel=1e-3)
    assert again["premise"] == stored["premise"]


def test_another_premise_gives_another_certificate_in_words(run, decomposed):
    done = run("certify", decomposed.out, "--c", 1.0, "--confidence", 0.8)
    assert "c = 1 times" in done.stdout
    assert "confidence 0.8" in done.stdout


def test_what_is_no_result_cannot_be_certified(run, tmp_path):
    (tmp_path / "result.json").write_text('{"a": 1}')
    for folder, words in ((tmp_path, "was not written by stepsmooth"), (tmp_path / "none", "does not exist")):
        done = run("certify", folder)
        assert done.exit_code == 3
        assert words in done.stderr
