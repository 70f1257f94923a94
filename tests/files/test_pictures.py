"""TIFF, PNG and NPY: numbers, axes and what belongs to them survive; damage is told in one sentence."""

import gzip
import math
from pathlib import Path

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from stepsmooth.files import InputError, memory, read_image_file, write_image_file
from stepsmooth.files.images import ending_for

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
@pytest.mark.parametrize(
    "shape, options, axes",
    [
        ((20, 30), {}, "YX"),
        ((5, 20, 30), {"metadata": {"axes": "ZYX"}}, "ZYX"),
        ((4, 20, 30), {"metadata": {"axes": "CYX"}, "photometric": "minisblack"}, "CYX"),
        ((20, 30, 3), {"photometric": "rgb"}, "YXC"),
    ],
)
def test_a_tiff_file_survives_the_way_through(dtype, shape, options, axes, tmp_path):
    values = RNG.integers(0, 200, shape).astype(dtype)
    tifffile.imwrite(tmp_path / "a.tif", values, resolution=(300, 150), resolutionunit="CENTIMETER", **options)
    image = read_image_file(tmp_path / "a.tif")
    assert image.axes == axes
    np.testing.assert_array_equal(image.array, values)
    for keep, kind in ((False, "float32"), (True, dtype)):
        write_image_file(tmp_path / "b.tif", image.array, image, keep_dtype=keep)
        with tifffile.TiffFile(tmp_path / "b.tif") as written:
            assert str(written.series[0].dtype) == kind
            assert written.pages[0].get_resolution() == (300, 150)
        again = read_image_file(tmp_path / "b.tif")
        assert again.axes == axes
        np.testing.assert_array_equal(again.array, values)


def test_microscopes_units_are_kept(tmp_path):
    values = RNG.integers(0, 200, (5, 20, 30)).astype("uint16")
    metadata = {"spacing": 2.5, "unit": "um", "axes": "ZYX"}
    tifffile.imwrite(tmp_path / "a.tif", values, imagej=True, resolution=(4.0, 4.0), metadata=metadata)
    image = read_image_file(tmp_path / "a.tif")
    assert image.axes == "ZYX"
    write_image_file(tmp_path / "b.tif", image.array, image)
    with tifffile.TiffFile(tmp_path / "b.tif") as written:
        told = written.shaped_metadata[0]
    assert (told["spacing"], told["unit"]) == (2.5, "um")


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "I;16", "P", "1"])
def test_a_png_file_survives_the_way_through(mode, tmp_path):
    shape = {"RGB": (20, 30, 3), "RGBA": (20, 30, 4), "LA": (20, 30, 2)}.get(mode, (20, 30))
    values = RNG.integers(0, 255, shape).astype("uint16" if mode == "I;16" else "uint8")
    picture = Image.fromarray(values)
    picture = picture.convert(mode) if mode in ("P", "1") else picture
    picture.save(tmp_path / "a.png", dpi=(300, 300))
    image = read_image_file(tmp_path / "a.png")
    assert image.axes == ("YXC" if mode in ("RGB", "RGBA", "P") else "YX")
    write_image_file(tmp_path / "b.png", image.array, image, keep_dtype=True)
    with Image.open(tmp_path / "a.png") as before, Image.open(tmp_path / "b.png") as after:
        assert round(after.info["dpi"][0]) == 300
        same = before.convert("RGB") if mode == "P" else before
        np.testing.assert_array_equal(np.asarray(after), np.asarray(same))


def test_a_png_file_becomes_tiff_unless_its_type_is_kept(tmp_path):
    Image.fromarray(np.full((4, 5), 7, np.uint8)).save(tmp_path / "a.png")
    image = read_image_file(tmp_path / "a.png")
    assert (ending_for(image), ending_for(image, keep_dtype=True)) == (".tif", ".png")


@pytest.mark.parametrize("dtype", ["uint8", ">i4", "float16", "float64", "bool"])
def test_an_npy_file_survives_the_way_through(dtype, tmp_path):
    values = RNG.integers(0, 2, (4, 5, 6)).astype(dtype)
    np.save(tmp_path / "a.npy", values)
    image = read_image_file(tmp_path / "a.npy")
    write_image_file(tmp_path / "b.npy", image.array, image, keep_dtype=True)
    again = np.load(tmp_path / "b.npy")
    assert again.dtype == values.dtype.newbyteorder("=")
    np.testing.assert_array_equal(again, values)


def whole(path: Path) -> bytes:
    """Write an image of a format, and return its bytes."""
    values = RNG.integers(0, 200, (40, 50)).astype("uint8")
    if ".nii" in path.name:
        nibabel.save(nibabel.Nifti1Image(values[..., None], np.eye(4)), path)
    elif path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".tif":
        tifffile.imwrite(path, values)
    else:
        Image.fromarray(values).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.npy", "a.tif", "a.png"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_file_that_is_cut_short_is_refused_in_one_sentence(name, share, tmp_path):
    path = tmp_path / name
    content = whole(path)
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"a\.\w+(\.gz)? (is|cannot|holds)") as caught:
        read_image_file(path)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.npy", "a.tif", "a.png"])
@pytest.mark.parametrize("content", [b"just words, no image at all\n" * 40, b"\0" * 1000, b"x"])
def test_what_is_not_an_image_is_refused_in_one_sentence(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"a\.\w+(\.gz)? (is|cannot|has|holds)"):
        read_image_file(tmp_path / name)


def test_damage_in_the_middle_of_a_gz_file_is_told(tmp_path):
    path = tmp_path / "a.nii.gz"
    content = bytearray(whole(path))
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="cut short or damaged"):
        read_image_file(path)


@pytest.mark.parametrize(
    "make, words",
    [(lambda p: None, "does not exist"), (Path.mkdir, "is a folder"), (lambda p: p.write_bytes(b""), "is empty")],
)
def test_what_is_no_file_with_content_is_refused(make, words, tmp_path):
    make(tmp_path / "a.nii.gz")
    with pytest.raises(InputError, match=words):
        read_image_file(tmp_path / "a.nii.gz")


@pytest.mark.parametrize("name", ["a.jpg", "a.dcm", "a", "a.png.gz"])
def test_unknown_kinds_are_refused_with_those_that_are_known(name, tmp_path):
    (tmp_path / name).write_bytes(b"content")
    with pytest.raises(InputError, match=r"of an unknown kind: NIfTI .*TIFF .*PNG .*NPY .* are read"):
        read_image_file(tmp_path / name)


def test_a_header_that_asks_for_too_much_is_refused_before_anything_is_allocated(tmp_path):
    header = nibabel.Nifti1Header()
    header.set_data_dtype(np.float32)
    header.set_data_shape((32000, 32000, 32000))
    header["vox_offset"], header["magic"] = 352, b"n+1"
    with gzip.open(tmp_path / "a.nii.gz", "wb") as handle:
        handle.write(header.binaryblock + bytes(4096))
    with open(tmp_path / "a.npy", "wb") as handle:
        shape = (32000, 32000, 1000)
        np.lib.format.write_array_header_1_0(handle, {"descr": "<f4", "fortran_order": False, "shape": shape})
        handle.truncate(4 * math.prod(shape) + handle.tell())  # sparse: it takes no room
    for name, size in (("a.nii.gz", "32000 values .* 1.44 PB"), ("a.npy", "1000 values .* 45.1 TB")):
        with pytest.raises(InputError, match=f"32000 x 32000 x {size} of memory, but only .* are free"):
            read_image_file(tmp_path / name)


@pytest.mark.parametrize("name", ["a.nii", "a.npy", "a.tif", "a.png"])
def test_the_memory_that_there_is_decides(name, tmp_path, monkeypatch):
    whole(tmp_path / name)
    read_image_file(tmp_path / name)
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000)
    with pytest.raises(InputError, match="only 10 kB are free"):
        read_image_file(tmp_path / name)


def test_the_limit_of_a_container_counts(monkeypatch):
    monkeypatch.setattr(memory, "_free_in_group", lambda: 12_345)
    assert memory.available_memory() == 12_345
