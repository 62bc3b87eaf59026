"""The kinds of promise: their exact amounts, how each adds up, what each converts to, and its words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, Unsupported, spell
from sordino.privacy import conversion
from sordino.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True, repr=False)
class Pure(Guarantee):
    """Pure differential privacy: no answer gets more than e^epsilon times likelier or less likely.

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
        return _never_failing(self)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return (
            f"no answer becomes more than e^{spell(self.epsilon)} times likelier or less likely "
            "through one person's data"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Approx(Guarantee):
    """Approximate differential privacy, (epsilon, delta)."""

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
class Concentrated(Guarantee):
    """Zero-concentrated differential privacy: Renyi divergences of every order a are at most rho * a."""

    kind = "concentrated"
    main = "rho"
    added = ("rho",)
    gaussian = True
    rho: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, rho: checks.Number) -> None: ...

    def for_group(self, size: int) -> Concentrated:
        """Multiply rho by the square of the size."""
        return Concentrated(self.rho * checks.whole("group", at_least=1, size=size) ** 2)

    def _per_row(self, rows: int) -> Concentrated:
        return Concentrated(self.rho / rows**2)

    @property
    def nats(self) -> float:
        """``sqrt(2 rho)``."""
        return float(2 * self.rho) ** 0.5

    @property
    def strength(self) -> float:
        """``sqrt(2 rho)``."""
        return float(2 * self.rho) ** 0.5

    def confusion(self, people: int) -> float:
        """``exp(-k^2 rho / 2) / 2``."""
        return math.exp(-float(self.for_group(people).rho) / 2) / 2

    @property
    def guessing(self) -> tuple[Fraction, Fraction] | None:
        """As the approximate promise with a delta of one in a million."""
        return self.to(Approx, delta=Fraction(1, 10**6)).guessing

    def _plus(self, other: Concentrated) -> Concentrated:
        return Concentrated(self.rho + other.rho)

    def _to_approx(self, delta: Any = None, epsilon: Any = None) -> Approx:
        return _to_approximate(self, self.rho, None, delta, epsilon)

    def _to_truncated_concentrated(self, omega: Any) -> TruncatedConcentrated:
        return TruncatedConcentrated(self.rho, omega)

    def _to_approximate_concentrated(self) -> Guarantee:
        return _never_failing(self)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return (
            f"Renyi divergences of every order a stay below {spell(self.rho)} * a "
            "when one person's data change"
        )


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedConcentrated(Guarantee):
    """Truncated concentrated differential privacy: the same, for orders up to omega only."""

    kind = "truncated-concentrated"
    main = "rho"
    added = ("rho",)
    gaussian = True
    rho: Fraction
    omega: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, rho: checks.Number, omega: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        Guarantee.__post_init__(self)
        checks.greater_than(self.kind, 1, omega=self.omega)

    def for_group(self, size: int) -> TruncatedConcentrated:
        """Give (k^2 rho, omega/k): the orders used by the triangle inequality stay below omega."""
        checks.whole("group", at_least=1, size=size)
        if self.omega <= size:
            raise Unsupported(
                repr(self),
                "promises nothing for a group as large as omega",
                got={"size": size},
                hint=f"at most {int(self.omega) - (self.omega == int(self.omega))} people, or a larger omega",
            )
        return TruncatedConcentrated(self.rho * size**2, self.omega / size)

    def _per_row(self, rows: int) -> TruncatedConcentrated:
        return TruncatedConcentrated(self.rho / rows**2, self.omega * rows)

    @property
    def nats(self) -> float:
        """``sqrt(2 rho)``."""
        return float(2 * self.rho) ** 0.5

    @property
    def strength(self) -> float:
        """``sqrt(2 rho)``."""
        return float(2 * self.rho) ** 0.5

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """Noise that keeps all orders keeps those up to omega."""
        return (Concentrated(self.rho),)

    @property
    def conversion_extra(self) -> dict[str, Fraction]:
        """The omega."""
        return {"omega": self.omega}

    def _plus(self, other: TruncatedConcentrated) -> TruncatedConcentrated:
        return TruncatedConcentrated(self.rho + other.rho, min(self.omega, other.omega))

    def _at_most(self, other: TruncatedConcentrated) -> bool:
        return self.rho <= other.rho and self.omega >= other.omega

    def _to_truncated_concentrated(self, omega: Any) -> TruncatedConcentrated:
        wanted = checks.greater_than(self.kind, 1, omega=omega)
        if wanted > self.omega:
            raise Unsupported(repr(self), "says nothing of larger orders", got={"omega": wanted})
        return TruncatedConcentrated(self.rho, wanted)

    def _to_approx(self, delta: Any = None, epsilon: Any = None) -> Approx:
        return _to_approximate(self, self.rho, self.omega, delta, epsilon)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return (
            f"Renyi divergences of every order a up to {spell(self.omega)} stay below {spell(self.rho)} * a "
            "when one person's data change"
        )


@dataclass(frozen=True, slots=True, repr=False)
class BoundedRange(Guarantee):
    """Bounded range: the privacy loss varies by at most epsilon over all answers (implies pure epsilon).

    The price of a single draw. Ranges of questions that follow one another do not add up: given an earlier answer the
    loss of the next may lie anywhere between minus and plus its epsilon, so e1 and then e2 range over e1 + 2 e2
    (docs/proofs/guarantees.md). Composed with anything a bounded range therefore counts as pure, or as concentrated.

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
        return _never_failing(self)

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


def _never_failing(promise: Guarantee) -> Guarantee:
    """A promise that implies a concentrated one, as a concentrated one with a delta of nothing."""
    from sordino.privacy.approximate_concentrated import ApproxConcentrated

    return ApproxConcentrated(promise.to(Concentrated).rho, 0)


def _to_approximate(
    promise: Guarantee, rho: Fraction, omega: Fraction | None, delta: Any, epsilon: Any
) -> Approx:
    """Convert concentrated promises, given either the delta or the epsilon wanted."""
    if (delta is None) == (epsilon is None):
        raise ParameterError(
            repr(promise),
            "needs either delta or epsilon to become Approx",
            got={"delta": delta, "epsilon": epsilon},
            hint=".to(Approx, delta=1e-6)",
        )
    if delta is not None:
        wanted = checks.non_negative("approx", delta=delta)
        if not 0 < wanted <= 1:
            raise Unsupported(
                repr(promise),
                "becomes Approx only for delta between 0 and 1, zero excluded",
                got={"delta": wanted},
                why="A concentrated promise bounds moments of the privacy loss, not the loss itself.",
                hint=".to(Approx, delta=1e-6)",
            )
        return Approx(conversion.concentrated_to_epsilon(rho, wanted, omega), wanted)
    at = checks.non_negative("approx", epsilon=epsilon)
    return Approx(at, conversion.concentrated_to_delta(rho, at, omega))
