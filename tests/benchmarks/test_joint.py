"""The joint solver's benchmarks: fresh seeds, the same data for all, an oracle, and a claim for what must be shown."""

import numpy as np
import pytest
from benchmarks.harness import SEED, Settings
from benchmarks.joint_accuracy import ALTMIN, BOUND, CUTS, HMM, JOINT, KNOWS_F, LADDER, MANY, ORACLE, TOLD, Cell

from benchmarks import ceilings, ion_channel, joint_accuracy, joint_count, joint_scale, joint_segments

TWO = Settings(quick=True, datasets=2)


def by_method(result):
    return {row["method"]: row for row in result.rows}


def texts(result):
    return [claim.text for claim in result.claims]


# Accuracy


def test_every_cell_that_must_be_shown_is_there_and_has_a_seed_of_its_own():
    cells = joint_accuracy.CELLS
    assert len(set(cells)) == len({c.name for c in cells}) == len(cells)
    noiseless = {(c.n_levels, c.beta, c.n) for c in cells if c.noise_variance == 0}
    assert noiseless == {(*setting, n) for setting in joint_accuracy.PAPER for n in (25, 36, 64, 100, 225)}
    noisy = {(c.noise_variance, c.n) for c in cells if c.noise_variance and c.switching is None}
    assert noisy == {(v, n) for v in (0.05, 0.1, 0.15) for n in (50, 100, 225, 400, 1000)} | {(0.15, 3600)}
    assert {c.switching for c in cells} == {None, 0.05, 0.02, 0.01}


def test_the_seeds_of_the_first_cells_have_not_moved(monkeypatch):
    seen = []
    monkeypatch.setattr("stepsmooth.datasets.make_sine_steps", lambda *a, random_state, **k: seen.append(random_state))
    for place, number in ((0, 0), (8, 99)):
        joint_accuracy.dataset(joint_accuracy.CELLS[place], number)
    assert seen == [SEED + 50_000, SEED + 58_099]


def test_a_run_scores_labels_levels_and_probabilities(monkeypatch):
    cells = (
        Cell(36, 2, 1.0, 0.0, all_right=0.99),
        Cell(40, 2, 1.0, 0.05, from_oracle=0.02, deviation=0.02, many_starts=True),
    )
    monkeypatch.setattr(joint_accuracy, "CELLS", cells)
    result = joint_accuracy.run(TWO)
    rows = by_method(result)
    assert set(rows) == {JOINT, ALTMIN, MANY, ORACLE, LADDER, KNOWS_F, TOLD, BOUND}
    assert all(row.get("datasets", 2) == 2 and "error" not in row for row in result.rows)
    assert {"level_dev", "ece", "vs_altmin"} <= set(rows[JOINT])
    assert rows[MANY]["cpu_s"] > rows[ALTMIN]["cpu_s"]
    wanted = ("all labels right", "below the oracle", "level order, below", "level deviation", "paired standard errors")
    assert all(any(words in text for text in texts(result)) for words in wanted)
    assert texts(result)[-1] == "expected calibration error, all noisy cells pooled"
    assert all(claim.value is not None for claim in result.claims)


def test_labels_that_last_are_also_given_to_a_hidden_markov_model_and_to_change_points(monkeypatch):
    cell = Cell(60, 2, 1.0, 0.05, switching=0.1, accuracy=0.99)
    monkeypatch.setattr(joint_accuracy, "CELLS", (cell,))
    for number in range(3):
        assert len(np.unique(joint_accuracy.dataset(cell, number).labels)) == 2
    assert set(joint_accuracy.methods(cell)) == {JOINT, ALTMIN, ORACLE, HMM, CUTS}


def test_a_mixture_that_knows_f_finds_the_levels_and_the_labels():
    data = joint_accuracy.dataset(joint_accuracy.CELLS[0], 0)
    found = ceilings.knows_f(data)
    np.testing.assert_allclose(found.levels, np.sort(np.ravel(data.levels)), atol=1e-3)
    np.testing.assert_array_equal(found.labels, data.labels)


def test_told_all_but_f_the_spline_finds_labels_nearly_as_well_as_the_oracle():
    data = joint_accuracy.dataset(Cell(225, 3, 3.0, 0.05), 0)
    told = ceilings.told_all_but_f(data)
    best = joint_accuracy.methods(joint_accuracy.CELLS[6])[ORACLE](data)
    assert np.mean(told.labels == data.labels) > np.mean(best == data.labels) - 0.03
    np.testing.assert_allclose(told.probabilities.sum(axis=1), 1.0)


def test_the_bound_of_levels_is_that_of_means_where_labels_show_and_of_the_likeliest_levels_where_they_do_not():
    apart = ceilings.level_bound(np.array([0.0, 1.0]), 1e-4, 100)
    errors = np.abs(np.random.default_rng(1).normal(scale=0.01 / np.sqrt(50.0), size=(100_000, 2))).max(axis=1)
    assert apart == pytest.approx(errors.mean(), rel=0.02)
    rng, levels, sd = np.random.default_rng(2), np.array([-1.0, 0.0, 1.0]), np.sqrt(0.15)
    found = []
    for _ in range(60):
        y = levels[rng.integers(3, size=3600)] + sd * rng.normal(size=3600)
        mu = levels.copy()
        for _ in range(60):  # EM that knows noise and shares
            q = np.exp(-0.5 * ((y[:, None] - mu) / sd) ** 2)
            q /= q.sum(axis=1, keepdims=True)
            mu = q.T @ y / q.sum(axis=0)
        found.append(np.abs(mu - levels).max())
    bound = ceilings.level_bound(levels, 0.15, 3600)
    assert bound == pytest.approx(np.mean(found), abs=3.0 * np.std(found) / np.sqrt(60.0))


def test_altmin_gets_as_many_starts_as_the_time_allows(monkeypatch):
    clock = [0.0]

    def fit(*, n_init):
        clock[0] += 0.5 + 0.1 * n_init

    monkeypatch.setattr(joint_accuracy.time, "process_time", lambda: clock[0])
    assert joint_accuracy.affordable_starts(fit, 2.55) == 20
    assert joint_accuracy.affordable_starts(fit, 0.01) == 1


def test_a_failing_joint_solver_is_a_row_and_its_claims_are_not_met(monkeypatch):
    def fails(*arguments, **settings):
        raise RuntimeError("not built")

    monkeypatch.setattr(joint_accuracy, "CELLS", (Cell(40, 2, 1.0, 0.05, accuracy=0.5, many_starts=True),))
    monkeypatch.setattr("stepsmooth.StepSmooth", fails)
    result = joint_accuracy.run(TWO)
    assert "not built" in by_method(result)[JOINT]["error"]
    assert not any(claim.met for claim in result.claims)


# Segments


def test_segments_have_every_level_and_claims_for_each_wave(monkeypatch):
    small = {"n_samples": 200, "n_segments": 6, "correlation_length": 100.0, "n_levels": 2, "gap": 3.0}
    monkeypatch.setattr(joint_segments, "QUICK", small)
    result = joint_segments.run(TWO)
    rows = [row for row in result.rows if row["cell"] == "segments, wave 0.25"]
    assert {row["method"] for row in rows} == {
        JOINT, HMM, ALTMIN, ORACLE, joint_segments.TRUTH, *joint_segments.DETRENDED.values(), CUTS,
        f"{CUTS}, local lines off",
    }  # fmt: skip
    assert not any("error" in row for row in result.rows)
    known = {row["method"]: row["in_order"] for row in rows}
    assert min(known[ORACLE], known[joint_segments.TRUTH]) > 0.9
    assert [sum(f"wave {w}:" in t for t in texts(result)) for w in ("0", "0.25", "0.6")] == [2, 4, 4]


def test_segments_are_those_of_the_design():
    data = joint_segments.dataset(0.6, 0, quick=False)
    assert len(data.y) == 20_000
    assert 3 <= len(data.levels) <= 5
    assert np.diff(data.levels).min() == pytest.approx(0.6)
    assert data.smooth.std() == pytest.approx(0.36)


# The number of levels


def test_levels_are_counted_by_every_method(monkeypatch):
    monkeypatch.setattr(joint_count, "COUNTS", (2,))
    monkeypatch.setattr(joint_count, "CELLS", (joint_count.Cell(0.0, 40, 0.98),))
    result = joint_count.run(Settings(quick=True, datasets=1))
    rows = by_method(result)
    assert rows[JOINT]["right"] == rows[joint_count.ORACLE]["right"] == 1.0
    assert all("error" not in row for row in result.rows)
    assert texts(result) == ["noise 0, n=40: share with M right"]


def test_settings_come_by_turns():
    cell, four = joint_count.CELLS[0], joint_count.CELLS[-1]
    assert [len(joint_count.dataset(cell, number).levels) for number in range(5)] == [2, 2, 3, 3, 2]
    assert [len(joint_count.dataset(four, number).levels) for number in range(2)] == [4, 4]


def test_a_count_is_right_too_few_or_too_many():
    pairs = [(2, 2), (3, 2), (4, 5), (2, 3)]
    (row,) = joint_count.summary({}, [{"m": {"true": t, "found": f, "cpu_s": 1.0}} for t, f in pairs])
    assert (row["right"], row["too_few"], row["too_many"]) == (0.25, 0.25, 0.5)
    assert (row["right_of_2"], row["right_of_3"]) == (0.5, 0.0)


def test_a_mixture_counts_what_is_apart():
    values = np.random.default_rng(0).normal(np.tile([0.0, 5.0, 10.0], 40), 0.3)
    assert joint_count.mixture_count(values) == 3
    assert joint_count.mixture_count(np.array([0.0, 1.0, 1.0])) == 2


# Size


def test_sizes_are_timed_beside_hmmlearn_with_memory_and_growth(monkeypatch):
    class Apart:
        peak_mb = 2.0

    threads = []
    monkeypatch.setattr(joint_scale.fresh, "run", lambda *a, **k: threads.append(k["threads"]) or Apart())
    monkeypatch.setattr(joint_scale, "case", lambda n, method: lambda: joint_scale.signal(n).labels)
    result = joint_scale.run(Settings(quick=True, repeat=2))
    assert set(threads) == {2}
    joint = [row for row in result.rows if row["method"] == JOINT]
    assert [row["n"] for row in joint] == [5_000, 10_000]
    assert joint[0]["ratio"] == 1.0
    assert joint[0]["accuracy"] == 1.0
    assert "exponent" in joint[1]
    assert {row["method"] for row in result.rows} == {JOINT, joint_scale.HMM, joint_scale.HMM_ONE, ORACLE}
    assert all(claim.value is not None for claim in result.claims)
    assert "the seconds of the joint solver" in result.notes[0]


def test_a_million_points_must_take_three_seconds():
    rows = [{"n": n, "method": JOINT, "seconds": n / 1e6, "peak_mb": n / 1e3} for n in (10**4, 10**5, 10**6)]
    first, *growth = joint_scale.claims_of(rows, (10**4, 10**5, 10**6))
    assert (first.value, first.target, first.sense) == (1.0, 3.0, "at most")
    assert [claim.value for claim in growth] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("method", [JOINT, joint_scale.HMM_ONE])
def test_a_case_fits_three_levels(method):
    labels = joint_scale.case(200, method)()
    assert labels.shape == (200,)
    assert set(labels) <= {0, 1, 2}


# Traces


def trace(folder, n=600):
    """Write a trace of three levels with drift, as the recordings are kept."""
    rng = np.random.default_rng(0)
    z = np.repeat(rng.permutation(np.tile([0, 1, 2], n // 30)), 10)
    time = np.arange(1, n + 1) / 1e4
    (folder / "ion_channel").mkdir()
    current = 1.2 * z + np.sin(60 * time) + 0.1 * rng.normal(size=n)
    path = folder / "ion_channel" / "drift_985.npz"
    np.savez(path, time=time, current=current.astype(np.float32), open_channels=z.astype(np.uint8))
    return path


@pytest.mark.parametrize("named", [False, True], ids=["not set", "empty folder"])
def test_absent_traces_are_left_out_with_a_sentence(named, monkeypatch, tmp_path):
    monkeypatch.delenv("STEPSMOOTH_DATA", raising=False)
    if named:
        monkeypatch.setenv("STEPSMOOTH_DATA", str(tmp_path))
    result = ion_channel.run(Settings())
    assert (result.rows, result.claims) == ([], [])
    assert "STEPSMOOTH_DATA does not name a folder that holds ion_channel/drift_986.npz" in result.notes[1]


def test_what_the_true_labels_imply_is_found_by_turns(tmp_path):
    data = ion_channel.read(trace(tmp_path))
    assert np.diff(data.levels) == pytest.approx([1.2, 1.2], abs=0.05)
    assert data.noise_variance == pytest.approx(0.01, rel=0.3)
    share, chain = ion_channel.true_chain(data)
    assert share.sum() == pytest.approx(1)
    assert chain.sum(axis=1) == pytest.approx(1)


def test_stretches_have_every_level(monkeypatch, tmp_path):
    monkeypatch.setattr(ion_channel, "STRETCH", 250)
    data = ion_channel.read(trace(tmp_path))
    data.labels[:250] = np.minimum(data.labels[:250], 1)
    assert {k: len(v.y) for k, v in ion_channel.stretches(data).items()} == {"from 250 to 500": 250}


def test_a_trace_is_scored_by_every_method_and_said_to_be_tuning_data(monkeypatch, tmp_path):
    trace(tmp_path)
    monkeypatch.setenv("STEPSMOOTH_DATA", str(tmp_path))
    monkeypatch.setattr(ion_channel, "warm", lambda: None)
    monkeypatch.setattr(ion_channel, "QUICK", 600)
    result = ion_channel.run(Settings(quick=True))
    rows = by_method(result)
    assert {ion_channel.LADDER, ion_channel.DEFAULT, "k-means", "HMM, local trend off"} <= set(rows)
    assert min(rows[m]["in_order"] for m in (ion_channel.ONE_BY_ONE, ion_channel.ALONG)) > 0.99
    assert rows[ion_channel.LADDER]["in_order"] > 0.95
    assert not any("error" in row for row in result.rows)
    assert any("used for tuning" in note for note in result.notes)
    assert [claim.target for claim in result.claims] == [0.973, 0.04, 5.0] * 2
