"""From a fit to a verdict on its labels.

The proof of Theorem 1 is symmetric in estimate and truth. Read from the estimate, with its own least gap, it says: if
on every edge of the spanning tree |d f_fit| + |d f_true| < gap / M, labels that are equal in truth are equal in the
estimate; and if the truth has no more levels than the estimate, the two divide the points alike. The variation of the
fitted f is known; that of the true one is the premise.
"""

from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything, Floats, Ints
from stepsmooth.topology.alternatives import NORMS, alternative
from stepsmooth.topology.arguments import label_codes, level_columns, point_cloud, positive
from stepsmooth.topology.certificate import ROUNDING, Certificate, Verdict, parts_without
from stepsmooth.topology.emission import Noise
from stepsmooth.topology.lattice import Lattice
from stepsmooth.topology.modulus import as_modulus, channel_factor, level_gap, size
from stepsmooth.topology.noise import certify_noisy
from stepsmooth.topology.spanning import SpanningTree, minimum_spanning_tree
from stepsmooth.topology.twolevels import two_levels


def certify(
    X: Anything,
    labels: Anything,
    levels: Anything,
    *,
    modulus: Anything = None,
    smooth: Anything = None,
    c: float = 2.0,
    noise_variance: Anything = None,
    confidence: float = 0.95,
    y: Anything = None,
    multiplicative: bool = False,
    norm: Anything = 2,
    metric: Anything = "euclidean",
    tree: SpanningTree | None = None,
) -> Certificate:
    """Say whether labels could be other than they are.

    Parameters
    ----------
    X : (n, d) or (n,) array, or Lattice
        The points.
    labels : (n,) array of ints
        The labels that were found, 0 to M - 1.
    levels : (M,) or (M, p) array
        The levels that were found.
    modulus : float, callable, (norm of f, kernel) or Modulus, optional
        How much the true f varies, if that is known (see :func:`as_modulus`): a Lipschitz constant, a function of
        distance, or a bound on the RKHS norm. For vector levels, that of a scalar f shared by all channels.
    smooth : (n,) or (n, p) array, optional
        The fitted f at the points. Without noise, it is `y - levels[labels]`; pass `y` and it is computed. For a
        `Lattice`, labels, smooth and y may be images.
    c : float, default=2.0
        Without a modulus: the true f varies over edges by at most c times the largest variation of the fitted f.
    noise_variance : float or array, optional
        The variance of the noise, in the units of the data: one number, or (M,) for scalar data, (p,) or (M, p) for
        channels. With it, differences are pooled over neighbouring points, and the verdict is that f is on the right
        branch: no region is shifted by a level. Single labels that noise has turned are counted apart. It needs
        `smooth`.
    confidence : float, default=0.95
        With noise: the probability that the verdict "identified" is right, if the premises hold.
    y : (n,) or (n, p) array, optional
        The observations; with noise, differences are then pooled from the data rather than from the fitted f.
    multiplicative : bool, default=False
        y = exp(f) mu: levels are above 0 and compared by their logs; `smooth` is f, the log of the field. Without
        noise, y is above 0 too.
    norm : 1, 2, inf or callable, default=2
        The norm of vector outputs.
    metric : str, kernel or callable, default="euclidean"
        In which the spanning tree is built; a modulus given as (norm of f, kernel) brings its own.
    tree : SpanningTree, optional
        The minimum spanning tree of X, if it is at hand.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from stepsmooth.datasets import make_sine_steps
    >>> data = make_sine_steps(400, 3, 3.0, random_state=0)
    >>> print(certify(data.X, data.labels, data.levels, y=data.y))
    identified: margin 0.682 (0.106 of 0.3333 allowed)
    premise: the truth has at most 3 levels, and over edges of the spanning tree the true f varies by at most 0.07068
    (c = 2 times the fitted f).
    >>> certify(data.X, data.labels, data.levels, modulus=100.0).verdict
    'cannot tell'
    """
    raw = level_columns(levels)
    mu = _logs("levels", raw) if multiplicative else raw
    known = None if modulus is None else as_modulus(modulus)
    noisy = noise_variance is not None and bool(np.any(np.asarray(noise_variance) != 0.0))
    if tree is None and not noisy:
        tree = minimum_spanning_tree(X, metric=metric if known is None else known.metric)
    n = tree.n_points if tree is not None else X.n_points if isinstance(X, Lattice) else len(point_cloud(X))
    codes = label_codes(X.on_grid(labels)[X.mask] if isinstance(X, Lattice) else labels, n, len(mu))
    observed = None if y is None else _columns("y", y, X, n)
    f = None if smooth is None else _columns("smooth", smooth, X, n)
    c = positive("c", c)
    if noisy:
        if f is None:
            raise ValueError("certify needs smooth, the fitted f at the points, if there is noise.")
        noise = Noise.of(raw, noise_variance, f if multiplicative else None)
        rest = _remainder(observed, mu[codes] + f, multiplicative)
        return certify_noisy(X, codes, mu, f, rest, noise, c=c, modulus=known, confidence=confidence, norm=norm)
    if observed is not None:  # without noise, the data and the labels say what f is
        f = (_logs("y", observed) if multiplicative else observed) - mu[codes]
    assert tree is not None
    return _decide(tree, Problem(codes, mu, norm, known, f, c))


@dataclass(frozen=True)
class Problem:
    """Labels, levels, the norm of outputs, and what is known of f."""

    labels: Ints
    levels: Floats
    norm: Anything
    modulus: Anything
    smooth: Floats | None
    c: float

    def fitted(self, edges: Ints) -> Floats | None:
        """Return how much the fitted f varies over each edge, or None if it is not given."""
        if self.smooth is None:
            return None
        change = self.smooth[edges[:, 0]] - self.smooth[edges[:, 1]]
        return size(np.broadcast_to(change, (len(change), self.levels.shape[1])), self.norm)

    def true(self, tree: SpanningTree, fitted: Floats | None) -> tuple[Floats, str]:
        """Return how much the true f may vary over each edge by premise, and the premise in words."""
        count = f"the truth has at most {len(self.levels)} levels"
        if self.modulus is not None:
            bound = channel_factor(self.levels.shape[1], self.norm) * self.modulus(tree.lengths)
            both = "" if fitted is not None else " and so does the fitted one"
            return bound, f"{count}, and the true f varies over distances by no more than {self.modulus.words}{both}."
        if fitted is None:
            raise ValueError("certify needs smooth (the fitted f at the points), y, or modulus: found none of them.")
        most = self.c * float(fitted.max())
        words = f"over edges of the spanning tree the true f varies by at most {most:.4g}"
        return np.full(len(fitted), most), f"{count}, and {words} (c = {self.c:g} times the fitted f)."


def _decide(tree: SpanningTree, problem: Problem) -> Certificate:
    edges, m = tree.edges, len(problem.levels)
    fitted = problem.fitted(edges)
    bound, premise = problem.true(tree, fitted)
    deviation = bound + (bound if fitted is None else fitted)  # of the two smooth parts from each other
    gap = level_gap(problem.levels, norm=problem.norm)
    # The proof walks over at most M edges; the sum of the M worst is all that it can lose.
    worst = float(np.sort(deviation)[-m:].sum() / m) if len(deviation) >= m else float(deviation.max())
    allowed, other = gap / m, None
    identified = worst < allowed * (1.0 - ROUNDING)
    if not identified and fitted is not None and problem.smooth is not None:
        Y = np.broadcast_to(problem.smooth, (len(fitted) + 1, problem.levels.shape[1])) + problem.levels[problem.labels]
        room = two_levels(edges, Y, problem.labels, bound, problem.norm) if m == 2 else 0.0
        if room >= 1.0:
            identified, worst, allowed = True, float(bound.max()), room * float(bound.max())
        elif problem.norm in NORMS:
            other = alternative(edges, Y, problem.levels, problem.labels, bound * (1.0 - ROUNDING), problem.norm)[0]
    verdict: Verdict = "identified" if identified else "cannot tell" if other is None else "not identified"
    # By the largest variation of all, one bad edge would break every edge; each is held against what varies on itself.
    local = deviation if problem.modulus is not None or fitted is None else (1.0 + problem.c) * fitted
    broken = (local >= gap / m * (1.0 - ROUNDING)) & (not identified)
    margin = 1.0 - worst / allowed if allowed > 0.0 else -np.inf
    by_size = np.flatnonzero(broken)[np.argsort(-local[broken], kind="stable")]
    return Certificate(
        verdict=verdict,
        margin=margin if identified else min(margin, 0.0),
        edges=edges[by_size],
        parts=parts_without(edges, broken),
        premise=premise,
        alternative=other,
        variation=worst,
        allowed=allowed,
    )


def _columns(name: str, values: Anything, X: Anything, n: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if isinstance(X, Lattice) and array.shape[: X.mask.ndim] == X.mask.shape:
        array = array[X.mask]
    if array.ndim not in (1, 2) or len(array) != n:
        raise ValueError(f"{name} must hold one row for each of the {n} points; found shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite; found {int(np.sum(~np.isfinite(array)))} values that are not.")
    return array.reshape(n, -1)


def _remainder(observed: Floats | None, fitted: Floats, multiplicative: bool) -> Floats:
    """Return what the fit leaves of the data, relative to the fit if f multiplies (its logs are given then)."""
    if observed is None:
        return np.zeros_like(fitted)
    if observed.shape != fitted.shape:
        raise ValueError(f"y must have one column for each of the {fitted.shape[1]} channels; found {observed.shape}.")
    return np.asarray(observed * np.exp(-fitted) - 1.0 if multiplicative else observed - fitted)


def _logs(name: str, values: Floats) -> Floats:
    if np.any(values <= 0.0):
        raise ValueError(f"{name} must be above 0 if multiplicative=True; found {values.min():g}.")
    return np.asarray(np.log(values))
