"""Signals from tables and recordings: columns by name or number, and a sentence for whatever is not a number."""

import gzip
import sys

import numpy as np
import polars
import pytest

from stepsmooth.files import InputError, read_signal
from stepsmooth.files.tables import open_table, write_table

X, Y = np.array([0.0, 0.5, 1.0, 1.5]), np.array([1.25, -2.0, 3.5, 1e-7])


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.csv", "time,current\n0,1.25\n0.5,-2\n1,3.5\n1.5,1e-7\n"),
        ("a.csv", "\ufefftime,current\r\n0,1.25\r\n0.5,-2\r\n1,3.5\r\n1.5,1e-7\r\n"),
        ("a.csv", "# a comment\n\ntime,current\n0,1.25\n0.5,-2\n# another\n1,3.5\n1.5,1e-7"),
        ("a.csv", '"time","current"\n"0","1.25"\n"0.5","-2"\n"1","3.5"\n"1.5","1e-7"\n'),
        ("a.csv", "time;current\n0;1,25\n0,5;-2\n1;3,5\n1,5;1e-7\n"),
        ("a.tsv", "time\tcurrent\n0\t1.25\n0.5\t-2\n1\t3.5\n1.5\t1e-7\n"),
        ("a.txt", "time current\n0   1.25\n0.5   -2\n1  3.5\n1.5 1e-7\n"),
    ],
)
def test_dialects_of_text_say_the_same(name, text, tmp_path):
    signal = read_signal(write(tmp_path / name, text))
    np.testing.assert_array_equal(signal.x, X)
    np.testing.assert_array_equal(signal.y, Y)
    assert (signal.x_name, signal.y_names) == ("time", ("current",))
    assert signal.remarks == ("x is the column 'time', y the column 'current'.",)


def test_formats_of_tables_say_the_same(tmp_path):
    columns = {"time": X, "current": Y}
    for name in ("a.csv", "a.tsv", "a.parquet"):
        write_table(tmp_path / name, columns)
    np.save(tmp_path / "plain.npy", np.column_stack([X, Y]))
    np.save(tmp_path / "named.npy", np.rec.fromarrays([X, Y], names=["time", "current"]))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    for name in ("a.csv", "a.tsv", "a.parquet", "plain.npy", "named.npy", "a.csv.gz"):
        signal = read_signal(tmp_path / name)
        np.testing.assert_array_equal(signal.x, X)
        np.testing.assert_array_equal(signal.y, Y)


def test_parquet_files_need_but_one_library(tmp_path, monkeypatch):
    polars.DataFrame({"time": X, "current": [1.25, None, 3.5, 1e-7]}).write_parquet(tmp_path / "a.parquet")
    expected = [1.25, np.nan, 3.5, 1e-7]
    np.testing.assert_array_equal(read_signal(tmp_path / "a.parquet").y, expected)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    np.testing.assert_array_equal(read_signal(tmp_path / "a.parquet").y, expected)
    write_table(tmp_path / "b.parquet", {"time": X})
    np.testing.assert_array_equal(open_table(tmp_path / "b.parquet").numbers(0), X)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match="install pyarrow or polars"):
        read_signal(tmp_path / "a.parquet")


def test_tables_read_back_as_they_were_written(tmp_path):
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=200) * 10.0 ** rng.integers(-300, 300, 200), "label": np.arange(200)}
    for name in ("a.csv", "a.tsv", "a.parquet"):
        write_table(tmp_path / name, columns)
        table = open_table(tmp_path / name)
        np.testing.assert_array_equal(table.numbers(0), columns["x"])
        np.testing.assert_array_equal(table.numbers(1), columns["label"])


THREE = "time,current,voltage\n0,1,5\n1,,6\n2,3,7\n"


def test_columns_are_named_or_numbered(tmp_path):
    path = write(tmp_path / "a.csv", THREE)
    for wanted in ("voltage", "VOLTAGE", "3"):
        assert read_signal(path, y=[wanted]).y.tolist() == [5, 6, 7]
    both = read_signal(path, x="1", y=["3", "current"])
    np.testing.assert_array_equal(both.y, [[5, 1], [6, np.nan], [7, 3]])
    assert both.y_names == ("voltage", "current")


def test_the_rate_gives_x_in_seconds(tmp_path):
    signal = read_signal(write(tmp_path / "a.csv", THREE), y=["voltage"], rate=4.0)
    assert (signal.x.tolist(), signal.x_name) == ([0.0, 0.25, 0.5], "time")


def test_a_first_column_that_does_not_rise_is_not_taken_for_x(tmp_path):
    signal = read_signal(write(tmp_path / "a.csv", "a,b\n2,1\n1,5\n"), y=["b"])
    assert (signal.x.tolist(), signal.x_name) == ([0, 1], "row")
    assert "x is the number of the row" in signal.remarks[0]


def test_a_column_of_text_does_no_harm_if_it_is_not_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", "name,y\nfirst,1\nsecond,2\n")
    assert read_signal(path, y=["y"]).y.tolist() == [1, 2]


def test_a_lone_column_without_a_name_is_y(tmp_path):
    signal = read_signal(write(tmp_path / "a.csv", "1.5\n2.5\n"))
    assert (signal.x.tolist(), signal.y.tolist(), signal.y_names) == ([0, 1], [1.5, 2.5], ("column 1",))


def test_weights_are_a_column(tmp_path):
    signal = read_signal(write(tmp_path / "a.csv", THREE), x="time", y=["current"], weights="voltage")
    assert signal.weights.tolist() == [5, 6, 7]


SWEEPS = "sweep,t,y\n1,0,5\n1,1,6\n2,0,7\n2,1,8\n"


def test_sweeps_are_taken_one_by_one_or_in_a_row(tmp_path):
    path = write(tmp_path / "a.csv", SWEEPS)
    options = {"x": "t", "y": ["y"], "sweep_column": "sweep"}
    assert read_signal(path, sweep="2", **options).y.tolist() == [7, 8]
    together = read_signal(path, sweep="all", **options)
    assert together.x.tolist() == [0, 1, 51, 52]
    with pytest.raises(InputError, match="has 2 sweeps: take one with --sweep 1, or --sweep all"):
        read_signal(path, **options)
    with pytest.raises(InputError, match=r"--sweep 9: .* has the sweeps 1, 2"):
        read_signal(path, sweep="9", **options)
    with pytest.raises(InputError, match="--sweep needs --sweep-column"):
        read_signal(path, x="t", y=["y"], sweep="1")


def recording(path, sweeps=3):
    with np.printoptions():
        from pyabf.abfWriter import writeABF1

    data = np.arange(sweeps * 1000.0).reshape(sweeps, 1000)
    writeABF1(data, str(path), 1000.0, units="pA")
    return data


def test_axon_recordings_give_sweeps_and_seconds(tmp_path):
    data = recording(tmp_path / "a.abf")
    signal = read_signal(tmp_path / "a.abf", sweep="2")
    np.testing.assert_allclose(signal.y, data[1], atol=0.4)
    np.testing.assert_allclose(signal.x, np.arange(1000) / 1000)
    together = read_signal(tmp_path / "a.abf", sweep="all")
    assert together.y.shape == (3000,)
    assert np.all(np.diff(together.x) > 0)
    with pytest.raises(InputError, match="has 3 sweeps"):
        read_signal(tmp_path / "a.abf")
    with pytest.raises(InputError, match=r"--sweep 4: .* has the sweeps 1 to 3"):
        read_signal(tmp_path / "a.abf", sweep="4")
    with pytest.raises(InputError, match="has the channels"):
        read_signal(tmp_path / "a.abf", sweep="1", y=["voltage"])


def test_reading_an_axon_recording_changes_nothing_for_others(tmp_path):
    before = np.get_printoptions()
    recording(tmp_path / "a.abf")
    read_signal(tmp_path / "a.abf", sweep="1")
    assert np.get_printoptions() == before


def test_axon_recordings_need_pyabf_and_content(tmp_path, monkeypatch):
    write(tmp_path / "a.abf", "no recording")
    with pytest.raises(InputError, match="is not an ABF file, or is damaged"):
        read_signal(tmp_path / "a.abf")
    monkeypatch.setitem(sys.modules, "pyabf", None)
    with pytest.raises(InputError, match="install pyabf to read it"):
        read_signal(tmp_path / "a.abf")


@pytest.mark.parametrize(
    "text, options, words",
    [
        ("t,y\n0,1\n1,oops\n", {}, r"a\.csv, line 3: the column 'y' holds 'oops', which is not a number"),
        ("t,y\n0,1\n1,1_000\n", {}, "line 3: the column 'y' holds '1_000'"),
        ("t,y\n0,1\n,2\n", {"x": "t"}, r"the column 't' \(x\) has no number in row 2"),
        ("t,y\n0,\n1,NA\n", {}, "the column 'y' has no numbers"),
        ("t,y\n0,inf\n1,2\n", {}, "y holds infinity"),
        ("t,y\n", {}, "has names of columns, but no rows"),
        ("# only words\n", {}, "has no rows"),
        ("a,b,c\n1,2,3\n2,3,4\n", {}, r"has several columns: name one with --y \(it has 1 'a', 2 'b', 3 'c'\)"),
        ("t,y\n0,1\n", {"y": ["z"]}, "--y z: .* has no such column"),
        ("t,y\n0,1\n", {"y": ["3"]}, "--y 3: .* has no such column"),
        ("t,y\n0,1\n", {"x": "t", "rate": 5.0}, "--x and --rate exclude each other"),
        ("t,y\n0,1\n", {"rate": 0.0}, "--rate must be a number above 0"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_in_one_sentence(text, options, words, tmp_path):
    with pytest.raises(InputError, match=words) as caught:
        read_signal(write(tmp_path / "a.csv", text), **options)
    assert "\n" not in str(caught.value)


CUT = gzip.compress(b"t,y\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(500)), mtime=0)[:900]


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.csv", b"\x00\x01\x02 binary", "holds binary data"),
        ("a.csv", "t,y\n0,µ".encode("latin-1"), "save it as UTF-8"),
        ("a.csv.gz", CUT, "cannot be read|cut short or damaged"),
        ("a.csv.gz", b"no gzip at all", "cannot be read"),
        ("a.parquet", b"no parquet at all", "is not a Parquet file, or is damaged"),
        ("a.npy", b"no array at all", "is not an NPY file"),
        ("a.xlsx", b"PK", "of an unknown kind: CSV, TSV, Parquet, NPY and ABF are read"),
        ("a.csv", b"", "is empty"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_signal(tmp_path / name)


def test_a_table_of_three_axes_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 4, 5)))
    with pytest.raises(InputError, match="rows by columns"):
        read_signal(tmp_path / "a.npy")


def test_a_channel_is_one_column(tmp_path):
    path = write(tmp_path / "a.csv", "time,current\n0,1\n1,2\n")
    with pytest.raises(InputError, match=r"names the column 'current' of .* more than once"):
        read_signal(path, y=["current", "2"])


def test_complex_numbers_are_called_by_their_name(tmp_path):
    np.save(tmp_path / "a.npy", np.exp(1j * X))
    with pytest.raises(InputError, match="holds complex numbers in the column 'column 1': real numbers are needed"):
        read_signal(tmp_path / "a.npy")
