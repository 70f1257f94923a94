"""Each experiment, run small, gives figures, numbers and claims with a verdict computed from them."""

import importlib

import matplotlib.pyplot as plt
import numpy as np
import pytest

from stepsmooth.experiments import (
    EXPERIMENTS,
    VERDICTS,
    Runner,
    Settings,
    chains,
    curves,
    joint_curves,
    named,
    noiseless,
    noisy,
    one_step,
    sobolev,
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(noiseless, "QUICK_SIZES", (25, 50, 100))
    monkeypatch.setattr(noisy, "QUICK_SIZES", (25, 100))
    monkeypatch.setattr(one_step, "DENSE", 100)
    yield
    plt.close("all")


def checked(outcome):
    assert outcome.tables
    assert set(outcome.captions) == set(outcome.figures)
    assert set(outcome.shown) <= set(outcome.tables)
    assert all(claim.verdict in VERDICTS and claim.ours for claim in outcome.claims)
    return outcome


def test_every_experiment_has_a_module_that_runs_and_a_name_of_its_own():
    assert len({e.name for e in EXPERIMENTS}) == len(EXPERIMENTS)
    for experiment in EXPERIMENTS:
        assert callable(importlib.import_module(f"stepsmooth.experiments.{experiment.module}").run)
    assert [e.name for e in named(["10"])] == ["joint-curves", "ion-channels", "recordings", "lighting"]


@pytest.mark.parametrize("name", ["graphs", "signals", "recordings"])
def test_experiments_run_without_data_and_say_what_is_missing(runner, name):
    found = named([name])[0].run(runner)
    assert bool(found.missing) == (name != "signals")
    assert all(claim.verdict == "cannot be checked" for claim in found.claims)
    assert found.figures or name == "recordings"


def test_chains_tell_the_two_scalings_apart():
    with Runner(Settings(quick=True, seeds=40)) as runner:
        found = checked(chains.run(runner))
    verdicts = {claim.paper: claim.verdict for claim in found.claims if "slope -1" in claim.paper}
    assert list(verdicts.values()) == ["does not hold", "holds"]  # K/n as defined, K without the division


def test_sobolev_slopes_stand_beside_the_theory():
    sizes = (50, 100)
    decays = []
    for alpha in sobolev.ALPHAS:
        norms, xi = zip(*(sobolev.decay(alpha, n, 200) for n in sizes))
        decays.append(sobolev.Decay(alpha, sizes, np.stack(norms, axis=-1), np.array(xi)))
    rates = next(claim for claim in sobolev.claims(decays) if claim.paper.startswith("xi_n"))
    assert rates.verdict == "holds"
    assert sobolev.draw(decays).axes
    assert {row["theory"] for row in sobolev.slope_rows(decays)} == {-2 / 3, -0.8}


def test_one_step_measures_what_the_spectrum_expects():
    rows = [one_step.measure(100, points, "uniform", seed) for points in one_step.POINTS for seed in range(2)]
    for row in rows:
        assert row["mse"] == pytest.approx(row["expected"], rel=0.2)
        assert row["leakage"] == pytest.approx(row["leakage_by_spectrum"], rel=1e-6)
        assert row["leakage_by_spectrum"] <= row["leakage_bound"]


def test_noiseless_curves_are_judged_only_where_the_theorem_speaks(runner):
    found = checked(noiseless.run(runner))
    labels, levels = found.claims[:2]
    assert labels.verdict == "cannot be checked"  # 100 points are fewer than the theorem asks for
    assert levels.verdict == "holds"
    assert [row["theorem, norm"] for row in found.tables["thresholds"]] == [178, 711, 1599, 3598]


def test_noisy_curves_that_stay_away_from_bayes_do_not_hold(runner):
    found = checked(noisy.run(runner))
    assert found.claims[0].verdict == "does not hold"  # 100 points
    ideal = [
        {"n": n, "noise_variance": noise, "accuracy": rate - 0.01 * (1 + i) * (n == 25), "deviation": 0.1}
        for i, (noise, rate) in enumerate(zip(noisy.NOISES, noisy.bayes_rates()))
        for n in (25, 100)
    ]
    near, faster = noisy.claims(ideal, (25, 100))
    assert near.verdict == "holds"
    assert faster.verdict == "holds"


def test_a_fit_that_fails_is_counted_not_dropped(monkeypatch):
    monkeypatch.setitem(curves.METHODS, "broken", {"solver": "none"})
    rows = [curves.score(method, 25, 2, 1, 0.0, seed) for method in ("AltMin", "broken") for seed in range(2)]
    means = {row["method"]: row for row in curves.means(rows)}
    assert means["broken"]["failed"] == 2
    assert "accuracy" not in means["broken"]
    assert means["AltMin"]["failed"] == 0
    assert all("solver" in row["error"] for row in rows if row["method"] == "broken")


def test_joint_claims_follow_the_figures():
    def rows(joint, altmin):
        keys = {"M": 3, "beta": 3, "noise_variance": 0.0, "n": 36}
        return [{**keys, "method": "joint", "accuracy": joint}, {**keys, "method": "AltMin", "accuracy": altmin}]

    for joint, altmin, verdict in ((1.0, 0.8, "holds"), (0.7, 0.8, "does not hold")):
        assert joint_curves.claims(rows(joint, altmin), (36,), (0.0,))[0].verdict == verdict


def test_results_do_not_depend_on_the_number_of_processes():
    arguments = [(2, k) for k in range(4)]
    with Runner(Settings(), jobs=2) as two, Runner(Settings()) as one:
        assert two.each("powers", pow, arguments) == one.each("powers", pow, arguments)
