"""The experiments by name, in the order of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from stepsmooth.experiments.outcome import Outcome
from stepsmooth.experiments.running import Runner


@dataclass(frozen=True)
class Experiment:
    """One figure or table of the paper, or one beyond it.

    Attributes
    ----------
    name : str
    item : str
        Its number in our list.
    title : str
    source : str
        Where it stands in the paper.
    module : str
        The module that runs it.
    """

    name: str
    item: str
    title: str
    source: str
    module: str

    def run(self, runner: Runner) -> Outcome:
        """Run it."""
        found = import_module(f"stepsmooth.experiments.{self.module}").run(runner)
        assert isinstance(found, Outcome)
        return found


EXPERIMENTS = (
    Experiment("graphs", "1", "Neighbour graph and cluster graph", "Figure 2, section 2", "graphs"),
    Experiment("chains", "2", "Markov chains: spectra and residual norms", "Figure 3, Example 2", "chains"),
    Experiment("sobolev", "3", "Sobolev kernels: decay of the residual norm", "Figure 10, appendix B.2", "sobolev"),
    Experiment("one-step", "4", "One step of AltMin is consistent", "Corollary 2, section 3.1", "one_step"),
    Experiment("signals", "5", "Example signals", "Figure 4, section 4", "signals"),
    Experiment("noiseless", "6", "Recovery without noise", "Figure 5, section 4.1", "noiseless"),
    Experiment("noisy", "7", "Recovery under noise", "Figure 6, section 4.1", "noisy"),
    Experiment("mri", "8", "A head under a bias field", "Figures 7 and 8, section 4.2", "mri"),
    Experiment("table", "9", "AltMin beside other ways to correct MRI", "Table 1, appendix C", "table"),
    Experiment("joint-curves", "10a", "The joint solver beside AltMin", "beyond the paper", "joint_curves"),
    Experiment("ion-channels", "10b", "Ion channels under drift", "beyond the paper", "ion_channels"),
    Experiment("recordings", "10c", "Recordings without a known answer", "beyond the paper", "recordings"),
    Experiment("lighting", "10d", "Uneven light: a time lapse, a page, coins", "beyond the paper", "lighting"),
)


def named(names: list[str] | tuple[str, ...]) -> list[Experiment]:
    """Return the experiments that are meant, in their order; "all" or nothing is all of them.

    Parameters
    ----------
    names : list of str
        Names, or numbers of our list ("10" is all of 10a to 10d).

    Examples
    --------
    >>> [e.name for e in named(["6", "graphs"])]
    ['graphs', 'noiseless']
    >>> named(["figure"])
    Traceback (most recent call last):
    ...
    ValueError: unknown experiment 'figure': choose from all, graphs, chains, ..., lighting.
    """
    wanted: set[str] = set()
    for name in names or ["all"]:
        hits = [e.name for e in EXPERIMENTS if name in ("all", e.name, e.item, e.item.rstrip("abcd"))]
        if not hits:
            known = ", ".join(e.name for e in EXPERIMENTS)
            raise ValueError(f"unknown experiment {name!r}: choose from all, {known}.")
        wanted |= set(hits)
    return [e for e in EXPERIMENTS if e.name in wanted]
