"""Whatever bytes of a file are damaged, it is read or refused in one sentence; nothing else happens."""

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from stepsmooth.files import InputError, lay_out, read_image_file, read_signal
from stepsmooth.files.image_file import ImageFile
from stepsmooth.files.images import write_image_file
from stepsmooth.files.tables import write_table


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a small file of each kind."""
    folder = tmp_path_factory.mktemp("whole")
    values = np.arange(600, dtype=np.uint8).reshape(20, 30)
    nibabel.save(nibabel.Nifti1Image(values[..., None], np.eye(4)), folder / "a.nii")
    nibabel.save(nibabel.Nifti1Image(values[..., None], np.eye(4)), folder / "a.nii.gz")
    Image.fromarray(values).save(folder / "a.png")
    like = ImageFile(folder / "a.tif", "tiff", values, "YX", values.dtype)
    for name in ("a.tif", "a.npy"):
        write_image_file(folder / name, values, like, keep_dtype=True)
    for name in ("t.csv", "t.parquet"):
        write_table(folder / name, {"x": np.arange(50.0), "y": np.arange(50.0) ** 2})
    return {path.name: path.read_bytes() for path in folder.iterdir()}, folder


def attempt(path):
    """Return the sentence with which a file is refused, or None if it is read."""
    try:
        if path.name.startswith("damaged_a"):
            lay_out([read_image_file(path)])
        else:
            read_signal(path, y=["2"])
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "a.png", "a.tif", "a.npy", "t.csv", "t.parquet"])
@pytest.mark.filterwarnings("ignore")
@given(data=st.data())
def test_damage_is_refused_in_one_sentence_or_does_no_harm(name, whole, data):
    contents, folder = whole
    content = bytearray(contents[name])
    places = st.integers(0, min(400, len(content) - 1)) | st.integers(0, len(content) - 1)
    for place, byte in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), min_size=1, max_size=5)):
        content[place] = byte
    path = folder / f"damaged_{name}"
    path.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))] if data.draw(st.booleans()) else content))
    refusal = attempt(path)
    assert refusal is None or (path.name in refusal and "\n" not in refusal)
