"""The Euclidean spanning tree: ours against mlpack (dual-tree Boruvka) and scipy (all pairs), time and memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import fresh
from .harness import SEED, Row, Settings, attempt, best_of, find, quotient
from .limit import beside_limit, speed_note
from .tables import Claim, Result

OURS, MLPACK, SCIPY = "stepsmooth", "mlpack", "scipy, all pairs"
KINDS = ("uniform", "clustered")


def cloud(kind: str, n: int, d: int) -> np.ndarray:
    """Draw points: uniform in a cube, or in a hundred tight clusters far apart."""
    rng = np.random.default_rng(SEED + 7)
    if kind == "uniform":
        return rng.random((n, d))
    return rng.normal(scale=0.002, size=(n, d)) + rng.random((100, d))[rng.integers(100, size=n)]


def ours(X: np.ndarray) -> np.ndarray:
    """Give the lengths of the tree."""
    from stepsmooth.topology import minimum_spanning_tree

    return minimum_spanning_tree(X).lengths


def mlpack(X: np.ndarray) -> np.ndarray:
    """Give the lengths of mlpack's tree."""
    from mlpack import emst

    return emst(input_=X)["output"][:, 2]


def scipy(X: np.ndarray) -> np.ndarray:
    """Give the lengths of the tree of the full matrix of distances."""
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import pdist, squareform

    return minimum_spanning_tree(squareform(pdist(X))).data


METHODS: dict[str, Callable[[np.ndarray], np.ndarray]] = {OURS: ours, MLPACK: mlpack, SCIPY: scipy}


def memory_case(method: str, kind: str, n: int, d: int) -> Callable[[], object]:
    """Give the call whose memory is measured."""
    X = cloud(kind, n, d)
    return lambda: METHODS[method](X)


def mask_case(size: int) -> Callable[[], object]:
    """Give the tree of a ball in a cube of voxels, with a second ball apart from it."""
    from stepsmooth.topology import Lattice, minimum_spanning_tree

    at = np.indices((size, size, size)) / size
    mask = sum((at[a] - 0.45) ** 2 for a in range(3)) < 0.42**2
    mask[-2:, -2:, -2:] = True
    lattice = Lattice(mask, (1.0, 1.0, 1.5))
    return lambda: minimum_spanning_tree(lattice).lengths


def run(settings: Settings) -> Result:
    """Time every method on every cloud, and weigh it in a fresh process."""
    sizes = (2_000,) if settings.quick else (5_000, 100_000, 1_000_000)
    rows: list[Row] = []
    for kind in KINDS:
        for d in (2, 3):
            for n in sizes:
                X = cloud(kind, n, d)
                for name, lengths_of in METHODS.items():
                    if name == SCIPY and n > 10_000:
                        continue  # 80 GB and more
                    settings.say(f"{kind}, {d}-D, n={n:,}: {name}")
                    rows.append(measured(kind, d, n, name, lengths_of, X, settings))
    for row in rows:
        at = {k: row[k] for k in ("kind", "d", "n")}
        row["ratio"] = quotient(find([row], "seconds"), find(rows, "seconds", method=OURS, **at))
        own, theirs = find(rows, "length", method=OURS, **at), find([row], "length")
        row["length_excess"] = None if own is None or theirs is None else theirs / own - 1.0
    rows.append(mask_row(24 if settings.quick else 220, settings))
    return Result(
        rows,
        claims(rows, sizes[-1]),
        [speed_note(settings.threads)],
        (
            "kind",
            "d",
            "n",
            "method",
            "seconds",
            "ratio",
            "limit_s",
            "times_limit",
            "length_excess",
            "peak_mb",
            "mb_per_million",
        ),
    )


def measured(
    kind: str, d: int, n: int, name: str, lengths_of: Callable[[np.ndarray], np.ndarray], X: np.ndarray, s: Settings
) -> Row:
    """Time one method on one cloud, and weigh it."""

    def measure() -> Row:
        timing = best_of(lambda _: lengths_of(X), repeat=min(s.repeat, 3), warm=n <= 100_000, budget=15.0)
        peak = fresh.run(
            "benchmarks.connectivity:memory_case",
            {"method": name, "kind": kind, "n": n, "d": d},
            small={"method": name, "kind": kind, "n": 500, "d": d},
            threads=s.threads,
            import_name="stepsmooth.topology",
        ).peak_mb
        length = float(np.sum(timing.last))
        row: Row = {**timing.columns(), "length": length, "peak_mb": peak, "mb_per_million": peak / n * 1e6}
        return beside_limit(row, (8.0 * d + 24.0) * n, s.threads)  # the points in; edges and their lengths out

    return attempt({"kind": kind, "d": d, "n": n, "method": name}, measure)


def mask_row(size: int, settings: Settings) -> Row:
    """Time the tree of a mask in two pieces."""
    work = mask_case(size)
    keys: Row = {"kind": "mask in two pieces", "d": 3, "method": OURS}
    settings.say(f"mask, {size}^3")

    def measure() -> Row:
        timing = best_of(lambda _: work(), repeat=2, budget=15.0)
        return {**timing.columns(), "n": len(timing.last) + 1}

    return attempt(keys, measure)


def claims(rows: list[Row], largest: int) -> list[Claim]:
    """Say what was reached."""
    ratios = [find([r], "ratio") for r in rows if r.get("method") == MLPACK and r.get("n") == largest]
    excess = [find([r], "length_excess") for r in rows if r.get("method") in (MLPACK, SCIPY)]
    weights = [find([r], "mb_per_million") for r in rows if r.get("method") == OURS and r.get("n") == largest]
    return [
        Claim(f"mlpack / ours, seconds at n={largest:,}, least", _least(ratios), 0.5),
        Claim("tree length of a peer over ours, largest difference", _most(excess), 1e-9, "at most"),
        Claim(f"memory of ours at n={largest:,}, MB per million points, most", _most(weights), 400.0, "at most"),
    ]


def _least(values: list[float | None]) -> float | None:
    return None if not values or None in values else min(v for v in values if v is not None)


def _most(values: list[float | None]) -> float | None:
    return None if not values or None in values else max(abs(v) for v in values if v is not None)
