"""Independent noise on every coordinate of a vector: histograms, bundles of counts.

For a global bound in the sum norm (Laplace) or any norm that dominates the Euclidean one (Gaussian). Vectors with local
radii are answered by radial.py.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino.errors import Unsupported
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.lattice import Lattice
    from sordino.mechanisms import Asking, Asks, Words
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


ROOT_TWO = Fraction(1414213563, 10**9)  # rounded up


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveVector(Mechanism):
    """Every coordinate plus noise for a global bound in the sum norm.

    Gaussian noise takes the statistic's own bound in the Euclidean norm where it is smaller (a replaced row that leaves
    one cell and enters another: sqrt 2 instead of 2).

    Args:
        price: What the whole vector costs.

    Example:
        >>> from sordino.privacy import Pure
        >>> AdditiveVector(price=Pure(1)).guarantee
        Pure(epsilon=1)
    """

    price: Guarantee

    name: ClassVar[str] = "additive-vector"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.VECTOR,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    fixed_noise: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_additive"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """Independent noise on every coordinate."""
        yield cls(price=price)

    alternatives = offers

    def __post_init__(self) -> None:
        noise_for(self.price)

    def refusal(self, statistic: Statistic) -> str | None:
        """Vectors whose sensitivity is known in the sum norm."""
        reason = Mechanism.refusal(self, statistic)
        if reason is None and statistic.norm != 1:
            return (
                f"Its theorem is about the sum norm, and the sensitivity is in the norm {statistic.norm:g}."
            )
        return reason

    def _bound(self, reading: Reading, euclidean: Fraction | None = None) -> Fraction:
        opened = reading.open()
        if not isinstance(opened.value, tuple):
            raise Unsupported(self.name, "answers vectors", hint="Additive answers single numbers")
        bound = Fraction(opened.profile.ceiling) * opened.units.step
        if euclidean is not None and noise_for(self.price).noise.name == "gaussian":
            return min(bound, euclidean)
        return bound

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Lattice,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """Independent noise on every coordinate; those that are rounded alike are counted once."""
        from sordino.mechanisms.parts.error_law import ErrorLaw

        del truth, bits
        reading = statistic.read(ask(statistic.request(depth=0)))
        opened = reading.open()
        law = self.law(reading, statistic.euclidean)
        values = [Fraction(opened.units.real(one)) for one in opened.value]
        if len({value % grid.step for value in values}) == 1:
            values = values[:1]
        scale, step = law.scale * contribution, float(grid.step)
        laws = [AdditiveLaw(law.noise, value=float(value), scale=scale) for value in values]
        return [ErrorLaw(one, truth=value, step=step) for one, value in zip(laws, values, strict=True)]

    def law(self, reading: Reading, euclidean: Fraction | None = None) -> AdditiveLaw:
        """The law of the first coordinate; all are independent and alike."""
        opened = reading.open()
        calibration = noise_for(self.price)
        scale = float(self._bound(reading, euclidean) * calibration.scale)
        return AdditiveLaw(calibration.noise, value=float(opened.units.real(opened.value[0])), scale=scale)

    def draw(
        self,
        reading: Reading,
        grid: Lattice,
        *,
        contribution: int = 1,
        euclidean: Fraction | None = None,
        bits: Bits | None = None,
    ) -> Answer:
        """Draw every coordinate."""
        opened = reading.open()
        bound, draws = self._bound(reading, euclidean) * contribution, Draws.of(bits)
        values = (
            draws.noisy(opened.units.real(value), sensitivity=bound, price=self.price, grid=grid)[0]
            for value in opened.value
        )
        calibration = noise_for(self.price)
        noise = PublicNoise.around(calibration.noise, bound * calibration.scale, grid, opened, clipped=False)
        return Answer(tuple(values), noise=noise)

    def answers(
        self, statistic: Any, asks: Asks, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Sequence[Answer]:
        """The same for many groups: all coordinates are drawn together."""
        request = statistic.request(depth=0)
        readings = [statistic.read(ask(request)) for ask in asks]
        bounds = {self._bound(reading, statistic.euclidean) * contribution for reading in readings}
        if len(bounds) != 1:
            return Mechanism.answers(self, statistic, asks, grid, contribution=contribution, bits=bits)
        (bound,), draws = bounds, Draws.of(bits)
        opened = [reading.open() for reading in readings]
        values = [Fraction(one.units.real(value)) for one in opened for value in one.value]
        drawn = iter(draws.noisy_each(values, sensitivity=bound, price=self.price, grid=grid))
        calibration = noise_for(self.price)
        scale = bound * calibration.scale
        return [
            Answer(
                tuple(itertools.islice(drawn, len(one.value))),
                noise=PublicNoise.around(calibration.noise, scale, grid, one, clipped=False),
            )
            for one in opened
        ]

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask, read, draw."""
        reading = statistic.read(ask(statistic.request(depth=0)))
        return self.draw(reading, grid, contribution=contribution, euclidean=statistic.euclidean, bits=bits)
