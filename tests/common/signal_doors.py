"""The ways in for a signal: arrays, frames, and a table at the command line."""

import numpy as np
import pandas as pd
import polars as pl
from answers import Answer, asked, commanded

from stepsmooth import StepSmooth
from stepsmooth.files.tables import open_table

ATOL = 1e-9


def through_arrays(folder, x, y, weights=None, **params):
    return _python(x[:, None], y, weights, params)


def through_frames(frame):
    def door(folder, x, y, weights=None, **params):
        channels = {f"c{i}": column for i, column in enumerate(np.atleast_2d(y.T))}
        target = frame(channels) if y.ndim == 2 else frame(channels)["c0"]
        return _python(frame({"x": x}), target, None if weights is None else frame({"w": weights})["w"], params)

    return door


def _python(X, y, weights, params):
    estimator = StepSmooth(missing="drop", random_state=0, **params)
    m, said = asked(lambda: estimator.fit(X, y, weights))
    return Answer(m.labels_, m.levels_, m.smooth_, m.probabilities_, said=said)


def through_the_command_line(folder, x, y, weights=None, n_levels=2, solver="auto", label_prior="auto", levels=None):
    channels = np.atleast_2d(y.T)
    table = {"x": x} | {f"c{i}": column for i, column in enumerate(channels)}
    table |= {} if weights is None else {"w": weights}
    path, out = folder / "signal.csv", folder / "out"
    rows = ["" if np.isnan(value) else repr(float(value)) for value in np.column_stack(list(table.values())).ravel()]
    lines = [",".join(row) for row in np.reshape(rows, (len(x), len(table)))]
    path.write_text("\n".join([",".join(table), *lines]) + "\n")
    before = path.read_bytes()
    chosen = [part for i in range(len(channels)) for part in ("--y", f"c{i}")]
    weighing = [] if weights is None else ["--weights", "w"]
    ladder = ["--ladder"] if levels == "ladder" else []
    options = ["--levels", n_levels, "--solver", solver, "--prior", label_prior, "--seed", 0, *ladder]
    record = commanded(out, "signal", path, "--x", "x", *chosen, *weighing, *options)
    assert path.read_bytes() == before
    written = open_table(out / "decomposition.csv")
    columns = {name: written.numbers(i) for i, name in enumerate(written.names)}
    found = [entry["level"] for entry in record["levels"]]
    probabilities = np.column_stack([columns[f"probability_{k + 1}"] for k in range(len(found))])
    labels = columns["label"].astype(int) - 1
    return Answer(labels, np.array(found), columns["smooth"], probabilities, said=record["remarks"])


DOORS = {
    "array": through_arrays,
    "pandas": through_frames(pd.DataFrame),
    "polars": through_frames(pl.DataFrame),
    "command line": through_the_command_line,
}
