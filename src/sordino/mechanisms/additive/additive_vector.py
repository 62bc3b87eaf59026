"""Independent noise on every coordinate of a vector: histograms, bundles of counts.

For a global bound in the sum norm (Laplace) or any norm that dominates the Euclidean one (Gaussian). Vectors with local
radii are answered by radial.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino.errors import Unsupported
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.parts.drawing import draw_noise, noise_for

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.exact.grid import Grid
    from sordino.mechanisms import Asking
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditiveVector(Mechanism):
    """Every coordinate plus noise for a global bound in the sum norm.

    Args:
        price: What the whole vector costs.
        euclidean: A public bound in the Euclidean norm, used by Gaussian noise when it is smaller than the bound in the
            sum norm (a replaced row that leaves one cell and enters another: sqrt 2 instead of 2).

    Example:
        >>> from sordino.privacy import Pure
        >>> AdditiveVector(price=Pure(1)).guarantee
        Pure(epsilon=1)
    """

    price: Guarantee
    euclidean: Fraction | None = None

    name: ClassVar[str] = "additive-vector"
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_additive"

    def __post_init__(self) -> None:
        noise_for(self.price)

    @property
    def guarantee(self) -> Guarantee:
        """The price."""
        return self.price

    def _bound(self, reading: Reading) -> Fraction:
        opened = reading.open()
        if not isinstance(opened.value, tuple):
            raise Unsupported(self.name, "answers vectors", hint="Additive answers single numbers")
        bound = Fraction(opened.profile.ceiling) * opened.units.step
        if self.euclidean is not None and noise_for(self.price).noise.name == "gaussian":
            return min(bound, self.euclidean)
        return bound

    def law(self, reading: Reading) -> AdditiveLaw:
        """The law of the first coordinate; all are independent and alike."""
        opened = reading.open()
        calibration = noise_for(self.price)
        scale = float(self._bound(reading) * calibration.scale)
        return AdditiveLaw(calibration.noise, value=float(opened.units.real(opened.value[0])), scale=scale)

    def draw(
        self, reading: Reading, grid: Grid, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Draw every coordinate."""
        opened = reading.open()
        bound = self._bound(reading) * contribution
        values = (
            draw_noise(opened.units.real(value), sensitivity=bound, price=self.price, grid=grid, bits=bits)[0]
            for value in opened.value
        )
        return Answer(tuple(values))

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Ask, read, draw."""
        if statistic.norm != 1:
            raise Unsupported(
                self.name,
                "needs a profile in the sum norm",
                got={"norm": statistic.norm},
                hint="RadialLaplace",
            )
        reading = statistic.read(ask(statistic.request(depth=0)))
        return self.draw(reading, grid, contribution=contribution, bits=bits)
