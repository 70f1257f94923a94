"""The page shows every record: what was lost before what was won, peers by their ratios, errors as they are."""

from dataclasses import replace

from benchmarks.limit import beside_limit, memory_speed, speed_note
from benchmarks.page import page, peers, records_in, table, write_page
from benchmarks.tables import Claim, Record, Result, write

from benchmarks import __main__ as command


def record(name="one", *, quick=False, **changes):
    rows = [
        {"method": "stepsmooth", "n": 10, "seconds": 1.0, "ratio": 1.0},
        {"method": "peer", "n": 10, "seconds": 2.0, "ratio": 2.0},
        {"method": "peer", "n": 20, "seconds": 0.5, "ratio": 0.5},
        {"method": "other", "n": 10, "error": "a | b"},
    ]
    claims = [Claim("kept", 2.0, 1.0), Claim("missed", 0.5, 1.0)]
    base = {
        "name": name,
        "title": f"The title of {name}",
        "result": Result(rows, claims, ["A note."], ("method", "n", "seconds")),
        "machine": {"cpu": "some", "cores": 2, "python": "3", "huge_pages": False, "when": "2020-01-02T03:04"},
        "settings": {"quick": quick, "threads": 2},
        "load": {"before": [0.1, 0.2, 0.3]},
        "seconds": 1.5,
    }
    return Record(**{**base, **changes})


def test_the_page_says_what_is_not_reached_before_what_is():
    text = page([record()])
    lost, won = text.index("What is not reached (1 of 2)"), text.index("What is reached (1 of 2)")
    assert lost < text.index("| one | missed | 0.5 | >= 1 |") < won < text.index("| one | kept | 2 | >= 1 |")
    assert "A note." in text
    assert "some, 2 cores, Python 3, without huge pages" in text


def test_a_peer_is_judged_by_its_least_and_largest_ratio():
    (row,) = peers([record()])
    assert (row["peer"], row["least ratio"], row["largest"], row["rows"]) == ("peer", 0.5, 2.0, 2)
    assert row["we are"] == "ahead and behind"


def test_tables_keep_the_asked_columns_and_every_error():
    lines = table(record().result.rows, columns=("method", "seconds")).splitlines()
    assert lines[0] == "| method | seconds | error |"
    assert lines[1] == "|---|---:|---|"
    assert lines[-1] == "| other |  | a \\| b |"


def test_what_is_not_on_the_page_is_named():
    text = page([record(settings={"threads": 2, "only": ["a case", "a method"]})], ["one", "two"])
    assert "Not on this page, for want of a quiet run of all of it: `two`." in text
    assert "| a case, a method |" in text
    assert "| all of it |" in page([record()])
    assert "Not on this page" not in page([record()], ["one"])


def test_a_benchmark_that_failed_says_so():
    assert "Failed: it broke" in page([record(error="it broke")])


def test_the_command_writes_the_page_of_what_was_kept_but_not_of_quick_runs(tmp_path, capsys):
    for kept in (record("kmeans"), record("smoothers", quick=True)):
        write(kept, tmp_path)
    assert [r.name for r in records_in(tmp_path, command.NAMES)] == ["kmeans"]
    target = tmp_path / "page.md"
    assert command.main(["--out", str(tmp_path), "--page", str(target)]) == 0
    assert "The title of kmeans" in target.read_text()
    assert "1 benchmarks" in capsys.readouterr().out


def test_a_page_keeps_its_records_and_takes_the_later_run_of_each(tmp_path):
    def run_at(name, when, seconds):
        return replace(record(name), machine={"cpu": "some", "cores": 2, "when": when}, seconds=seconds)

    there, here, target = tmp_path / "there", tmp_path / "here", tmp_path / "page.md"
    for one in (run_at("kmeans", "2020-01-01T10:00", 11.0), run_at("smoothers", "2020-01-01T10:00", 22.0)):
        write(one, there)
    assert write_page(target, there, command.NAMES) == 2
    for one in (run_at("kmeans", "2020-01-02T10:00", 33.0), run_at("smoothers", "2019-01-01T10:00", 44.0)):
        write(one, here)
    assert write_page(target, here, command.NAMES) == 2  # another folder of results, on another machine, say
    kept = records_in(tmp_path / "page", command.NAMES)
    assert {r.name: r.seconds for r in kept} == {"kmeans": 33.0, "smoothers": 22.0}
    assert "| 33 |" in target.read_text()
    assert "| 22 |" in target.read_text()


def test_the_limit_is_bytes_over_memory_speed():
    row = beside_limit({"seconds": 2.0}, memory_speed(1), 1)
    assert row["limit_s"] == 1.0
    assert row["times_limit"] == 2.0
    assert beside_limit({"error": "no"}, memory_speed(1), 1)["times_limit"] is None
    assert "GB/s" in speed_note(1)
