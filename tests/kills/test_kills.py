"""A short form of the killing of runs, and that a result which is not whole would be noticed."""

import json

import pytest
from reliability.kills import kill
from reliability.promise import Profile
from reliability.runs import is_whole

REFERENCE = {
    "events.csv": b"start,end\n0,1\n",
    "report.html": b"<html></html>\n",
    "result.json": json.dumps({"seconds": 1, "outputs": ["events.csv", "report.html", "result.json"]}).encode(),
}


def test_runs_of_signal_survive_kills(tmp_path):
    profile = Profile(quick=True, jobs=1, seed=0, out=tmp_path)
    for promise in kill(profile, {"kills": 1, "signals": 1, "disks": 1}, ["signal"]):
        assert promise.kept, promise


@pytest.mark.parametrize("name", REFERENCE)
def test_a_file_that_is_lost_or_cut_short_is_noticed(name):
    assert is_whole(REFERENCE | {"result.json": REFERENCE["result.json"].replace(b"1", b"2")}, REFERENCE)
    assert not is_whole({n: c for n, c in REFERENCE.items() if n != name}, REFERENCE)
    assert not is_whole(REFERENCE | {name: REFERENCE[name][:-9]}, REFERENCE)
    assert not is_whole(REFERENCE | {name: REFERENCE[name] + b"\n\n"}, REFERENCE)
