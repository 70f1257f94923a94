"""Files that were made to harm: what each tries is refused in one sentence, before memory is asked for."""

import gzip
import json
import tracemalloc

import nibabel
import numpy as np
import pytest
from PIL import Image
from reliability.doors.bombs import BOMBS, ROOM

from stepsmooth.files import InputError, ResultFolder, memory, read_image_file, read_signal
from stepsmooth.files.record import read_record
from stepsmooth.files.record_parts import told_certificate
from stepsmooth.files.stored import certify_stored


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_before_they_take_memory(name, tmp_path, monkeypatch):
    ending, make = BOMBS[name]
    if ending.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / ending
    path.write_bytes(make())
    monkeypatch.setattr(memory, "available_memory", lambda: ROOM)
    read = read_signal if ending.startswith("a.csv") or ending.endswith(".parquet") else read_image_file
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as refusal:
            read_record(tmp_path) if ending == "result.json" else read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < ROOM
    assert not isinstance(refusal.value.__cause__, MemoryError)
    assert str(refusal.value).count(str(path)) == 1


def test_an_extension_of_a_header_is_read_and_kept(tmp_path):
    image = nibabel.Nifti1Image(np.ones((3, 4, 5), np.int16), np.eye(4))
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"a comment" * 40))
    for name in ("a.nii", "a.nii.gz", "b.img"):
        nibabel.save(image if name != "b.img" else nibabel.Nifti1Pair.from_image(image), tmp_path / name)
        (kept,) = read_image_file(tmp_path / name).header.header.extensions
        assert kept.get_content() == b"a comment" * 40


def test_a_picture_of_another_kind_is_not_opened_as_png(tmp_path):
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "a.png", format="JPEG")
    with pytest.raises(InputError, match=r"a\.png is not a PNG image"):
        read_image_file(tmp_path / "a.png")


@pytest.mark.parametrize(
    "text, rows",
    [
        (b'0\t1\t1\n"\n1\t2\t1\n b"\t2\n3m\t5\t2\n', 5),
        (b"0\t1\t1\n # a note\t2\t3\n1\t2\t1\n", 3),
        (b'0\t"1"\t1\n1\t2\t1\n', 2),
        (b"a\tb\tc\n#\t\t2\n\t1\t2\n\t\t3\n", 2),
        (b"0\t1\t1\n \t\t\n# a note\n1\tNA\t1\n", 2),
    ],
)
def test_columns_that_are_read_in_two_ways_have_the_same_rows(text, rows, tmp_path):
    (tmp_path / "a.tsv").write_bytes(text)
    assert read_signal(tmp_path / "a.tsv", y=["2", "3"], rate=1.0).y.shape == (rows, 2)


@pytest.mark.parametrize(
    "text, words",
    [
        (b"x,y\n" + b"0,1\n" * 5000 + b"1,\xff\n", "save it as UTF-8"),
        (b'x,y\n0,1\n1,"' + b"1" * 200_000 + b'"\n', "larger than field limit"),
        (b'"' + b"a" * 200_000 + b'",y\n0,1\n', "larger than field limit"),
    ],
)
def test_text_that_is_no_table_is_told(text, words, tmp_path):
    (tmp_path / "a.csv").write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_signal(tmp_path / "a.csv", y=["2"])


def test_a_column_without_numbers_tells_no_sweeps_apart(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,s\n0,1,\n1,2,NA\n")
    with pytest.raises(InputError, match="the column 's' has no numbers to tell sweeps apart"):
        read_signal(tmp_path / "a.csv", y=["y"], sweep_column="s", sweep="all")


RECORD = {
    "stepsmooth": {"version": "0.1.0", "format": 1, "kind": "image"},
    "levels": [{"level": 1.0}, {"level": 2.0}],
    "noise": {"variance": [1e-6, 1e-6], "of": "values"},
    "settings": {"additive": True, "keep_dtype": False},
    "layout": {"corrected": ["a"], "spacing": [1.0, 1.0]},
    "certificate": {"verdict": "identified", "words": "All."},
}


@pytest.mark.parametrize(
    "change, words",
    [
        ({"levels": None}, "levels is null, a list belongs there"),
        ({"levels": [{"level": 1.0}]}, "levels and noise.variance do not go together"),
        ({"levels": [{"level": "high"}, 2]}, "levels must be finite numbers"),
        ({"levels": [{"level": 10**400}, {"level": 1}]}, "levels must be finite numbers"),
        ({"noise": {"variance": [1.0, 2.0, 3.0], "of": "values"}}, "do not go together"),
        ({"noise": 3}, "noise.variance is missing"),
        ({"layout": {"corrected": ["../a"], "spacing": [1.0, 1.0]}}, "layout.corrected must name files of its folder"),
        ({"layout": {"corrected": ["a"], "spacing": [-1.0, 1.0]}}, "cannot be certified anew"),
    ],
)
def test_a_record_that_was_changed_is_refused_with_its_place(change, words, tmp_path):
    labels = np.indices((3, 4)).sum(axis=0) % 2
    for name, values in (("a", labels + 1.0), ("field", np.zeros((3, 4))), ("labels", (labels + 1).astype(np.uint8))):
        np.save(tmp_path / f"{name}.npy", values)
    (tmp_path / "result.json").write_text(json.dumps(RECORD))
    assert certify_stored(tmp_path).verdict
    (tmp_path / "result.json").write_text(json.dumps(RECORD | change))
    with pytest.raises(InputError, match=words) as refusal:
        certify_stored(tmp_path)
    assert str(tmp_path) in str(refusal.value)


@pytest.mark.parametrize("certificate", [3, [], {"verdict": 1, "words": "a"}, {"verdict": "identified"}])
def test_a_certificate_that_is_none_is_not_told(certificate, tmp_path):
    with pytest.raises(InputError, match="certificate"):
        told_certificate(tmp_path, {"certificate": certificate})


def test_a_record_without_end_does_not_count_as_a_result_either(tmp_path):
    (tmp_path / "result.json").write_bytes(b"[" * 100_000)
    with pytest.raises(OSError, match="which is not a result of stepsmooth"), ResultFolder(tmp_path, overwrite=True):
        pass


def test_a_message_from_a_record_can_be_printed(tmp_path):
    about = {"stepsmooth": {"kind": "image", "format": "\x1b[31m\ud800"}}
    (tmp_path / "result.json").write_text(json.dumps(about))
    with pytest.raises(InputError) as refusal:
        read_record(tmp_path)
    assert str(refusal.value).isprintable()


def test_what_follows_a_compressed_image_is_tolerated_up_to_a_point(tmp_path):
    content = nibabel.Nifti1Image(np.ones((3, 4, 5), np.int16), np.eye(4)).to_bytes()
    (tmp_path / "a.nii.gz").write_bytes(gzip.compress(content + bytes(1000)))
    assert read_image_file(tmp_path / "a.nii.gz").array.shape == (3, 4, 5)
