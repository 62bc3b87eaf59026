"""The contract of a noise family, and the folder of families that keep it.

A family is one file: a frozen dataclass of its shape, the law at unit scale, and what it promises when it is
scaled to a smooth bound. Everything here is data-free. ``families()`` imports the folder and plug-ins.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from sordino import checks
from sordino.docstrings import completed
from sordino.errors import ParameterError, Unsupported, spell
from sordino.noise.calibration import Calibration, check_price, check_range, epsilon_at_delta
from sordino.privacy import KINDS, Approx, Concentrated, Guarantee, Pure
from sordino.registry import Register

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sordino.exact.recipe import Recipe

__all__ = ["Calibration", "Noise", "families"]

REGISTER: Register[Noise] = Register("noise", __name__)
"""Noise families by catalogue name; `families` fills it by importing this folder."""

BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class Noise(ABC):
    """A symmetric law at unit scale, decreasing in ``|x|``.

    A family gives the logarithm of its density, its two-sided tail ``P(|Z| > x)``, the inverse of that tail and its
    absolute moments, all for x >= 0; this class adds signs. Shapes are exact Fractions.

    The mechanism adds ``scale * smooth bound * Z``; ``calibrate`` finds the scale.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    #: Whether it is a noise of choice for a global bound, without smoothing.
    plain: ClassVar[bool] = False
    reach: ClassVar[float] = 2.0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super(Noise, cls).__init_subclass__(**kwargs)
        cls.__doc__ = completed(cls)
        if cls.__dict__.get("name"):
            REGISTER.add(cls.name, cls)

    def __repr__(self) -> str:
        shape = ", ".join(f"{field.name}={spell(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({shape})"

    @property
    def shape(self) -> dict[str, Fraction]:
        """Give the shape parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_dict(self) -> dict[str, str]:
        """Give a record with the family's name and exact shape."""
        return {"kind": self.name, **{name: str(value) for name, value in self.shape.items()}}

    @classmethod
    def cases(cls) -> Iterator[Self]:
        """Yield shapes on which the laws are tested, the edges of the domain included; the only one without any."""
        yield cls()

    def recipe(self) -> Recipe:
        """Give the exact sampler of this law: ``<Name>Recipe`` beside the law, or in ``sampler.py`` of its folder."""
        home = type(self).__module__
        if home.endswith(".law"):
            home = home.removesuffix("law") + "sampler"
        wanted = f"{type(self).__name__}Recipe"
        known = importlib.util.find_spec(home) if home not in sys.modules else True
        recipe = getattr(importlib.import_module(home), wanted, None) if known else None
        if recipe is None:
            raise ParameterError(
                self.name or type(self).__name__, f"has no exact sampler: there is no {wanted} in {home}",
                why="Noise is drawn by the recipe of its family, which is found by its name.",
                hint=f"class {wanted}(Recipe): ... as in docs/howto/extending/logistic.py",
            )  # fmt: skip
        return cast("Recipe", recipe(*self.shape.values()))

    # The law, for x >= 0 ------------------------------------------------------------------------------

    @abstractmethod
    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the log-density at x >= 0."""

    @abstractmethod
    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give P(|Z| > x) with full relative accuracy, however small."""

    @abstractmethod
    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the x with P(|Z| > x) = tail = 1 - centre; both are given so that neither end cancels."""

    @abstractmethod
    def _moment(self, order: float) -> float:
        """Give E|Z|^order for order > 0, infinity where it diverges."""

    def sample(self, size: int, *, seed: int | None = None) -> Any:
        """Draws at unit scale for simulations, by the exact sampler that releases use.

        Args:
            size: How many.
            seed: Makes them repeatable, and marks them as not private.

        Example:
            >>> from sordino.noise.laplace import Laplace
            >>> drawn = Laplace().sample(1000, seed=1)
            >>> drawn.private, bool(abs(abs(drawn).mean() - 1) < 0.2)
            (False, True)
        """
        from sordino.noise.sample import sample

        return sample(self, size, seed=seed)

    # The law, for people --------------------------------------------------------------------------------

    def logpdf(self, x: ArrayLike) -> Any:
        """Logarithm of the density."""
        return _blockwise(lambda y: self._logpdf(np.abs(y)), x)

    def pdf(self, x: ArrayLike) -> Any:
        """Density."""
        return _blockwise(lambda y: np.exp(self._logpdf(np.abs(y))), x)

    def sf(self, x: ArrayLike) -> Any:
        """Survival function P(Z > x); accurate in the upper tail down to the smallest floats."""
        return _blockwise(self._above, x)

    def cdf(self, x: ArrayLike) -> Any:
        """Distribution function P(Z <= x); accurate in the lower tail down to the smallest floats."""
        return _blockwise(lambda y: self._above(-y), x)

    def isf(self, q: ArrayLike) -> Any:
        """Inverse of the survival function."""
        return _blockwise(self._quantile, q)

    def ppf(self, q: ArrayLike) -> Any:
        """Quantile function, the inverse of the distribution function."""
        return _blockwise(lambda p: -self._quantile(p), q)

    def _above(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give P(Z > x) from the two-sided tail: halves of tails above zero, one minus them below."""
        half = 0.5 * self._tail(np.abs(x))
        return np.where(x < 0, 1 - half, half)

    def _quantile(self, upper: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the x with P(Z > x) = upper; NaN outside [0, 1]."""
        tail = 2 * np.where(upper > 0.5, 1 - upper, upper)
        with np.errstate(all="ignore"):
            return np.copysign(self._tail_inverse(tail, 1 - tail), 0.5 - upper)

    def moment(self, order: float) -> float:
        """Absolute moment E|Z|^order; infinite where it diverges.

        Example:
            >>> from sordino.noise.polyplace import PolyPlace
            >>> PolyPlace(alpha=2).moment(2)
            inf
        """
        exact_order = checks.non_negative(self.name, order=order)
        return 1.0 if exact_order == 0 else float(self._moment(float(exact_order)))

    @property
    def variance(self) -> float:
        """Variance at unit scale; infinite where it diverges."""
        return float(self._moment(2.0))

    @property
    def std(self) -> float:
        """Standard deviation at unit scale; infinite where it diverges."""
        return float(np.sqrt(self.variance))

    # What it promises -----------------------------------------------------------------------------------

    @classmethod
    def promises(cls) -> tuple[type[Guarantee], ...]:
        """List the kinds of guarantee that a theorem gives for this family."""
        return tuple(kind for kind in KINDS if hasattr(cls, "_calibrate_" + kind.kind.replace("-", "_")))

    @classmethod
    @checks.explained("", call="sd.PolyPlace.calibrate(sd.Pure(1), smoothing=0.1)")
    def calibrate(
        cls, price: Guarantee, *, smoothing: Any = None, method: str | None = None, **shape: Any
    ) -> Calibration:
        """Find the smallest scale per unit of smooth sensitivity that keeps a promise. Sees no data.

        Args:
            price: The promise to keep.
            smoothing: How fast the smooth bound may change, S(x) <= e^smoothing S(x'); zero for a global bound.
                A default that suits the price is taken when it is not given.
            method: Which theorem to use, when a family has several; the tightest by default.
            shape: Shape parameters; the ones with the smallest variance are found when not given.

        Example:
            >>> import sordino as sd
            >>> sd.PolyPlace.calibrate(sd.Pure(1), smoothing=0.1).noise
            PolyPlace(alpha=10)
        """
        check_price(cls.name, price)
        route = getattr(cls, "_calibrate_" + price.kind.replace("-", "_"), None)
        if route is None:
            raise _unsupported(cls, price)
        if smoothing is not None:
            smoothing = checks.non_negative(cls.name, smoothing=smoothing)
        check_range(cls.name, price, smoothing)
        known = {field.name for field in fields(cls)}
        unknown = [name for name in shape if name not in known]
        if unknown:
            raise ParameterError(
                cls.name,
                f"has no shape parameter {unknown[0]!r}",
                got={unknown[0]: shape[unknown[0]]},
                hint=f"it has {', '.join(sorted(known))}" if known else "it has none",
            )
        given = {
            name: checks.positive(cls.name, **{name: value})
            for name, value in shape.items()
            if value is not None
        }
        calibration = route(price, smoothing, method, **given)
        assert isinstance(calibration, Calibration)
        return calibration

    def price(
        self,
        *,
        scale: Any,
        smoothing: Any,
        as_: type[Guarantee] = Pure,
        method: str | None = None,
        **extra: Any,
    ) -> Guarantee:
        """Say what this noise promises at a scale per unit of smooth sensitivity: the inverse of ``calibrate``.

        Args:
            scale: Noise added per unit of the smooth bound.
            smoothing: The smoothing parameter of the bound.
            as_: The kind of guarantee wanted.
            method: Which theorem to use.
            extra: ``delta`` or ``epsilon`` for ``Approx``, ``omega`` for ``TruncatedConcentrated``,
                ``per`` for ``Geo``.
        """
        at = checks.positive(self.name, scale=scale)
        gamma = checks.non_negative(self.name, smoothing=smoothing)
        route = getattr(self, "_price_" + as_.kind.replace("-", "_"), None)
        if route is None:
            return self._converted_price(at, gamma, as_, extra)
        if as_ is Approx and "delta" in extra:
            return epsilon_at_delta(
                self.name, lambda epsilon: route(at, gamma, method, epsilon=epsilon), **extra
            )
        guarantee = route(at, gamma, method, **extra)
        assert isinstance(guarantee, Guarantee)
        return guarantee

    def _converted_price(
        self, scale: Fraction, smoothing: Fraction, as_: type[Guarantee], extra: dict[str, Any]
    ) -> Guarantee:
        """Price by a promise that this noise does keep, when that one implies the one asked for."""
        for kind in (Pure, Concentrated):
            if hasattr(self, "_price_" + kind.kind) and hasattr(kind, "_to_" + as_.kind.replace("-", "_")):
                return self.price(scale=scale, smoothing=smoothing, as_=kind).to(as_, **extra)
        raise _unsupported(type(self), as_)


def _unsupported(family: type[Noise], price: Guarantee | type[Guarantee]) -> Unsupported:
    """Say which families would do."""
    kind = price if isinstance(price, type) else type(price)
    able = [other.name for other in families().values() if kind in other.promises()]
    return Unsupported(
        family.name,
        f"no theorem gives {kind.__name__} for this noise",
        got={} if isinstance(price, type) else {"price": price},
        why=f"It is calibrated for {', '.join(k.__name__ for k in family.promises())}.",
        hint=f"use one of: {', '.join(able)}" if able else "",
    )


def families() -> dict[str, type[Noise]]:
    """Import the folder's families and those of installed plug-ins, and list them by name.

    Example:
        >>> "polyplace" in families()
        True
    """
    return REGISTER.load()


def _blockwise(function: Any, x: ArrayLike) -> Any:
    """Apply a function of doubles block by block, so that its temporaries stay in the cache; scalar for scalar."""
    values = np.asarray(x, dtype=np.float64)
    if values.size <= BLOCK:
        result = function(values)
        return float(result) if np.ndim(x) == 0 else result
    flat = values.ravel()
    out = np.empty_like(flat)
    for start in range(0, flat.size, BLOCK):
        out[start : start + BLOCK] = function(flat[start : start + BLOCK])
    return out.reshape(values.shape)
