"""The paper's Sobolev kernels, in closed form."""

from dataclasses import dataclass

import numpy as np

from stepsmooth.model.arrays import Anything, Floats
from stepsmooth.model.kernels import coordinate, pair


@dataclass(frozen=True)
class SobolevKernel:
    """The paper's Sobolev-alpha kernel: <f, g> = sum over k = 0..alpha of int f^(k) g^(k) on `domain`.

    It is the Green's function of 1 - D^2 (alpha = 1) or 1 - D^2 + D^4 (alpha = 2) with the natural boundary
    conditions: the free-space solution plus what the four (two) decaying exponentials of the ends add.

    Examples
    --------
    >>> k = SobolevKernel(alpha=1)
    >>> float(k([[0.0]])[0, 0])  # coth(1)
    1.3130352854993315
    """

    alpha: int = 1
    domain: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        low, high = self.domain
        if self.alpha not in (1, 2):
            raise ValueError(f"alpha must be 1 or 2, got {self.alpha!r}.")
        # The boundary system loses about 6 log10(1/length) digits: below .02 fewer than six would be left.
        shortest = 1e-6 if self.alpha == 1 else 0.02
        if not high - low >= shortest:
            raise ValueError(
                f"domain of kernel='sobolev{self.alpha}' must be at least {shortest:g} long, got {high - low:g}; "
                "express x in a smaller unit."
            )

    def __call__(self, X: Anything, Y: Anything = None) -> Floats:
        """Return K(x_i, y_j)."""
        x, y = pair(X, Y, f"sobolev{self.alpha}")
        low, high = self.domain
        for t in (x, y):
            if t.min() < low or t.max() > high:
                raise ValueError(
                    f"kernel='sobolev{self.alpha}' lives on [{low:g}, {high:g}], "
                    f"but x in [{t.min():g}, {t.max():g}] was asked for."
                )
        if self.alpha == 1:
            # cosh(min - low) cosh(high - max) / sinh(length), with every exponent negative.
            gap, both = np.abs(x - y), np.minimum(x, y) - low + high - np.maximum(x, y)
            length = high - low
            left, right = np.minimum(x, y) - low, high - np.maximum(x, y)
            total = np.exp(-gap) + np.exp(-gap - 2 * right) + np.exp(-gap - 2 * left) + np.exp(-gap - 2 * both)
            return np.asarray(total / (2.0 * -np.expm1(-2.0 * length)))
        ends = self._boundary()
        return np.asarray(_green(np.abs(x - y)) + self._modes(x.ravel()) @ ends @ self._modes(y.ravel()).T)

    def diag(self, X: Anything) -> Floats:
        """Return K(x_i, x_i)."""
        x = coordinate(X, f"sobolev{self.alpha}")
        return np.array([float(self([[t]])[0, 0]) for t in x])

    def _modes(self, x: Floats, derivative: int = 0) -> Floats:
        """Return the four solutions of u - u'' + u'''' = 0 that decay from either end."""
        low, high = self.domain
        from_left = _ROOT**derivative * np.exp(_ROOT * (x - low))
        from_right = (-_ROOT) ** derivative * np.exp(_ROOT * (high - x))
        return np.column_stack([from_left.real, from_left.imag, from_right.real, from_right.imag])

    def _boundary(self) -> Floats:
        """Return B of K(x, y) = g(|x - y|) + u(x)' B u(y), from the natural conditions at both ends."""
        ends = np.array(self.domain)

        def conditions(derivatives: list[Floats]) -> Floats:
            # Natural conditions of int fg + f'g' + f''g'': u'' = 0 and u' - u''' = 0.
            return np.concatenate([derivatives[2], derivatives[1] - derivatives[3]])

        own = conditions([self._modes(ends, k) for k in range(4)])
        # For y inside, x -> g(|x - y|) at an end is a combination of the modes that decay from that end.
        free = [np.zeros((2, 4)) for _ in range(4)]
        for k in range(4):
            free[k][0, :2] = _real_part(_GREEN * (-_ROOT) ** k)
            free[k][1, 2:] = _real_part(_GREEN * _ROOT**k)
        return np.asarray(np.linalg.solve(own, -conditions(free)))


# Root of s^4 - s^2 + 1 in the left half plane, and c of g(t) = Re(c exp(root t)): g'(0) = 0, g'''(0+) = 1/2.
_ROOT = np.exp(5j * np.pi / 6.0)
_GREEN = complex(1.0 / (2.0 * np.sqrt(3.0)), -0.5)


def _real_part(c: complex) -> Floats:
    """Return the row (a, b) with Re(c z) = a Re z + b Im z."""
    return np.array([c.real, -c.imag])


def _green(t: Floats) -> Floats:
    """Return the free-space Green's function of 1 - D^2 + D^4."""
    return np.asarray((_GREEN * np.exp(_ROOT * t)).real)
