"""AutoClip: mean and sum when the declared bounds may be loose.

Asks whether the bounds fit (fit_test.py); if not, finds a clipping interval by private searches (clip_search.py); then
releases the clipped mean with noise of that width. The interval is part of the answer: it has been paid for, and given
it the noise has a known law. Privacy is by composition of the parts: docs/proofs/mechanism_auto_clip.md.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism, matched
from sordino.mechanisms.clip.auto_clip_plan import (
    AutoClipPlan,
    Strength,
    plan_auto_clip,
    radius_floor,
    radius_rule,
    search_margin,
)
from sordino.mechanisms.clip.clipped_bar import ClippedBar
from sordino.mechanisms.clip.clipping import ClippingMean
from sordino.mechanisms.clip.interval import ClipInterval, count_part
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.tuned_means import ForLoose
from sordino.privacy import Guarantee, Neighbors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.mechanisms import Asking
    from sordino.mechanisms.clip.column import ClippableColumn, Clipped
    from sordino.mechanisms.clip.noisy_mean import Settled, Summand
    from sordino.mechanisms.parts.error_law import Errors


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoClip(ClippingMean):
    """Mean or sum of a column whose bounds are loose.

    Args:
        occupied: Public guess of the share of rows that differ from the usual value.

    Example:
        >>> from sordino.privacy import Pure
        >>> AutoClip(price=Pure(1), rows=1001, low=-50, high=1050).trusted
        True
        >>> AutoClip(price=Pure(1), rows=20, low=-50, high=1050).trusted
        False
    """

    occupied: float | None = None

    name: ClassVar[str] = "auto-clip"
    law_is: ClassVar[str] = "the law of each part in clip/search.py"
    proof: ClassVar[str] = "mechanism_auto_clip"
    searches: ClassVar[bool] = True
    answers_tried: ClassVar[int] = 24

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """A mean or a sum whose bounds the caller calls far too wide."""
        if hints.rows and hints.loose and not hints.fits(statistic.low, statistic.high):
            yield cls.of(statistic, price, hints, occupied=hints.occupied, total=statistic.total)

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The mode of a mean or sum for bounds that are far too wide."""
        if cls.averaged(statistic):
            yield from cls.offers(statistic, price, dataclasses.replace(hints, loose=True))

    @property
    def label(self) -> str:
        """What a plan calls it."""
        return self.name if self.tight else f"{self.name} (loose=True)"

    def __post_init__(self) -> None:
        checks.whole(self.name, rows=self.rows)
        self.plan  # noqa: B018 - a plan checks its parameters

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:
        """The answer is on the grid; the interval and its centre are codes of the column."""
        codes = statistic.grid.endless
        found = {"low": codes, "high": codes, "centre": codes, "rows_away": Lattice()}
        return {"value": Lattice(Fraction(0), grid.step), **found}

    @property
    def plan(self) -> AutoClipPlan:
        """How the price is split; public."""
        return plan_auto_clip(
            rows=self.rows,
            price=self.price,
            low=checks.exact(self.name, low=self.low),
            high=checks.exact(self.name, high=self.high),
            step=self.step,
            centre=self.centre,
            spread=self.spread,
            occupied=self.occupied,
        )

    @property
    def trusted(self) -> bool:
        """False when rows times the price are too few for these bounds: give a hint or tighter bounds."""
        return self.tight or self.plan.trusted

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
        """Given the interval that its searches release, the law of the last noise."""
        from sordino.mechanisms.clip.clipped_error import clipped_error
        from sordino.mechanisms.clip.column import AskedColumn

        assert bits is not None
        column = AskedColumn(statistic.column, statistic.grid, ask)
        found = clipped_error(
            matched(self, statistic), column, grid, Fraction(truth), contribution=contribution, bits=bits
        )
        return [found]

    def converse(
        self, column: ClippableColumn, grid: Lattice, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Search, clip, add noise."""
        found = self.find_interval(column, contribution=contribution, bits=bits)
        sums = column.clipped(found.low, found.high)
        part, settled = self.noisy(sums, found, grid, contribution, bits)
        real = column.grid.endless.real
        public = {**found.public, "low": real(found.low), "high": real(found.high)}
        bar = ClippedBar.of(
            part, settled, ClippedBar.public_reach(part, grid), ClippedBar.noise_of_count(part),
            bounds=(real(0), real(column.grid.last)), public=public,
            rows=sums.rows if self.neighbors is Neighbors.REPLACE_ONE else None, step=grid.step,
            averages="sum" if self.total else "mean",
        )  # fmt: skip
        return Answer(settled.value, public, noise=bar)

    def find_interval(
        self, column: ClippableColumn, *, contribution: int = 1, bits: Bits | None = None
    ) -> ClipInterval:
        """Release a clipping interval; what is left of the price is for the noise."""
        from sordino.mechanisms.clip.search import noisy_count, outside_and_ends, radius_search, search_centre

        plan, units, top = self.plan, column.grid.endless, column.grid.last
        if self.tight or not plan.radius_share:
            return self._whole(top, self.price, {})
        anchor = column.grid.code(float(plan.anchor))
        spacing, fine = (max(math.ceil(size / units.step), 1) for size in (plan.smallest, plan.fine))
        centre, far = anchor, max(top - anchor, anchor)
        outer = radius_search(
            smallest=spacing, largest=far, exponent=Fraction(ForLoose.OUTER_EXPONENT),
            price=self.price.share(plan.outer_share or plan.radius_share), contribution=contribution,
        )  # fmt: skip
        public: dict[str, Any] = {}
        if plan.fit_share or plan.outer_share:
            outside, at_ends = outside_and_ends(column, anchor, outer.radii)
            if plan.fit_share:
                public["fits"] = self._fits(plan, at_ends, contribution, bits)
                if public["fits"]:
                    return self._whole(top, self.price.share(1 - plan.fit_share), public)
        if plan.outer_share > 0:
            wide = outer.draw(outside, bits=bits)
            centre = search_centre(
                column, low=max(anchor - wide, 0), high=min(anchor + wide, top), spacing=fine,
                price=self.price.share(plan.centre_share), rows=self.rows, contribution=contribution, bits=bits,
            )  # fmt: skip
            if abs(centre - anchor) <= 4 * spacing:  # a heap at the anchor is not to be missed by a hair
                centre = anchor
            public["centre"] = units.real(centre)
            far = max(top - centre, centre)
        part, exponent, floor = plan.radius_share, plan.exponent, plan.floor
        # With a count to come the floor is not known yet, and the table begins at the smallest radius of all.
        first = spacing if plan.count_share else max(math.ceil(floor / units.step), 1)
        search = partial(radius_search, smallest=first, largest=far, contribution=contribution)
        radii = search(exponent=exponent, price=self.price.share(part)).radii
        # One look for both: how many rows are away at all, and how many beyond each radius.
        (away, *outside), _ = outside_and_ends(column, centre, (Fraction(fine), *radii))
        if plan.count_share > 0:
            price = self.price.share(plan.count_share)
            count, noise = noisy_count(away, price=price, contribution=contribution, bits=bits)
            public["rows_away"] = count
            safety = ForLoose.GAUSSIAN_SAFETY if self.price.gaussian else ForLoose.SAFETY
            part, exponent, floor = self._adapt(plan, float(count - safety * noise))
        inner = search(exponent=exponent, price=self.price.share(part))
        if plan.count_share > 0:
            inner = inner.from_radius(floor / units.step)
        radius = inner.draw(outside[-len(inner.radii) :], bits=bits)
        rest = self.price.share(1 - plan.search_share - part)
        low, high = max(centre - radius, 0), min(centre + radius, top)
        if plan.outer_share > 0:  # the mean lies near the released centre, whatever the radius
            return ClipInterval(
                low, high, rest, public, centre, count_part(self.rows, rest, ForLoose.NEAR_PART)
            )
        if (low, high) == (0, top) or 2 * centre == low + high:
            return ClipInterval(low, high, rest, public, None, count_part(self.rows, rest))
        # The mean may lie near the anchor or in the middle: half-way, a private number of rows costs either alike.
        halfway = (2 * centre + low + high) // 4
        return ClipInterval(
            low, high, rest, public, halfway, count_part(self.rows, rest, ForLoose.HALFWAY_PART)
        )

    def _whole(self, top: int, rest: Guarantee, public: dict[str, Any]) -> ClipInterval:
        """The declared bounds."""
        return ClipInterval(0, top, rest, public, None, count_part(self.rows, rest))

    def _fits(self, plan: AutoClipPlan, at_ends: int, contribution: int, bits: Bits | None) -> bool:
        """Release whether enough rows lie at both ends of the range."""
        from sordino.mechanisms.clip.fit_test import FitTest

        slope = self.price.bounded_range / contribution
        test = FitTest(Fraction(plan.fit_rows), slope * plan.fit_share, slope * plan.loose_share)
        prices = {True: self.price.share(plan.fit_share), False: self.price.share(plan.loose_share)}
        return Draws.of(bits).passes(test, at_ends, prices=prices)

    def _adapt(self, plan: AutoClipPlan, votes: float) -> tuple[Fraction, Fraction, Fraction]:
        """Share, exponent and floor of the radius once the number of rows away from the centre has been released."""
        strength = Strength.of(self.price)
        octaves = math.log(max(float(plan.reach / plan.smallest), 1.0))
        voting = min(max(votes, 1.0), float(self.rows))
        part, exponent = radius_rule(strength, votes=voting, octaves=octaves, rows=self.rows)
        floor = radius_floor(
            plan.smallest, plan.reach, bid=self.rows * strength.slope(part),
            margin=search_margin(self.rows, strength), exponent=exponent,
        )  # fmt: skip
        return Fraction(math.ceil(part * 1024), 1024), Fraction(exponent), min(floor, plan.reach)

    def noisy(
        self, sums: Clipped, found: ClipInterval, grid: Lattice, contribution: int, bits: Bits | None
    ) -> tuple[Summand, Settled]:
        """The clipped mean or sum with noise of the width of the interval, cut to what is possible."""
        from sordino.mechanisms.clip.noisy_mean import Summand

        summand = Summand.of(
            sums, found, total=self.total, neighbors=self.neighbors, contribution=contribution
        )
        return summand, summand.draw(grid, bits)
