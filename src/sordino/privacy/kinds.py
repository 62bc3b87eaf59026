"""The kinds of promise: their exact amounts, how each adds up, what each converts to, and its words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, Unsupported, spell
from sordino.privacy import conversion
from sordino.privacy.concentrated import Concentrated, TruncatedConcentrated, never_failing
from sordino.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, repr=False)
class Pure(Guarantee):
    """Pure differential privacy: no answer gets more than e^epsilon times likelier or less likely.

    Args:
        epsilon: The most that one person's data may change the logarithm of any answer's probability.

    Example:
        >>> Pure(0.1).times(10) == Pure(1)
        True
    """

    kind = "pure"
    pointwise = True
    epsilon: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, epsilon: checks.Number) -> None: ...

    def for_group(self, size: int) -> Pure:
        """Multiply epsilon by the size of the group."""
        return Pure(self.epsilon * checks.whole("group", at_least=1, size=size))

    def _per_row(self, rows: int) -> Pure:
        return Pure(self.epsilon / rows)

    @property
    def bounded_range(self) -> Fraction:
        """A pure loss within epsilon is all that a draw of this range can have."""
        return self.epsilon

    def confusion(self, people: int) -> float:
        """``1 / (2 cosh(k epsilon / 2))``."""
        return 1 / (2 * math.cosh(min(float(self.epsilon * people), 1400) / 2))

    @property
    def guessing(self) -> tuple[Fraction, Fraction]:
        """Odds change by at most e^epsilon."""
        return self.epsilon, Fraction(0)

    def _plus(self, other: Pure) -> Pure:
        return Pure(self.epsilon + other.epsilon)

    def _to_approx(self, delta: Any = 0) -> Approx:
        wanted = checks.between("approx", 0, 1, closed=True, delta=delta)
        if wanted == 0:
            return Approx(self.epsilon, wanted)
        return Approx(conversion.pure_to_approximate_epsilon(self.epsilon, wanted), wanted)

    def _to_concentrated(self) -> Concentrated:
        return Concentrated(conversion.pure_to_concentrated(self.epsilon))

    def _to_truncated_concentrated(self, omega: Any) -> TruncatedConcentrated:
        return TruncatedConcentrated(conversion.pure_to_concentrated(self.epsilon), omega)

    def _to_bounded_range(self) -> BoundedRange:
        return BoundedRange(2 * self.epsilon)

    def _to_approximate_concentrated(self) -> Guarantee:
        return never_failing(self)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return (
            f"no answer becomes more than e^{spell(self.epsilon)} times likelier or less likely "
            "through one person's data"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Approx(Guarantee):
    """Approximate differential privacy, (epsilon, delta).

    Args:
        epsilon: As for `Pure`, but for events of total probability delta.
        delta: By how much the probability of an event may exceed e^epsilon times the other one; below 1.

    Example:
        >>> Approx(1, 1e-6).times(2)
        Approx(epsilon=2, delta=2e-06)
    """

    kind = "approx"
    added = ("epsilon", "delta")
    epsilon: Fraction
    delta: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, epsilon: checks.Number, delta: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        Guarantee.__post_init__(self)
        checks.between("approx", 0, 1, closed=True, delta=self.delta)

    def for_group(self, size: int) -> Approx:
        """Give (k epsilon, delta (e^{k epsilon} - 1)/(e^epsilon - 1))."""
        if checks.whole("group", at_least=1, size=size) == 1:
            return self
        return Approx(
            self.epsilon * size, min(Fraction(1), conversion.group_delta(self.epsilon, self.delta, size))
        )

    def _per_row(self, rows: int) -> Approx:
        epsilon = self.epsilon / rows
        return Approx(epsilon, self.delta / conversion.group_delta(epsilon, Fraction(1), rows))

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """Pure noise, or noise that uses the delta."""
        return (Pure(self.epsilon), self)

    def confusion(self, people: int) -> float:
        """The pure bound, of which the delta of a group leaves ``sqrt(1 - delta_k)``."""
        group = self.for_group(people)
        return math.sqrt(1 - float(group.delta)) / (2 * math.cosh(min(float(group.epsilon), 1400) / 2))

    @property
    def guessing(self) -> tuple[Fraction, Fraction]:
        """Odds change by at most e^epsilon, but with probability delta."""
        return self.epsilon, self.delta

    @property
    def conversion_extra(self) -> dict[str, Fraction]:
        """The delta."""
        return {"delta": self.delta}

    def _plus(self, other: Approx) -> Approx:
        return Approx(self.epsilon + other.epsilon, min(Fraction(1), self.delta + other.delta))

    def _to_approx(self, delta: Any) -> Approx:
        wanted = checks.between("approx", 0, 1, closed=True, delta=delta)
        if wanted < self.delta:
            raise Unsupported(
                repr(self),
                "cannot be converted to a smaller delta",
                got={"delta": wanted},
                hint=f"delta={spell(self.delta)}",
            )
        return Approx(self.epsilon, wanted)

    def _to_pure(self) -> Pure:
        if self.delta > 0:
            raise Unsupported(
                repr(self),
                "with delta > 0 cannot be converted to Pure",
                why="A delta allows events of unbounded privacy loss.",
                hint="ask for Pure(epsilon) from the start",
            )
        return Pure(self.epsilon)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return (
            f"no answer becomes more than e^{spell(self.epsilon)} times likelier or less likely through one "
            f"person's data, but for events of total probability {spell(self.delta)}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class BoundedRange(Guarantee):
    """Bounded range: the privacy loss varies by at most epsilon over all answers (implies pure epsilon).

    The price of a single draw. Ranges of questions that follow one another do not add up: given an earlier answer the
    loss of the next may lie anywhere between minus and plus its epsilon, so e1 and then e2 range over e1 + 2 e2
    (docs/proofs/guarantees.md). Composed with anything a bounded range therefore counts as pure, or as concentrated.

    Args:
        epsilon: By how much the loss of one draw may vary over all answers.

    Example:
        >>> BoundedRange(1) + BoundedRange(1)
        Pure(epsilon=2)
    """

    kind = "bounded-range"
    added = ()
    epsilon: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, epsilon: checks.Number) -> None: ...

    def for_group(self, size: int) -> BoundedRange:
        """Multiply epsilon by the size: losses along a chain of neighbours add, and so do their ranges."""
        return BoundedRange(self.epsilon * checks.whole("group", at_least=1, size=size))

    def share(self, part: checks.Number) -> BoundedRange:
        """The whole: a bounded range has no parts that questions which follow one another could spend."""
        if checks.between("share", 0, 1, closed=True, part=part) == 1:
            return self
        raise Unsupported(
            "price",
            "a bounded range pays for a single draw",
            got={"price": self},
            why="Ranges of questions that follow one another do not add up; pure prices do.",
            hint=f"sd.Pure({spell(self.epsilon)})",
        )

    def _per_row(self, rows: int) -> BoundedRange:
        raise Unsupported(
            "price",
            "a bounded range pays for a single draw, and groups of several rows per person are several",
            got={"price": self, "rows": rows},
            why="Ranges of several draws are not added up; pure prices are.",
            hint=f"sd.Pure({spell(self.epsilon)})",
        )

    @property
    def bounded_range(self) -> Fraction:
        """Itself."""
        return self.epsilon

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """Symmetric noise of pure loss e has bounded range 2 e."""
        return (Pure(self.epsilon / 2),)

    def confusion(self, people: int) -> float:
        """That of the pure promise it implies."""
        return Pure(self.epsilon).confusion(people)

    @property
    def guessing(self) -> tuple[Fraction, Fraction]:
        """That of the pure promise it implies."""
        return self.epsilon, Fraction(0)

    def times(self, count: int) -> Guarantee:
        """Compose ``count`` draws: one keeps its range, more of them are pure."""
        return self if checks.whole("times", at_least=1, count=count) == 1 else self._to_pure().times(count)

    def _plus(self, other: BoundedRange) -> BoundedRange:  # noqa: ARG002
        raise Unsupported("bounded range", "does not add up", hint="compose([a, b]) adds them as Pure")

    def _to_pure(self) -> Pure:
        return Pure(self.epsilon)

    def _to_concentrated(self) -> Concentrated:
        return Concentrated(conversion.bounded_range_to_concentrated(self.epsilon))

    def _to_approximate_concentrated(self) -> Guarantee:
        return never_failing(self)

    def _to_truncated_concentrated(self, omega: Any) -> TruncatedConcentrated:
        return TruncatedConcentrated(self._to_concentrated().rho, omega)

    def _to_approx(self, delta: Any = 0) -> Approx:
        wanted = checks.between("approx", 0, 1, closed=True, delta=delta)
        return Approx(conversion.bounded_range_to_approximate_epsilon(self.epsilon, wanted), wanted)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return f"the privacy loss varies by at most {spell(self.epsilon)} over all answers"


@dataclass(frozen=True, slots=True, repr=False)
class Geo(Guarantee):
    """Geo-privacy: points ``per`` apart are indistinguishable within e^epsilon, and so on in proportion.

    Args:
        epsilon: The loss for two points ``per`` apart; any number, kept exactly.
        per: The distance, in the unit of the points (metres on the ground).

    Example:
        >>> Geo(1, per=200).at(50)
        Pure(epsilon=0.25)
    """

    kind = "geo"
    epsilon: Fraction
    per: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, epsilon: checks.Number, per: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        Guarantee.__post_init__(self)
        checks.positive(self.kind, per=self.per)

    @property
    def rate(self) -> Fraction:
        """Give epsilon per unit of distance."""
        return self.epsilon / self.per

    def at(self, distance: Any) -> Pure:
        """Promise for two points at a distance."""
        return Pure(self.rate * checks.non_negative(self.kind, distance=distance))

    def for_group(self, size: int) -> Geo:
        """Give the same promise for ``size`` points that move together."""
        return Geo(self.epsilon * checks.whole("group", at_least=1, size=size), self.per)

    def _per_row(self, rows: int) -> Geo:
        return Geo(self.epsilon / rows, self.per)

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """Noise for persons has no distance."""
        return ()

    def _plus(self, other: Geo) -> Geo:
        return Geo(self.epsilon + other.rate * self.per, self.per)

    def _at_most(self, other: Geo) -> bool:
        return self.rate <= other.rate

    def _to_pure(self, distance: Any) -> Pure:
        return self.at(distance)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return (
            f"no report becomes more than e^{spell(self.epsilon)} times likelier or less likely when the "
            f"point moves by {spell(self.per)} (and in proportion for other distances)"
        )


KINDS: tuple[type[Guarantee], ...] = (Pure, Approx, Concentrated, TruncatedConcentrated, BoundedRange, Geo)


def compose(guarantees: Iterable[Guarantee], *, delta: Any = None) -> Guarantee:
    """Add up promises about the same data; mixed kinds are first converted to the loosest that is needed.

    Args:
        guarantees: At least one promise.
        delta: The share of delta for concentrated promises that stand beside approximate ones.

    Example:
        >>> from sordino.privacy import Pure, Concentrated, BoundedRange
        >>> compose([Pure(1), Concentrated(0.5)])
        Concentrated(rho=0.962117)
        >>> compose([BoundedRange(1), Pure(1)])
        Pure(epsilon=2)
        >>> compose([BoundedRange(1), BoundedRange(1)])
        Pure(epsilon=2)
    """
    parts = list(guarantees)
    if not parts:
        raise ParameterError("compose", "needs at least one guarantee")
    if len(parts) == 1:
        return parts[0]
    kinds = {type(part) for part in parts}
    if len(kinds) == 1 and BoundedRange not in kinds:
        return reduce(lambda a, b: a._plus(b), parts)
    from sordino.privacy.composition import mixed

    return mixed(parts, kinds, delta=delta)
