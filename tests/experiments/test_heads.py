"""The table of MRI methods: settings by the same rules for all, failures kept, the cap that equal intensities set."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from stepsmooth.experiments import Runner, Settings, lighting, mri, table, table_claims, table_scores
from stepsmooth.experiments.heads import HeadCase, accuracy_cap
from stepsmooth.experiments.table_methods import METHODS, Method, by_kmeans

TINY = HeadCase(4, 1, step=5)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def broken(scan, setting):
    raise RuntimeError("no licence")


@pytest.fixture
def few(monkeypatch):
    methods = (Method("k-means", by_kmeans, ({"domain": "raw"}, {"domain": "log"})), Method("LapGM", broken, ({},)))
    for module in (table, table_scores):
        monkeypatch.setattr(module, "METHODS", methods)
    monkeypatch.setattr(table, "peak_memory", lambda case, name, setting: 1.0)


def test_a_method_that_fails_stands_in_the_table_with_its_reason(few):
    with Runner(Settings(quick=True, seeds=2)) as runner:
        found = table.run(runner)
    rows = [row for row in found.tables["table"] if row["method"] == "LapGM"]
    assert len(rows) == len(table.CASES) * len(table_scores.RULES)
    assert all("no licence" in row["error"] for row in rows)
    assert any("no licence" in line for line in found.missing)
    assert all(row["accuracy"] > 0 for row in found.tables["table"] if row["method"] == "k-means")
    assert found.claims[0].verdict == "cannot be checked"  # AltMin was not among them


@pytest.mark.parametrize("method", [m for m in METHODS if m.name in ("k-means", "joint")], ids=lambda m: m.name)
def test_methods_are_scored_with_and_without_background(method):
    row = table_scores.score(TINY, method.name, method.choices(True)[-1])
    assert "error" not in row
    assert row["accuracy"] <= row["with_background"]
    assert row["level_deviation"] >= 0


def test_hindsight_never_scores_below_the_held_out_choice():
    rng = np.random.default_rng(0)
    keys = {"classes": 4, "sequences": 1, "field": "coil", "method": "AltMin"}
    raw = [keys | {"seed": s, "setting": k, "distinct": rng.random()} for s in range(3) for k in "abc"]
    chosen = table_scores.choose(raw)
    best, held = ([r["distinct"] for r in chosen if r["rule"] == rule] for rule in table_scores.RULES)
    assert np.all(np.array(best) >= np.array(held))


def test_labels_of_equal_intensity_cap_the_accuracy():
    case = HeadCase(10, 1, step=5)
    scan = case.scan()
    truth, inside = case.true_labels(scan), scan.mask
    assert accuracy_cap(truth[inside], scan.labels[inside].astype(int)) == 1.0  # ten tissues at 3 T, all distinct
    assert accuracy_cap(truth, scan.labels.astype(int)) < 1.0  # skull and air are both dark


def test_claims_on_the_table_follow_its_figures():
    def rows(lapgm):
        figures = {"k-means": (0.6, 1.0), "N4ITK + k-means": (0.7, 1.0), "LapGM": (lapgm, 1.0), "AltMin": (0.9, 0.1)}
        return [
            {
                "method": method,
                "classes": classes,
                "sequences": sequences,
                "rule": "post-fitting",
                "distinct": accuracy - 0.1 * (classes == 10) + 0.01 * sequences,
                "accuracy": accuracy - 0.1 * (classes == 10) + 0.01 * sequences,
                "level_deviation": deviation,
            }
            for method, (accuracy, deviation) in figures.items()
            for classes in (4, 10)
            for sequences in (1, 3)
        ]

    caps = [{"classes": 10, "labels": 10, "distinct intensities": 6, "cap": 0.83, "cap, with background": 0.83}]
    for lapgm, verdict in ((0.8, "holds"), (0.95, "does not hold")):
        claims = table_claims.claims(rows(lapgm), caps)
        assert claims[0].verdict == verdict
        assert claims[1].verdict == "holds"


def test_every_iteration_on_a_head_is_looked_at():
    one = mri.fit(HeadCase(4, 1, seed=100, step=4), 10.0)
    assert len(one.accuracy) == len(one.deviation) == len(one.changed) >= 1
    assert one.accuracy[-1] == pytest.approx(np.mean(one.labels == one.scan.labels, where=one.scan.mask), abs=0.02)
    assert 1 <= one.settled <= len(one.accuracy) + 1
    assert len(mri.draw(one, one).axes) == 14


def test_photographs_that_are_not_there_are_named(monkeypatch):
    def absent(name, quick):
        raise ModuleNotFoundError("scikit-image is not installed")

    monkeypatch.setattr(lighting, "photograph", absent)
    with Runner(Settings(quick=True)) as runner:
        found = lighting.run(runner)
    assert len(found.missing) == 3
    assert found.claims[0].verdict == "cannot be checked"


def test_even_light_is_measured_by_what_one_threshold_gets_wrong():
    labels = np.repeat([0, 1], 50)
    light = np.linspace(1.0, 3.0, 50)
    image = np.concatenate([1.0 * light, 2.0 * light])
    assert lighting.overlap(image, labels) > 0.1
    assert lighting.overlap(image / np.tile(light, 2), labels) == 0.0
