"""`Discovery`: the keys that may be shown, and with them the number of people of each.

One or two keys per person: truncated geometric noise with a mixed cut, whose value is the noisy count. More: weighted
Gaussian thresholds in two passes, where keys found in the first leave the lists of the people who have them, so that
rarer ones gain weight. Proof: docs/proofs/mechanism_discovery.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError, Unsupported, spell
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.discovery.joint_delta import one_pass
from sordino.mechanisms.discovery.mixed_cut import MixedCut
from sordino.mechanisms.discovery.threshold import (
    WeightThreshold,
    for_approx,
    for_concentrated,
    for_counts,
    shares,
    weights,
)
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.tuned_tables import ForDiscovery
from sordino.privacy import Approx, ApproxConcentrated, Neighbors
from sordino.privacy.conversion import ball, evaluate, lower
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sordino.hints import Hints
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.privacy import Guarantee
    from sordino.reading.combinations import Keys as KeyTuple
    from sordino.statistics import Statistic

LARGEST_DELTA = Fraction(1, 1000)
"""A delta is the chance that a key which one person alone has is shown; above this it is no protection."""


@dataclass(frozen=True, slots=True)
class KeyDraw:
    """One draw over all keys: its law and its part of the price."""

    law: MixedCut | WeightThreshold
    price: Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery(Conversing):
    """Show the keys that enough people have.

    Args:
        price: Approx or ApproxConcentrated: showing a key that one person alone may have needs a delta.
        passes: One or two; two find more where many people share popular keys.
        level: Probability of a bar for every count; None for none.
        counted: Whether people are counted even where they have more than two keys each.

    Example:
        >>> Discovery(price=Approx(1, 1e-6)).steps(1, replaced=False)[0].law.even
        14
    """

    price: Approx | ApproxConcentrated
    passes: int = 2
    level: float | None = None
    counted: bool = False

    name: ClassVar[str] = "discovery"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.KEYS,)
    law_is: ClassVar[str] = "steps(...)[0].law.logs(people, top)"
    fixed_noise: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_discovery"

    def __post_init__(self) -> None:
        checks.between(
            self.name, 1, 2, closed=True, passes=checks.whole(self.name, at_least=1, passes=self.passes)
        )
        delta = getattr(self.price, "delta", Fraction(0))
        if not isinstance(self.price, Approx | ApproxConcentrated) or not delta:
            raise Unsupported(
                self.name, "needs a price with a delta", got={"price": self.price},
                why="Under a pure or concentrated price a key that one person alone has could never be shown, nor "
                "could any other: each may be that person's. Nothing was spent.",
                hint=f"sd.Approx({spell(getattr(self.price, 'epsilon', Fraction(1)))}, 1e-6), or keys that are known "
                "beforehand, or sd.SparseTable over a public domain",
            )  # fmt: skip
        if delta > LARGEST_DELTA:
            raise ParameterError(
                self.name, "delta must be at most 1/1000", got={"delta": delta},
                why="With this probability a key that one person alone has is shown. Nothing was spent.",
                hint="a delta far below one in the number of people, e.g. 1e-6",
            )  # fmt: skip

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The only way to find keys."""
        asked: Any = price  # whatever it is: the constructor says why it will not do
        yield cls(price=asked, passes=statistic.passes or 2, level=hints.level, counted=statistic.counted)

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """One key per person in both relations, at both kinds of price."""
        from sordino.mechanisms.parts.cases import MechanismCase
        from sordino.statistics.keys import Keys

        for world in Keys.cases():
            for price in (
                Approx(1, Fraction(1, 1000)),
                ApproxConcentrated(Fraction(1, 2), Fraction(1, 1000)),
            ):
                yield MechanismCase(cls(price=price), world, default=True)

    @property
    def no_bar(self) -> str:
        """Weights are no counts."""
        return "People may have more than two keys each, and what is drawn then is a weight, not a count."

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Whole people."""
        return dict.fromkeys(("value", "low", "high") if self.barred else ("value",), Lattice())

    def rests_on(self, statistic: Any) -> list[str]:
        """What delta means here, and what shown numbers are."""
        delta = spell(self.price.delta)
        said = [
            (
                "Keys were taken from the data, by a rule that shows those which enough people have. A key that one "
                f"person alone has is shown with probability {delta} at most. Of keys that are not shown nothing is "
                "said, not even how many there are; how long the release took may depend on it."
            ),
        ]
        if statistic.max_keys <= ForDiscovery.GEOMETRIC or self.counted:
            said.append(
                "Numbers of rare keys are too high on average: such a key is shown only where noise was high."
            )
        else:
            said.append(f"Of each person at most {statistic.max_keys} keys count, chosen by a hash of both.")
        return said

    def steps(self, most: int, *, replaced: bool) -> tuple[KeyDraw, ...]:
        """The draws for people with at most so many keys each, who may come and go or be replaced; public."""
        price = self.price
        if isinstance(price, ApproxConcentrated) and self.counted:
            return (KeyDraw(for_counts(price.rho, price.delta, most, replaced=replaced), price),)
        if isinstance(price, ApproxConcentrated):
            passes = self.passes if most > 1 else 1
            parts = [(price.rho * share, price.delta * share) for share in shares(passes)]
            return tuple(
                KeyDraw(for_concentrated(rho, delta, most, replaced=replaced), ApproxConcentrated(rho, delta))
                for rho, delta in parts
            )
        assert isinstance(price, Approx)
        if most <= ForDiscovery.GEOMETRIC or self.counted:
            moved = most * (2 if replaced else 1)
            each = price.delta
            if moved > 1:  # independent keys: 1 - (1 - delta)^(1/moved), rounded down
                each = lower(evaluate(lambda: -((1 - ball(price.delta)).log() / moved).expm1()), 40)
            return (KeyDraw(MixedCut.of(price.epsilon / moved, each), price),)
        single = one_pass(price.epsilon, price.delta, most, replaced=replaced) if self.passes == 1 else None
        found = for_approx(price.epsilon, price.delta, most, self.passes, replaced=replaced)
        if single is not None:
            found = (single,)
        return tuple(KeyDraw(law, ApproxConcentrated(paid.rho, delta)) for law, paid, delta in found)

    def even(self, statistic: Any, contribution: int) -> int:
        """From how many people, with no other key, a key is shown at least half the time; public."""
        return self.steps(contribution, replaced=_replaced(statistic))[-1].law.even

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Ask for the weights of all keys, draw, and ask again without those that were found."""
        del grid
        draws = Draws.of(bits)
        steps = self.steps(contribution, replaced=_replaced(statistic))
        found: dict[KeyTuple, int] = {}
        counted = True
        for step in steps:
            counted = not isinstance(step.law, WeightThreshold) or step.law.counts
            request = replace(
                statistic.request(),
                most=contribution,
                weights=(1,) * contribution if counted else weights(contribution),
                without=tuple(sorted(found, key=_order)),
            )
            summary = ask(request)
            assert summary.codes is not None
            amounts = dict(zip(summary.keys, summary.codes.tolist(), strict=True))
            found |= draws.keys(amounts, step.law, price=step.price)
        keys = tuple(sorted(found, key=_order))
        named = tuple(key[0] if len(key) == 1 else key for key in keys)
        if not counted:
            return Answer((), {"key": named, "keys": named})
        public: dict[str, Any] = {"keys": named}
        if self.level is not None:
            limits = [steps[0].law.limits(found[key], 1 - self.level) for key in keys]
            ends = {"low": tuple(low for low, _ in limits), "high": tuple(high for _, high in limits)}
            public |= {**ends, "level": self.level, "free": True}
        return Answer(tuple(Fraction(found[key]) for key in keys), public)


def _replaced(statistic: Any) -> bool:
    return statistic.neighbors is Neighbors.REPLACE_ONE


def _order(key: KeyTuple) -> tuple[Any, ...]:
    """Whole numbers before texts: never in the order in which keys appear."""
    return tuple((isinstance(one, str), one) for one in key)
