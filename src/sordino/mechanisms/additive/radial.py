"""Piecewise Laplace in d dimensions: radii from local sensitivities, balls of the sum, Euclidean or maximum norm.

The radius is a mixture of positive terms, so nothing is rejected: pick the shell, pick a term, invert one incomplete
gamma function, take an independent direction; every coordinate is rounded exactly to the grid.
Laws: radial_law.py. Proof: docs/proofs/mechanism_radial.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.exact.balls import Undecided, floor, precision, rational
from sordino.exact.bits import Bits
from sordino.exact.uniforms import LazyUniform
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.radial_law import RadialLaw
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.grid import Grid
    from sordino.hints import Hints
    from sordino.mechanisms import Asking
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic

NORMS = (1, 2, math.inf)
NATS = 70
NATS_PER_DIMENSION = 12  # volume grows with the power of the dimension, so far shells matter longer


@dataclass(frozen=True, slots=True, kw_only=True)
class RadialLaplace(Mechanism):
    """A vector whose distance from the truth follows its local sensitivities.

    Args:
        price: What the answer costs.
        norm: The norm in which the profile of the statistic is given: 1, 2 or inf.
        dimension: How many numbers the statistic has; sets how far the reading looks, not the promise.

    Example:
        >>> from sordino.privacy import Pure
        >>> RadialLaplace(price=Pure(1), norm=2, dimension=3).depth
        188
    """

    price: Guarantee
    norm: float = 2
    dimension: int = 1

    name: ClassVar[str] = "radial-laplace"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.VECTOR,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_radial"
    answers_tried: ClassVar[int] = 40

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Grid,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """The same law on every coordinate; None where rounding moves each by its own amount."""
        from sordino.mechanisms.additive.radial_error import RadialError

        del truth, bits
        reading = self.reading(statistic, ask, contribution)
        law, opened = RadialError(self.law(reading), norm=self.norm, step=float(grid.step)), reading.open()
        if law.coarse and any(opened.units.real(one) % grid.step for one in opened.value):
            return None
        return [law]

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """Balls of the statistic's own norm."""
        yield cls(price=price, norm=statistic.norm, dimension=statistic.dimension)

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """The ball of the sum norm."""
        yield cls(price=price)

    def __post_init__(self) -> None:
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers
        checks.whole(self.name, at_least=1, dimension=self.dimension)
        if self.norm not in NORMS:
            raise ParameterError(self.name, "norm must be 1, 2 or inf", got={"norm": self.norm})

    def refusal(self, statistic: Statistic) -> str | None:
        """Vectors whose sensitivity is known in the norm of its balls."""
        reason = Mechanism.refusal(self, statistic)
        if reason is None and statistic.norm != self.norm:
            return f"Its balls are of the norm {self.norm:g}, and the sensitivity is in the norm {statistic.norm:g}."
        return reason

    @property
    def guarantee(self) -> Guarantee:
        """The price."""
        return self.price

    @property
    def slope(self) -> Fraction:
        """Nats per level of the score."""
        return self.price.slope

    @property
    def depth(self) -> int:
        """Levels up to which the mass matters."""
        return math.ceil((NATS + NATS_PER_DIMENSION * (self.dimension - 1)) / self.slope)

    def _shells(self, reading: Reading) -> tuple[list[Fraction], Fraction, int]:
        """Radii ``R_l = LS^(l-1)`` (paper 003, Cor. 5.1 with the smaller index), the tail radius and the dimension."""
        opened = reading.open()
        if not isinstance(opened.value, tuple):
            raise Unsupported(self.name, "answers vectors", hint="PiecewiseLaplace answers single numbers")
        profile, step = opened.profile, opened.units.step
        radii = [Fraction(profile.at(k)) * step for k in range(profile.distance[-1] + 1)]
        return radii, Fraction(profile.ceiling) * step, len(opened.value)

    def law(self, reading: Reading) -> RadialLaw:
        """The law of the distance between answer and truth, in the norm."""
        radii, tail, dimension = self._shells(reading)
        return RadialLaw(radii, tail=tail, dimension=dimension, slope=self.slope)

    def draw(self, reading: Reading, grid: Grid, *, bits: Bits | None = None) -> Answer:
        """Draw a radius and a direction and round every coordinate."""
        source = Bits() if bits is None else bits
        radii, tail, dimension = self._shells(reading)
        opened = reading.open()
        centre = [opened.units.real(value) for value in opened.value]
        # All uniforms of the draw: one for shell and term, one for the place, and the direction's own.
        uniforms = [LazyUniform(source.word(), source) for _ in range(2 + 2 * dimension)]
        face = source.below(dimension)
        working = 128
        while True:
            with precision(working):
                try:
                    points = self._points(uniforms, radii, tail, centre, face, grid)
                    return Answer(tuple(grid.step * point for point in points))
                except Undecided:
                    pass
            for uniform in uniforms:
                uniform.refine(64)
            working += 64

    def _points(
        self,
        uniforms: list[LazyUniform],
        radii: list[Fraction],
        tail: Fraction,
        centre: list[Fraction],
        face: int,
        grid: Grid,
    ) -> list[int]:
        radius = _radius(uniforms[:2], radii, tail, len(centre), self.slope)
        direction = _direction(uniforms[2:], len(centre), self.norm, face)
        half = rational(Fraction(1, 2))
        return [
            floor((rational(value) + radius * part) / rational(grid.step) + half)
            for value, part in zip(centre, direction, strict=True)
        ]


def _radius(
    uniforms: list[LazyUniform], radii: list[Fraction], tail: Fraction, dimension: int, slope: Fraction
) -> Any:
    """Enclose the radius: shell and term by cumulative weights, then a (truncated) gamma variable.

    Inside a shell ``(B + R t)^(d-1) e^(-slope t) R dt`` expands into d positive terms ``t^j e^(-slope t)``, and beyond
    the last one ``r = B + tail t`` with t from 0 to infinity: the same expansion with complete gamma functions.
    """
    rate = rational(slope)
    inner = Fraction(0)
    terms: list[tuple[Any, Fraction, Fraction, int, bool]] = []
    for level, width in enumerate([*radii, tail]):
        open_end = level == len(radii)
        if width > 0:
            decay = rational(-slope * level).exp()
            for j in range(dimension):
                binomial = math.comb(dimension - 1, j)
                scale = rational(binomial * inner ** (dimension - 1 - j) * width ** (j + 1))
                mass = _gamma(j + 1, None if open_end else rate) / rate ** (j + 1)
                terms.append((decay * scale * mass, inner, width, j, open_end))
        inner += width
    total = sum((term[0] for term in terms), start=rational(0))
    target = (uniforms[0].signed() + 1) / 2 * total
    border = rational(0)
    for mass, start, width, j, open_end in terms:
        border = border + mass
        if target < border:
            place = _gamma_place(uniforms[1], j + 1, rate, open_end=open_end)
            return rational(start) + rational(width) * place
        if not target > border:
            raise Undecided
    raise Undecided


def _gamma(order: int, limit: Any) -> Any:
    """Lower incomplete gamma of an integer order, complete when the limit is None: finite sums, no cancellation.

    ``gamma(m, x) = (m-1)! (1 - e^-x sum_{i<m} x^i/i!) = (m-1)! e^-x sum_{i>=m} x^i/i!``.
    """
    from flint import arb

    if limit is None:
        return rational(math.factorial(order - 1))
    return arb(limit).gamma_lower(rational(order))


def _gamma_place(uniform: LazyUniform, order: int, rate: Any, *, open_end: bool) -> Any:
    """Enclose the t with ``gamma(order, rate t) = U gamma(order, rate)`` by bisection on dyadic points."""
    whole = _gamma(order, None if open_end else rate)
    target = uniform.magnitude() * whole
    low, high = Fraction(0), Fraction(1)
    if open_end:
        while _gamma(order, rate * rational(high)) < target:
            high *= 2
            if high > 2**40:
                raise Undecided
    for _ in range(120):
        middle = (low + high) / 2
        value = _gamma(order, rate * rational(middle))
        if value < target:
            low = middle
        elif value > target:
            high = middle
        else:  # the bits drawn so far do not tell the halves apart
            break
    return rational(low).union(rational(high))


def _direction(uniforms: list[LazyUniform], dimension: int, norm: float, face: int) -> list[Any]:
    """Enclose a direction on the unit sphere of the norm with the cone measure."""
    if norm == math.inf:
        parts = [uniform.signed() for uniform in uniforms[:dimension]]
        parts[face] = rational(uniforms[face].sign())
        return parts
    if norm == 1:
        parts = [-uniform.magnitude().log() * uniform.sign() for uniform in uniforms[:dimension]]
        size = sum((abs(part) for part in parts), start=rational(0))
    else:
        parts = []
        for first, second in zip(uniforms[:dimension], uniforms[dimension:], strict=True):
            parts.append((-2 * first.magnitude().log()).sqrt() * second.signed().cos_pi())
        size = sum((part * part for part in parts), start=rational(0)).sqrt()
    return [part / size for part in parts]
