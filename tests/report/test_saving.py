"""Pictures are written whole or not at all."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from stepsmooth.report import save_figure


def test_a_failed_write_leaves_the_old_picture_and_no_rest(tmp_path, monkeypatch):
    target = tmp_path / "picture.png"
    target.write_bytes(b"old")

    def half(self, path, **options):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(OSError, match="No space left"):
        save_figure(Figure(), target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_same_figure_is_the_same_file(tmp_path):
    one, two = (save_figure(Figure(), tmp_path / name).read_bytes() for name in ("one.png", "two.png"))
    assert one == two


def test_fewer_colours_make_a_smaller_file_that_looks_the_same(tmp_path):
    figure = Figure()
    figure.subplots().scatter(np.random.default_rng(0).random(500), np.arange(500), c="#0072B2", alpha=0.8)
    full, few = (
        save_figure(figure, tmp_path / "full.png"),
        save_figure(figure, tmp_path / "few.png", colours=64),
    )
    assert few.stat().st_size < 0.6 * full.stat().st_size
    np.testing.assert_allclose(imread(few)[..., :3], imread(full)[..., :3], atol=0.1)
