"""`LatticeAnswers`: a number for each of many groups, as points of a lattice; an answer is made when asked for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from sordino.mechanisms import Answer

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.clipped_bar import ClippedBar
    from sordino.mechanisms.clip.population_bar import PopulationBar
    from sordino.mechanisms.parts.public_noise import PublicNoise

    Noise: TypeAlias = PublicNoise | ClippedBar | PopulationBar | None

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class LatticeAnswers(Sequence[Answer]):
    """Numbers without by-products.

    Args:
        lattice: The points.
        points: The point of each group.
        noise: The law of their noise, where it is public and the same for all.

    Example:
        >>> from fractions import Fraction
        >>> from sordino.lattice import Lattice
        >>> some = LatticeAnswers(Lattice(Fraction(1), Fraction(1, 2)), [0, 3])
        >>> some[1], some.floats(), len(LatticeAnswers.joined([some, some]))
        (<Answer 5/2>, [1.0, 2.5], 4)
    """

    def __init__(self, lattice: Lattice, points: Sequence[int], noise: Noise = None) -> None:
        self.lattice, self.points, self.noise = lattice, points, noise

    @classmethod
    def joined(cls, parts: Sequence[Sequence[Answer]]) -> Sequence[Answer]:
        """The answers of some groups and then those of others."""
        if len(parts) == 1:
            return parts[0]
        known = [one for one in parts if isinstance(one, LatticeAnswers)]
        if known and len(known) == len(parts) and len({(one.lattice, one.noise) for one in known}) == 1:
            points = [*itertools.chain.from_iterable(one.points for one in known)]
            return cls(known[0].lattice, points, known[0].noise)
        return [*itertools.chain.from_iterable(parts)]

    def floats(self) -> list[float]:
        """The numbers as floats, each correctly rounded: quotients of whole numbers are."""
        origin, step = self.lattice.origin, self.lattice.step
        below = math.lcm(origin.denominator, step.denominator)
        first, each = int(origin * below), int(step * below)
        try:
            return [(first + each * point) / below for point in self.points]
        except OverflowError:
            return [_quotient(first + each * point, below) for point in self.points]

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> LatticeAnswers: ...
    def __getitem__(self, place: int | slice) -> Answer | LatticeAnswers:
        if isinstance(place, slice):
            return LatticeAnswers(self.lattice, self.points[place], self.noise)
        return Answer(self.lattice.real(self.points[place]), _NOTHING, noise=self.noise)


def _quotient(above: int, below: int) -> float:
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf
