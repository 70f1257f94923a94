"""BrainWeb phantoms are read from whatever file holds them; where there is none, one sentence says where to get it."""

import gzip
import subprocess
import sys

import nibabel
import numpy as np
import pytest

from stepsmooth.datasets import load_brainweb, simulate_scan
from stepsmooth.datasets.tissues import BRAINWEB_1_5T, BRAINWEB_3T


def phantom(shape=(6, 7, 5), top=10):
    return np.random.default_rng(0).integers(0, top, shape).astype(np.uint8)


def save(path, labels, affine=None):
    nibabel.save(nibabel.Nifti1Image(labels, np.diag([1, 1, 1, 1]) if affine is None else affine), path)


@pytest.mark.parametrize("ending", [".nii", ".nii.gz", ".mgz"])
def test_a_file_gives_back_its_labels_names_and_spacing(tmp_path, ending):
    labels = phantom()
    kind = nibabel.MGHImage if ending == ".mgz" else nibabel.Nifti1Image
    nibabel.save(kind(labels, np.diag([1.0, 2.0, 3.0, 1.0])), tmp_path / f"head{ending}")
    volume = load_brainweb(tmp_path / f"head{ending}")
    np.testing.assert_array_equal(volume.labels, labels)
    assert volume.labels.dtype == np.uint8
    assert volume.names == tuple(BRAINWEB_1_5T)
    assert volume.spacing == (1.0, 2.0, 3.0)


def test_the_axes_come_out_right_forward_up_whatever_the_file(tmp_path):
    labels = phantom()
    turned = np.array([[0, 0, -1, 0], [0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=float)
    save(tmp_path / "head.nii", labels.transpose(2, 1, 0)[:, :, ::-1], turned)
    volume = load_brainweb(tmp_path / "head.nii")
    np.testing.assert_array_equal(volume.labels, labels)
    assert volume.spacing == (1.0, 2.0, 1.0)


@pytest.mark.parametrize("ending", [".rawb", ".rawb.gz"])
def test_raw_bytes_are_read_with_x_fastest(tmp_path, ending):
    labels = np.zeros((181, 217, 181), dtype=np.uint8)
    labels[10, 20, 30] = 3
    raw = labels.tobytes(order="F")
    (tmp_path / f"phantom_1.0mm_normal_crisp{ending}").write_bytes(gzip.compress(raw) if "gz" in ending else raw)
    volume = load_brainweb(tmp_path)
    assert np.argwhere(volume.labels).tolist() == [[10, 20, 30]]
    assert volume.spacing == (1.0, 1.0, 1.0)


def test_a_folder_is_searched_and_so_is_the_environment(tmp_path, monkeypatch):
    (tmp_path / "brainweb").mkdir()
    save(tmp_path / "brainweb" / "normal_crisp_1mm.nii.gz", phantom())
    save(tmp_path / "brainweb" / "subject05_crisp_v.nii", phantom(top=5))
    assert load_brainweb(tmp_path).names == tuple(BRAINWEB_1_5T)
    monkeypatch.setenv("STEPSMOOTH_DATA", str(tmp_path))
    assert load_brainweb().labels.shape == (6, 7, 5)
    assert load_brainweb(subject=5).names == tuple(BRAINWEB_3T)


def test_a_label_above_nine_means_the_twenty_subjects(tmp_path):
    save(tmp_path / "head.nii", phantom(top=12))
    assert load_brainweb(tmp_path / "head.nii").names == tuple(BRAINWEB_3T)


def test_what_was_read_can_be_scanned(tmp_path):
    save(tmp_path / "head.nii", phantom((20, 20, 20)))
    scan = simulate_scan(load_brainweb(tmp_path / "head.nii"), classes=["CSF", "GM", "WM"], random_state=0)
    assert scan.levels.shape == (3,)


@pytest.mark.parametrize("subject", ["normal", 5])
def test_what_is_missing_is_said_in_one_sentence_with_where_to_get_it(tmp_path, monkeypatch, subject):
    monkeypatch.delenv("STEPSMOOTH_DATA", raising=False)
    for path, found in ((None, "path was not given"), (tmp_path, "holds no such file"), (tmp_path / "no", "not exist")):
        with pytest.raises(FileNotFoundError, match=r"https://brainweb\.bic\.mni\.mcgill\.ca") as caught:
            load_brainweb(path, subject=subject)
        assert found in str(caught.value)
        assert "STEPSMOOTH_DATA" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_files_that_hold_no_labels_are_refused(tmp_path):
    save(tmp_path / "many.nii", np.full((3, 3, 3), 40, dtype=np.uint8))
    save(tmp_path / "scan.nii", np.full((3, 3, 3), 0.5, dtype=np.float32))
    save(tmp_path / "series.nii", np.zeros((3, 3, 3, 2), dtype=np.uint8))
    (tmp_path / "short.rawb").write_bytes(b"123")
    for name, sentence in (
        ("many.nii", r"^path must be a map of BrainWeb labels, 0 to 11; found 40"),
        ("scan.nii", r"^path must be a three-dimensional map of whole numbers from 0; found"),
        ("series.nii", r"^path must be a three-dimensional map of whole numbers from 0; found shape \(3, 3, 3, 2\)"),
        ("short.rawb", r"^path must be raw bytes on a grid of 181x217x181, .*; found 3 bytes"),
    ):
        with pytest.raises(ValueError, match=sentence):
            load_brainweb(tmp_path / name)


@pytest.mark.parametrize("subject", ["abnormal", -1, True, 5.0])
def test_an_unknown_subject_is_refused(subject, tmp_path):
    with pytest.raises(
        ValueError, match=r"^subject must be 'normal' or the number of one of the twenty subjects; found"
    ):
        load_brainweb(tmp_path, subject=subject)


def test_the_generators_do_not_wait_for_nibabel():
    check = "import sys, stepsmooth.datasets; print('nibabel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True).stdout.strip() == "False"
