"""Is a claimed bound one? Every dataset of a tiny world, every neighbour, and the counterexample where it is not.

A bound scales noise only if it is at least the local sensitivity everywhere and changes by a factor of at most
e^smoothing between neighbours (Nissim, Raskhodnikova and Smith 2007, Definition 2.1). A proof is for all datasets; a
tiny world finds what a proof has overlooked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.reading.profile import Profile

ROUNDING = 1e-12  # what floats may be off


@dataclass(frozen=True, slots=True)
class BoundCheck:
    """What became of a claim.

    Attributes:
        pairs: Neighbours that were compared.
        problem: What failed, in a sentence; None where nothing did.
        first: The dataset of the counterexample.
        second: Its neighbour.
    """

    pairs: int
    problem: str | None = None
    first: tuple[Any, ...] | None = None
    second: tuple[Any, ...] | None = None

    def __bool__(self) -> bool:
        return self.problem is None

    def __str__(self) -> str:
        if self.problem is None:
            return f"the bound holds and is smooth on {self.pairs:,} pairs of neighbours"
        return f"{self.problem}\n  x  = {list(self.first or ())}\n  x' = {list(self.second or ())}"


@checks.explained("", call="sd.check_bound(median, my_bound, (0, 1, 5, 10), smoothing=0.1)")
def check_bound(
    f: Callable[[Sequence[Any]], Any],
    bound: Callable[[Sequence[Any]], Any],
    domain: Iterable[Any],
    *,
    smoothing: float = 0.0,
    sizes: Iterable[int] = (1, 2, 3, 4),
    neighbors: Neighbors | str = Neighbors.REPLACE_ONE,
) -> BoundCheck:
    """Test that a bound dominates the local sensitivity of a statistic and is smooth, on all tiny datasets.

    Args:
        f: The statistic of a list of rows; a number, or several (then distances are Euclidean).
        bound: The claimed bound on the same list.
        domain: What one row may be.
        smoothing: The smoothing that is claimed; 0 for a global bound, which must be the same everywhere.
        sizes: Numbers of rows to enumerate.
        neighbors: Which datasets are neighbours.

    Example:
        >>> from statistics import median_low
        >>> world = (0, 1, 5, 10)
        >>> print(check_bound(median_low, lambda rows: 10, world))
        the bound holds and is smooth on 672 pairs of neighbours
        >>> print(check_bound(max, lambda rows: max(rows) - min(rows) + 1, world, smoothing=1, sizes=(2,)))
        the bound is below the local sensitivity: bound(x) = 1, |f(x) - f(x')| = 10
          x  = [0, 0]
          x' = [0, 10]
    """
    gamma = float(checks.non_negative("check_bound", smoothing=smoothing))
    world = tuple(dict.fromkeys(domain))
    counts = sorted({checks.whole("check_bound", at_least=0, size=size) for size in sizes})
    relation = Neighbors.of(neighbors)
    if relation not in (Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE) or not world or not counts:
        raise ParameterError(
            "check_bound", "needs a domain, sizes, and replace-one or add-remove-one",
            got={"neighbors": relation.value}, hint="check_bound(f, bound, (0, 1, 5), sizes=(2, 3))",
        )  # fmt: skip
    values: dict[tuple[Any, ...], tuple[tuple[float, ...], float]] = {}

    def known(rows: tuple[Any, ...]) -> tuple[tuple[float, ...], float]:
        if rows not in values:
            found = f(list(rows))
            several = tuple(map(float, found)) if isinstance(found, Iterable) else (float(found),)
            values[rows] = (several, float(bound(list(rows))))
        return values[rows]

    pairs, worst = 0, BoundCheck(0)
    gap, ratio = ROUNDING, ROUNDING
    for first, second in _pairs(world, counts, relation):
        pairs += 1
        (here, claimed), (there, other) = known(first), known(second)
        moved = math.dist(here, there)
        if moved - claimed > gap * max(1.0, moved):
            gap = (moved - claimed) / max(1.0, moved)
            said = f"the bound is below the local sensitivity: bound(x) = {claimed:g}, |f(x) - f(x')| = {moved:g}"
            worst = BoundCheck(pairs, said, first, second)
        elif not worst.problem or "smooth" in worst.problem:
            excess = claimed - math.exp(gamma) * other
            if excess > ratio * max(1.0, abs(claimed)):
                ratio = excess / max(1.0, abs(claimed))
                said = (
                    f"the bound is not smooth: bound(x) = {claimed:g} is more than e^{gamma:g} times "
                    f"bound(x') = {other:g}"
                )
                worst = BoundCheck(pairs, said, first, second)
    return BoundCheck(pairs, worst.problem, worst.first, worst.second)


def _pairs(
    world: tuple[Any, ...], sizes: list[int], relation: Neighbors
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Neighbours, each pair in both orders; datasets are written in the order of the domain."""
    place = {row: index for index, row in enumerate(world)}

    def written(rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(sorted(rows, key=place.__getitem__))

    for size in sizes:
        for rows in itertools.combinations_with_replacement(world, size):
            if relation is Neighbors.ADD_REMOVE_ONE:
                for gone in range(size):
                    fewer = rows[:gone] + rows[gone + 1 :]
                    if size - 1 in sizes:
                        yield rows, fewer
                        yield fewer, rows
                continue
            for changed, row in itertools.product(range(size), world):
                if row != rows[changed]:
                    yield rows, written((*rows[:changed], row, *rows[changed + 1 :]))


def smooth_bound(profile: Profile, smoothing: float) -> float:
    """The smooth bound ``max_k exp(-smoothing k) LS_k`` of local sensitivities by distance; as private as the data.

    Rounded up to a float. `sordino.add_noise` takes the profile itself and works in exact numbers.

    Example:
        >>> from sordino.reading.profile import Profile
        >>> round(smooth_bound(Profile.dense([1, 4], 100), 2.0), 6)
        1.831564
    """
    gamma = float(checks.positive("smooth bound", smoothing=smoothing))
    return math.nextafter(profile.smooth(gamma) * (1 + 2**-48), math.inf)
