"""`stepsmooth signal`: the decomposition row by row, the events, and what is told."""

import csv
import json

import numpy as np

from stepsmooth import StepSmooth, events
from stepsmooth.files.tables import open_table


def read(path):
    with open(path, newline="") as handle:
        rows = list(csv.DictReader(handle))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def numbers(column):
    return np.array([float(cell) if cell else np.nan for cell in column])


def test_it_ends_well_and_writes_what_it_says(decomposed):
    assert (decomposed.done.exit_code, decomposed.done.stderr) == (0, "")
    names = ["decomposition.csv", "events.csv", "report.html", "result.json"]
    assert sorted(p.name for p in decomposed.out.iterdir()) == names
    assert json.loads(decomposed.done.stdout)["outputs"] == names


def test_the_table_has_the_columns_and_numbers_of_the_estimator(decomposed, trace):
    table = read(decomposed.out / "decomposition.csv")
    assert list(table) == ["x", "y", "smooth", "step", "label", "probability", "residual"]
    m = StepSmooth(3).fit(trace.X, trace.y)
    np.testing.assert_array_equal(numbers(table["y"]), trace.y)
    np.testing.assert_allclose(numbers(table["smooth"]), m.smooth_, atol=1e-9)
    np.testing.assert_array_equal(numbers(table["label"]), m.labels_ + 1)
    np.testing.assert_allclose(numbers(table["step"]), m.levels_[m.labels_])
    np.testing.assert_allclose(numbers(table["probability"]), m.probabilities_.max(axis=1), atol=1e-6)
    parts = numbers(table["smooth"]) + numbers(table["step"]) + numbers(table["residual"])
    np.testing.assert_allclose(parts, trace.y)


def test_the_events_are_those_of_the_estimator(decomposed, trace):
    table, expected = read(decomposed.out / "events.csv"), events(StepSmooth(3).fit(trace.X, trace.y))
    for name in ("start", "end", "level", "dwell"):
        np.testing.assert_allclose(numbers(table[name]), expected[name])
    np.testing.assert_array_equal(numbers(table["label"]), expected["label"] + 1)
    assert json.loads(decomposed.done.stdout)["events"] == len(expected)


def test_the_record_has_levels_with_errors_and_what_was_chosen(decomposed):
    record = json.loads(decomposed.done.stdout)
    assert [entry["label"] for entry in record["levels"]] == [1, 2, 3]
    assert all(entry["standard_error"] > 0 for entry in record["levels"])
    assert record["tau"]["value"] > 0
    assert record["selection"]["label_prior"]["chosen"] == record["label_prior"]
    assert (record["inputs"][0]["x"], record["inputs"][0]["y"]) == ("time", ["current"])


def test_rows_without_y_get_a_smooth_part_and_no_label(run, trace, tmp_path, short_report):
    y = [f"{value:.6f}" if i % 20 else "" for i, value in enumerate(trace.y)]
    (tmp_path / "a.tsv").write_text("y\n" + "\n".join(c or "NA" for c in y) + "\n")
    options = ["--levels", 3, "--solver", "altmin", "--rate", 200, "--probabilities"]
    done = run("signal", tmp_path / "a.tsv", *options, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert "note: 10 of 200 rows have no y" in done.stdout
    table = open_table(tmp_path / "out" / "decomposition.tsv")
    columns = {name: table.numbers(i) for i, name in enumerate(table.names)}
    holes = np.arange(200) % 20 == 0
    assert np.all((columns["label"] == 0) == holes)
    assert np.all(np.isfinite(columns["smooth"]))
    assert np.all(np.isnan(columns["residual"]) == holes)
    np.testing.assert_allclose(columns["x"], np.arange(200) / 200)
    total = columns["probability_1"] + columns["probability_2"] + columns["probability_3"]
    np.testing.assert_allclose(total, 1.0)


def test_two_channels_share_one_smooth_part(run, trace, tmp_path, short_report):
    table = np.c_[trace.x, trace.y, trace.y + 3.0]
    np.save(tmp_path / "a.npy", table)
    done = run("signal", tmp_path / "a.npy", "--y", 2, "--y", 3, "--levels", 3, "--out", tmp_path / "out", "--quiet")
    assert (done.exit_code, done.stdout) == (0, "")
    names = list(read(tmp_path / "out" / "decomposition.csv"))
    assert names[:6] == ["x", "y_0", "y_1", "smooth", "step_0", "step_1"]
    assert names[6:] == ["label", "probability", "residual_0", "residual_1"]


def test_a_signal_whose_fit_made_it_worse_is_written_and_told(run, trace, write_trace, tmp_path, worse, short_report):
    done = run("signal", write_trace(tmp_path), "--levels", 3, "--solver", "altmin", "--out", tmp_path / "out")
    assert done.exit_code == 5
    assert "made it worse" in done.stderr
    assert (tmp_path / "out" / "decomposition.csv").exists()


def test_the_same_command_gives_the_same_tables(run, write_trace, tmp_path, short_report):
    write_trace(tmp_path)
    for name in ("one", "two"):
        options = ["--levels", 3, "--solver", "altmin", "--seed", 0, "--out", tmp_path / name]
        assert run("signal", tmp_path / "trace.csv", *options).exit_code == 0
    for name in ("decomposition.csv", "events.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_two_points_and_a_straight_line_get_their_reports(run, tmp_path):
    """No degrees of freedom are left, or no residual: charts have nothing to scale, and still are drawn."""
    two, ramp = tmp_path / "two.csv", tmp_path / "ramp.csv"
    two.write_text("time,current\n0,1\n1,2\n")
    ramp.write_text("time,current\n" + "".join(f"{i / 10},{i / 10}\n" for i in range(60)))
    for path, options in ((two, ["--levels", "2", "--solver", "altmin"]), (ramp, [])):
        out = tmp_path / path.stem
        done = run("signal", path, "-q", *options, "--out", out)
        assert done.exit_code == 0, done.stderr
        assert (out / "report.html").exists()
