"""`Purse`: a price that is spent in parts and gives out no more than it has.

A mechanism that asks several times takes each part from one purse, so that its shares add up by construction. What the
parts compose to is the business of `Guarantee`; nothing here knows of mechanisms or data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from sordino.checks import Number

G = TypeVar("G", bound=Guarantee)


class Purse(Generic[G]):
    """A price to be spent in parts.

    Args:
        price: What there is to spend.

    Example:
        >>> from sordino.privacy import Pure
        >>> purse = Purse(Pure(1))
        >>> purse.take(0.25), purse.rest()
        (Pure(epsilon=0.25), Pure(epsilon=0.75))
        >>> purse.left
        Fraction(0, 1)
    """

    __slots__ = ("_left", "_price")

    def __init__(self, price: G) -> None:
        self._price = price
        self._left = Fraction(1)

    @property
    def left(self) -> Fraction:
        """The part of the price that was not given out."""
        return self._left

    def take(self, part: Number) -> G:
        """Give out a part of the whole price, or refuse when less is left.

        Args:
            part: Between 0 and 1, of the whole price.
        """
        wanted = checks.between("purse", 0, 1, closed=True, part=part)
        if wanted > self._left:
            raise ParameterError(
                "purse", "gives out no more than it has", got={"part": wanted, "left": self._left}
            )
        self._left -= wanted
        return self._price.share(wanted)

    def rest(self) -> G:
        """Give out all that is left."""
        return self.take(self._left)
