"""The paper's own cloud, where the data are; and the folder's shared cases on the path."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def newsgroups():
    folder = os.environ.get("STEPSMOOTH_DATA")
    path = Path(folder or "") / "newsgroups" / "newsgroups_umap3d.npz"
    if folder is None or not path.exists():
        pytest.skip("the paper's 200-point cloud is not here; STEPSMOOTH_DATA must name the folder that holds it")
    with np.load(path) as data:
        return data["X"], data["labels"].astype(int)
