"""Files with numbers at the ends of floating point, on the command line: an answer, or one sentence and no file."""

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

from stepsmooth.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="stepsmooth")


def write_signal(path, x, y):
    path.write_text("t,y\n" + "\n".join(f"{a!r},{b!r}" for a, b in zip(x.tolist(), y.tolist())) + "\n")
    return path


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_a_signal_in_odd_units_is_decomposed(scale, tmp_path, signal):
    x, y, labels = signal()
    file = write_signal(tmp_path / "trace.csv", x, scale * y)
    done = run("signal", file, "--x", "t", "--y", "y", "--levels", 2, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    table = np.genfromtxt(tmp_path / "out" / "decomposition.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["label"], labels + 1)


@pytest.mark.parametrize(
    ("scale", "sentence"), [(1e300, "y must not exceed 1e+80 in size"), (1e-300, "y must vary by at least 1e-80")]
)
def test_a_signal_beyond_all_is_a_sentence_and_no_file(scale, sentence, tmp_path, signal):
    x, y, _ = signal()
    file = write_signal(tmp_path / "trace.csv", x, scale * y)
    done = run("signal", file, "--x", "t", "--y", "y", "--levels", 2, "--out", tmp_path / "out")
    assert done.exit_code != 0
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("scale", [1.0, 1e30])
def test_an_image_in_odd_units_is_decomposed(scale, tmp_path, image):
    file = tmp_path / "image.tif"
    tifffile.imwrite(file, (scale * image()[0]).astype(np.float32))
    done = run("image", file, "--levels", 2, "--out", tmp_path / "out", "--force")
    assert done.exit_code == 0, done.output
    assert any((tmp_path / "out").iterdir())


def test_an_image_beyond_all_is_a_sentence_and_no_file(tmp_path, image):
    file = tmp_path / "image.tif"
    tifffile.imwrite(file, 1e300 * image()[0])
    done = run("image", file, "--levels", 2, "--out", tmp_path / "out", "--force")
    assert done.exit_code != 0
    assert "image must not exceed 1e+80 in size" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()
