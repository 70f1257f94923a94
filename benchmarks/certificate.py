"""The certificate's errors: wrong labellings called identified (none may be), right ones that are, noise, real traces.

Constructed counter-examples are optimised to be as hard to refuse as any can be; random instances have labels that are
right, moved, shifted by a region or merged. An instance counts against the certificate only while its premises hold.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from . import fresh
from .harness import SEED, Row, Settings, best_of
from .tables import Claim, Result

SIZES = (25, 36, 50, 71, 100, 141, 200, 283, 400, 566, 800, 1131, 1600, 2263, 3600)
CELLS = ((2, 1.0), (2, 2.0), (3, 2.0), (3, 3.0))


def constructed(number: int) -> tuple[str, bool]:
    """Certify one constructed counter-example."""
    from stepsmooth.topology import certify
    from stepsmooth.topology.counterexamples import KINDS, counterexample

    rng = np.random.default_rng(SEED + number)
    kind, m = KINDS[number % 4], int(rng.integers(2, 6))
    case = counterexample(
        SEED + number, n_points=m + int(rng.integers(3, 40)), n_levels=m, dimensions=int(rng.integers(1, 4)), kind=kind
    )
    return certify(case.X, case.labels, case.levels, y=case.y, tree=case.tree).verdict, False


def random_instance(number: int) -> tuple[str, bool, bool, bool]:
    """Certify one random instance: verdict, labels right, premises hold, truth would certify."""
    from stepsmooth.topology import certify, level_gap, minimum_spanning_tree
    from stepsmooth.topology.alternatives import same_division

    rng = np.random.default_rng(SEED + 100_000 + number)
    m, d, n = int(rng.integers(2, 6)), int(rng.integers(1, 4)), int(rng.integers(8, 80))
    X = rng.random((n, d))
    tree = minimum_spanning_tree(X)
    true = rng.permutation(np.r_[np.arange(m), rng.integers(m, size=n - m)])
    levels = np.cumsum(rng.uniform(1.0, 1.0 + rng.choice([0.0, 1.0]), m))
    waves = rng.normal(size=(4, d)) * rng.uniform(0.5, 4.0)
    f = np.sin(X @ waves.T + rng.uniform(0, 6, 4)) @ rng.normal(size=4)
    f *= 10.0 ** rng.uniform(-2.5, 0.5) / np.abs(f).max()
    y = f + levels[true]
    labels, found_levels = perturbed(rng, number % 4, tree, true, levels, y)
    if len(np.unique(labels)) < m:
        labels, found_levels = true, levels
    found = certify(X, labels, found_levels, y=y, tree=tree)
    change = [np.abs(g[tree.edges[:, 0]] - g[tree.edges[:, 1]]).max() for g in (f, y - found_levels[labels])]
    certain = 2.0 * change[0] < level_gap(levels) / m
    return found.verdict, same_division(labels, true), bool(change[0] <= 2.0 * change[1]), bool(certain)


def perturbed(rng, how: int, tree, true, levels, y):  # type: ignore[no-untyped-def]
    """Give labels and levels of an estimate: right, some moved, a region shifted, or k-means of y."""
    from stepsmooth.model import kmeans_1d
    from stepsmooth.topology.certificate import parts_without

    labels = true.copy()
    if how == 1:
        some = rng.choice(len(true), size=rng.integers(1, 4), replace=False)
        labels[some] = rng.integers(len(levels), size=len(some))
    elif how == 2:
        cut = np.zeros(len(true) - 1, dtype=bool)
        cut[rng.integers(len(cut))] = True
        side = parts_without(tree.edges, cut) == 1
        labels[side] = np.minimum(labels[side] + 1, len(levels) - 1)
    elif how == 3:
        centres, labels = kmeans_1d(y, len(levels))[:2]
        return labels, np.asarray(centres).ravel()
    return labels, levels


def papers_signal(cell: tuple[int, float], n: int, number: int) -> tuple[str, bool]:
    """Certify the right labels of the paper's signal: verdict, and whether the truth would certify."""
    from stepsmooth.datasets import make_sine_steps
    from stepsmooth.topology import certify

    data = make_sine_steps(n, *cell, random_state=SEED + 1000 * number + n)
    if len(np.unique(data.labels)) < cell[0]:
        return "cannot tell", False
    certain = 2.0 * np.abs(np.diff(data.smooth)).max() < 1.0 / cell[0]
    return certify(data.X, data.labels, data.levels, y=data.y).verdict, bool(certain)


def noisy(variance: float, shifted: bool, number: int) -> tuple[str, bool]:
    """Certify pooled differences of a long signal, as it is or with a region shifted by a level."""
    from stepsmooth.datasets import make_sine_steps
    from stepsmooth.topology import certify

    data = make_sine_steps(20_000, 3, 1.0, noise_variance=variance, random_state=SEED + number)
    smooth, i, rng = data.smooth.copy(), np.arange(20_000), np.random.default_rng(SEED + number)
    if shifted:
        begin, width, ramp = rng.integers(10_000), rng.integers(3000, 9000), rng.choice([10, 200, 1500])
        smooth += rng.choice([-1, 1]) * np.clip((i - begin) / ramp, 0, 1) * np.clip((begin + width - i) / ramp, 0, 1)
    labels = np.abs((data.y - smooth)[:, None] - data.levels).argmin(axis=1)
    verdict = certify(data.X, labels, data.levels, smooth=smooth, y=data.y, noise_variance=variance).verdict
    return verdict, not shifted


def ion_trace(name: str, pieces: int) -> Row:
    """Certify the true labels of a recorded trace, in one or several pieces, its drift fitted by a local mean."""
    from stepsmooth.topology import certify

    with np.load(Path(os.environ["STEPSMOOTH_DATA"]) / "ion_channel" / f"{name}.npz") as kept:
        y, z = kept["current"].ravel(), kept["open_channels"].ravel().astype(int)
    verdicts: Counter[str] = Counter()
    for part in np.array_split(np.arange(len(y)), pieces):
        codes, levels, smooth, variance = known_labels_fit(y[part], z[part])
        x = np.arange(len(part), dtype=float)
        verdicts[certify(x, codes, levels, smooth=smooth, y=y[part], noise_variance=variance).verdict] += 1
    words = f"ion channel {name}, true labels, pieces of {len(y) // pieces:,} samples"
    return {"case": words, "instances": pieces, **verdicts}


def tissue(slices: slice, noise: float, ratio: float):  # type: ignore[no-untyped-def]
    """Give slices of the phantom, T1-weighted, under a smooth field: mask, labels, levels, log field, image."""
    import nibabel
    from scipy.ndimage import gaussian_filter

    path = Path(os.environ["STEPSMOOTH_DATA"]) / "brainweb" / "normal_crisp_1mm.nii.gz"
    image = np.asarray(nibabel.load(path).dataobj)[:, :, slices]
    mask, rng = (image >= 1) & (image <= 3), np.random.default_rng(SEED + slices.start)
    levels = np.array([0.299, 0.743, 1.0])  # CSF, GM, WM
    labels = np.where(mask, image.astype(int) - 1, 0)
    field = gaussian_filter(rng.normal(size=mask.shape), 30.0)
    field = (field - field[mask].mean()) / np.ptp(field[mask]) * np.log(ratio)
    error = noise * (rng.normal(size=mask.shape) + 1j * rng.normal(size=mask.shape))
    return mask, labels, levels, field, np.abs(np.exp(field) * levels[labels] * mask + error)


def phantom(noise: float, ratio: float) -> Row:
    """Certify the true labels of fifty slices."""
    from stepsmooth.topology import Lattice, certify

    mask, labels, levels, field, y = tissue(slice(60, 110), noise, ratio)
    options = {"noise_variance": noise**2 or None, "multiplicative": True}
    timing = best_of(
        lambda _: certify(Lattice(mask), labels, levels, smooth=field, y=y, **options), repeat=1, warm=False
    )
    found = timing.last
    words = f"phantom, true labels of {int(mask.sum()):,} voxels, field x{ratio:g}, {100 * noise:g} % noise"
    return {
        "case": words,
        "instances": 1,
        found.verdict: 1,
        "margin": found.margin,
        "region": found.region,
        "seconds": timing.seconds,
    }


def fitted_slice(ratio: float, z: int) -> tuple[str, float]:
    """Fit one slice at 3 % noise and certify the fit: verdict, and the share of labels that are right."""
    from stepsmooth import GridStepSmooth

    mask, labels, levels, _, y = (a[..., 0] if np.ndim(a) == 3 else a for a in tissue(slice(z, z + 1), 0.03, ratio))
    g = GridStepSmooth(len(levels), spacing=1.0).fit(y, mask)
    return g.certificate().verdict, float(np.mean(g.labels_[mask] == labels[mask]))


def volume_case(size: int) -> Callable[[], object]:
    """Give the certificate of a noisy volume of size^3 voxels with three tissues under a smooth field."""
    from scipy.ndimage import gaussian_filter

    from stepsmooth.topology import Lattice, certify

    rng, shape, levels = np.random.default_rng(SEED), (size, size, size), np.array([0.3, 0.743, 1.0])
    labels = np.digitize(gaussian_filter(rng.normal(size=shape).astype(np.float32), 3.0), [-0.02, 0.02])
    field = gaussian_filter(rng.normal(size=shape).astype(np.float32), size / 6)
    field = (field - field.mean()) / np.ptp(field) * np.log(1.5)
    y = np.exp(field) * levels[labels] + 0.03 * rng.normal(size=shape)
    options = {"smooth": field, "y": y, "noise_variance": 0.03**2, "multiplicative": True}
    return lambda: certify(Lattice(np.ones(shape, dtype=bool)), labels, levels, **options)


def volume(size: int, settings: Settings) -> Row:
    """Time and weigh the certificate of a volume."""
    work = volume_case(size)
    timing = best_of(lambda _: work(), repeat=1, warm=False)
    peak = fresh.run(
        "benchmarks.certificate:volume_case",
        {"size": size},
        small={"size": 16},
        threads=settings.threads,
        import_name="stepsmooth.topology",
    ).peak_mb
    words = f"volume of {size**3:,} voxels, field x1.5, 3 % noise"
    return {"case": words, "instances": 1, timing.last.verdict: 1, "seconds": timing.seconds, "peak_mb": peak}


def known_labels_fit(y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Fit levels and a slow drift to a trace whose labels are known, by turns."""
    from scipy.ndimage import gaussian_filter1d

    used, codes = np.unique(z, return_inverse=True)
    levels, smooth = np.zeros(len(used)), np.zeros(len(y))
    for _ in range(10):
        levels = np.array([np.mean((y - smooth)[codes == k]) for k in range(len(used))])
        smooth = gaussian_filter1d(y - levels[codes], 500.0, mode="nearest")
    rest = y - levels[codes] - smooth
    return codes, levels, smooth, float(np.median(np.abs(rest)) ** 2 / 0.6745**2)


def run(settings: Settings) -> Result:
    """Count verdicts."""
    many = Parallel(n_jobs=settings.jobs)
    few = settings.quick
    settings.say("constructed counter-examples")
    wrong = many(delayed(constructed)(i) for i in range(40 if few else 2_000))
    settings.say("random instances")
    drawn = many(delayed(random_instance)(i) for i in range(200 if few else 20_000))
    settings.say("the paper's signals")
    seeds = range(1 if few else 20)
    papers = many(delayed(papers_signal)(c, n, i) for c in CELLS for n in SIZES for i in seeds)
    rows: list[Row] = [
        {"case": "constructed counter-examples", "instances": len(wrong), **Counter(v for v, _ in wrong)},
        *(
            {"case": f"random, {words}", "instances": len(own), **Counter(r[0] for r in own)}
            for words, own in (
                ("labels wrong, premises hold", [r for r in drawn if not r[1] and r[2]]),
                ("labels right, truth certifies", [r for r in drawn if r[1] and r[3]]),
                ("labels right, truth does not certify", [r for r in drawn if r[1] and not r[3]]),
            )
        ),
        {"case": "the paper's signals, truth certifies", **counted([v for v, certain in papers if certain])},
    ]
    for variance in (0.01, 0.05, 0.1):
        for shifted in (False, True):
            settings.say(f"noise {variance:g}, shifted: {shifted}")
            out = many(delayed(partial(noisy, variance, shifted))(i) for i in range(3 if few else 100))
            words = "a region shifted" if shifted else "right"
            rows.append({"case": f"noise variance {variance:g}, n=20,000, {words}", **counted([v for v, _ in out])})
    settings.say("a volume")
    rows.append(volume(48 if few else 192, settings))
    notes = []
    if "STEPSMOOTH_DATA" in os.environ:
        rows += [ion_trace(name, pieces) for name in ("drift_985", "drift_986") for pieces in (5, 2, 1)]
        settings.say("the phantom")
        rows += [phantom(noise, ratio) for noise in (0.0, 0.03) for ratio in (1.2, 1.5, 2.0, 5.0)]
        for ratio in (1.2, 1.5, 2.0):
            settings.say(f"fitted slices of the phantom, field x{ratio:g}")
            out = many(delayed(fitted_slice)(ratio, z) for z in ((90,) if few else range(60, 110, 5)))
            right = float(np.mean([share for _, share in out]))
            words = f"phantom, fitted slices, field x{ratio:g}, 3 % noise"
            rows.append({"case": words, **counted([v for v, _ in out]), "labels_right": right})
    else:
        notes.append("Traces and phantom were left out: STEPSMOOTH_DATA does not name the folder of the data.")
    return Result(
        rows,
        claims(rows),
        notes,
        columns=(
            "case",
            "instances",
            "identified",
            "cannot tell",
            "not identified",
            "labels_right",
            "seconds",
            "peak_mb",
        ),
    )


def counted(verdicts: list[str]) -> Row:
    """Count verdicts in a row."""
    return {"instances": len(verdicts), **Counter(verdicts)}


def claims(rows: list[Row]) -> list[Claim]:
    """Say what was reached."""
    by_case = {str(r["case"]): r for r in rows}

    def identified(case: str) -> float:
        return float(str(by_case[case].get("identified", 0)))

    certified = ("random, labels right, truth certifies", "the paper's signals, truth certifies")
    shifted = [c for c in by_case if c.endswith("a region shifted")]
    return [
        Claim(
            "constructed counter-examples called identified", identified("constructed counter-examples"), 0, "at most"
        ),
        Claim(
            "wrong random labellings called identified", identified("random, labels wrong, premises hold"), 0, "at most"
        ),
        *(
            Claim(f"{case}: share identified", identified(case) / float(str(by_case[case]["instances"])), 0.9)
            for case in certified
        ),
        Claim("shifted regions called identified", sum(identified(c) for c in shifted), 0, "at most"),
    ]
