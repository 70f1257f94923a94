"""Headers are kept: 200 variants of NIfTI files, read and written again."""

import itertools

import nibabel
import numpy as np
import pytest

from stepsmooth.files import lay_out, read_image_file, write_image_file

CODES = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (3, 4), (0, 4)]
DTYPES = ["uint8", "int8", "int16", "uint16", "int32", "int64", "float32", "float64"]
SCALINGS = [None, (1.0, 0.0), (0.5, 10.0), (2.0, -3.0)]
SHAPES = [(4, 5, 6), (4, 5), (4, 5, 1), (4, 5, 6, 3), (4, 5, 6, 1), (4, 5, 1, 1, 2), (1, 4, 5)]
KINDS = [
    (nibabel.Nifti1Image, ".nii.gz"),
    (nibabel.Nifti1Image, ".nii"),
    (nibabel.Nifti2Image, ".nii.gz"),
    (nibabel.Nifti1Pair, ".hdr"),
    (nibabel.Nifti2Pair, ".img"),
]
TURNS = [
    np.eye(3)[list(order)] * signs
    for order in itertools.permutations(range(3))
    for signs in itertools.product([1, -1], repeat=3)
]
# What must differ: the type of the numbers, their scaling, and where they begin.
OF_THE_NUMBERS = {"datatype", "bitpix", "scl_slope", "scl_inter", "vox_offset", "magic", "sizeof_hdr"}


def variant(number, folder):
    """Write the file of a variant; every feature cycles with a period of its own."""
    rng = np.random.default_rng(number)
    dtype, shape = np.dtype(DTYPES[number % len(DTYPES)]), SHAPES[number % len(SHAPES)]
    kind, ending = KINDS[number % len(KINDS)]
    qform, sform = CODES[(number // 3) % len(CODES)]
    scaling = SCALINGS[(number // 5) % len(SCALINGS)] if dtype.kind in "iu" else None
    values = rng.integers(0, 100, shape).astype(dtype)
    affine = np.eye(4)
    affine[:3, :3] = TURNS[number % len(TURNS)] @ np.diag([0.8, 1.2, 3.0])
    if number % 4 == 3:  # oblique
        affine[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ np.diag([0.8, 1.2, 3.0])
    affine[:3, 3] = rng.normal(size=3) * 50
    header = kind.header_class(endianness="<>"[number % 2])
    image = kind(values, affine, header, dtype=dtype)
    image.set_qform(affine, qform)
    image.set_sform(affine @ np.diag([1.1, 1.1, 1.1, 1.0]) if number % 3 == 0 else affine, sform)
    image.header.set_xyzt_units(["mm", "unknown", "micron", "meter"][(number // 2) % 4], "sec")
    image.header["descrip"] = f"variant {number}".encode()
    image.header["cal_max"], image.header["toffset"], image.header["intent_name"] = 90.0, 2.5, b"anatomy"
    image.header.set_dim_info(0, 1, 2)
    if number % 3 == 1:
        image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"kept " * (number % 7 + 1)))
    if scaling is not None:
        image.header.set_slope_inter(*scaling)
    path = folder / f"variant{ending}"
    nibabel.save(image, path)
    slope, inter = scaling or (1.0, 0.0)
    return path, values, values.astype(np.float64) * slope + inter


def header_of(path):
    """Return the fields of a header and its extensions."""
    header = nibabel.load(path).header
    fields = {name: header[name].tolist() for name in header.keys() if name not in OF_THE_NUMBERS}  # noqa: SIM118
    return fields, [(e.get_code(), e.get_content()) for e in header.extensions]


@pytest.mark.parametrize("number", range(200))
def test_a_header_survives_the_way_through(number, tmp_path):
    path, stored, truth = variant(number, tmp_path)
    image = read_image_file(path)
    np.testing.assert_allclose(image.array, truth, rtol=1e-6)

    written = tmp_path / "corrected.nii.gz"
    assert write_image_file(written, image.array, image) == 0
    again = nibabel.load(written)
    assert str(again.get_data_dtype().newbyteorder("=")) == "float32"
    assert (again.dataobj.slope, again.dataobj.inter) == (1.0, 0.0)
    np.testing.assert_array_equal(np.asarray(again.dataobj, np.float32), truth.astype(np.float32))
    assert str(header_of(written)) == str(header_of(path))  # as text, NaN equals NaN
    np.testing.assert_array_equal(again.affine, nibabel.load(path).affine)

    rounded = tmp_path / "rounded.nii.gz"
    assert write_image_file(rounded, image.array, image, keep_dtype=True) == 0
    bits = nibabel.load(rounded).dataobj.get_unscaled()
    assert bits.dtype.newbyteorder("=") == stored.dtype
    np.testing.assert_array_equal(bits, stored)


@pytest.mark.parametrize("number", range(0, 200, 13))
def test_field_and_labels_lie_where_the_image_lies(number, tmp_path):
    path, _, _ = variant(number, tmp_path)
    image = read_image_file(path)
    layout = lay_out([image])
    labels = tmp_path / "labels.nii.gz"
    grid = layout.space_only(np.ones([n for n in image.space if n > 1], np.uint8))
    write_image_file(labels, grid, image, purpose="labels")
    before, after = nibabel.load(path), nibabel.load(labels)
    assert after.shape == image.space
    np.testing.assert_array_equal(after.affine, before.affine)
    for name in ("qform_code", "sform_code", "xyzt_units"):
        assert after.header[name] == before.header[name]
    np.testing.assert_array_equal(after.header["pixdim"][1:3], before.header["pixdim"][1:3])
    assert after.header.get_intent()[0] == "label"
    assert bytes(after.header["descrip"].item()) == b"stepsmooth labels"


@pytest.mark.parametrize("number", range(0, 200, 7))
def test_laid_out_and_put_back_an_image_is_itself(number, tmp_path):
    path, _, _ = variant(number, tmp_path)
    image = read_image_file(path)
    layout = lay_out([image])
    np.testing.assert_array_equal(layout.channel(layout.image, 0), image.array)


def test_what_does_not_fit_the_type_is_held_at_its_end_and_counted(tmp_path):
    path, _, _ = variant(0, tmp_path)
    image = read_image_file(path)
    values = image.array.copy()
    values.flat[:3] = [300.0, -5.0, 254.6]
    assert write_image_file(tmp_path / "o.nii.gz", values, image, keep_dtype=True) == 2
    assert np.asarray(nibabel.load(tmp_path / "o.nii.gz").dataobj).flat[:3].tolist() == [255, 0, 255]


@pytest.mark.parametrize("dtype", ["complex64", [("R", "u1"), ("G", "u1"), ("B", "u1")]])
def test_complex_numbers_and_colours_are_refused(dtype, tmp_path):
    nibabel.save(nibabel.Nifti1Image(np.zeros((3, 4, 5), dtype), np.eye(4)), tmp_path / "a.nii")
    with pytest.raises(ValueError, match="plain numbers"):
        read_image_file(tmp_path / "a.nii")


def test_an_affine_that_cannot_be_inverted_is_kept_and_told(tmp_path):
    image = nibabel.Nifti1Image(np.zeros((3, 4, 5), np.int16), None)
    image.header["sform_code"], image.header["srow_x"] = 1, [0, 0, 0, 7]
    nibabel.save(image, tmp_path / "a.nii")
    found = read_image_file(tmp_path / "a.nii")
    assert found.affine is None
    assert any("cannot be inverted" in remark for remark in found.remarks)
    write_image_file(tmp_path / "b.nii", found.array, found)
    assert nibabel.load(tmp_path / "b.nii").header["srow_x"].tolist() == [0, 0, 0, 7]
