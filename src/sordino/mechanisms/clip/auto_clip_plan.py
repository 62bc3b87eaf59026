"""The data-free plan of AutoClip: how a mean with loose bounds splits its price, and how far it searches.

Public numbers only: rows, price, bounds, step and hints. The rules are those of the accuracy study in
docs/explanation/which_mechanism.md; the mechanism that follows the plan is auto_clip.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino import checks
from sordino.mechanisms.tuned_means import ForLoose

if TYPE_CHECKING:
    from sordino.privacy import Guarantee


MOST_RADIUS = Fraction(1, 2)
"""Of the price, for the radius, at most: what `radius_rule` gives where rows are few."""


@dataclass(frozen=True, slots=True)
class AutoClipPlan:
    """Shares of the price and public search ranges; every field is public.

    Attributes:
        fit_share: What it costs to learn that the bounds fit; the rest is then for the noise.
        loose_share: What it costs to learn that they do not; 0 with `fit_share` when it is not asked.
        fit_rows: Rows that have to lie at both ends of the range, give or take the noise of the question.
        outer_share: For the radius around the anchor within which the centre is looked for; 0 skips both.
        centre_share: For the centre.
        count_share: For the number of rows away from the centre, by which the next two are set; 0 skips it.
        radius_share: For the radius around the centre; 0 skips every search, and the bounds are taken as they are.
        exponent: Prior of the radius, ``radius^-exponent``.
        anchor: Where the search starts: zero, the bound nearer to it, or the caller's centre.
        reach: Largest distance from the anchor inside the bounds.
        smallest: Smallest radius around the anchor.
        fine: Resolution of the centre, and how far from it a row counts as away.
        floor: Smallest radius around the centre.
        trusted: False when rows times the price are too few for these bounds.
    """

    outer_share: Fraction
    centre_share: Fraction
    count_share: Fraction
    radius_share: Fraction
    exponent: Fraction
    anchor: Fraction
    reach: Fraction
    smallest: Fraction
    floor: Fraction
    trusted: bool
    fine: Fraction
    fit_share: Fraction = Fraction(0)
    loose_share: Fraction = Fraction(0)
    fit_rows: int = 0

    def __post_init__(self) -> None:
        # The table of steps: the shares along each path add to one, whatever part the count of rows away leads to.
        shares = self.search_share, self.radius_share, self.fit_share, self.loose_share
        radius = max(self.radius_share, MOST_RADIUS if self.count_share else 0)
        if min(shares) < 0 or self.search_share + radius >= 1 or self.fit_share >= 1:
            raise AssertionError(f"the shares of a path add up to more than the price: {self!r}")
        # Two outcomes of the test of fit have a price each, and neither is free.
        if (self.fit_share > 0) is not (self.loose_share > 0) or not 0 < self.smallest <= self.reach:
            raise AssertionError(f"a test of fit has a price for either outcome, a search a range: {self!r}")

    @property
    def search_share(self) -> Fraction:
        """What is spent before the radius is looked for, when the bounds do not fit."""
        return self.loose_share + self.outer_share + self.centre_share + self.count_share

    @property
    def noise_share(self) -> Fraction:
        """What is left for the noise when the bounds do not fit."""
        return 1 - self.search_share - self.radius_share


def _short(value: float, bits: int = 10) -> Fraction:
    """A share as a short binary fraction, rounded up: exact weights stay short."""
    return Fraction(math.ceil(value * 2**bits), 2**bits)


@dataclass(frozen=True, slots=True)
class Strength:
    """The price as the rules see it: nats per row, and what share of it buys a one-directional slope."""

    nats: float
    concentrated: bool

    @classmethod
    def of(cls, price: Guarantee) -> Strength:
        """Read a price."""
        return cls(price.nats, price.gaussian)

    def share(self, slope: float) -> float:
        """Share of the price that buys a bounded range of this size."""
        return slope * slope / (4 * self.nats * self.nats) if self.concentrated else slope / self.nats

    def slope(self, share: float) -> float:
        """The bounded range that a share buys."""
        return 2 * self.nats * math.sqrt(share) if self.concentrated else self.nats * share

    def base(self, bid: float) -> float:
        """The least share for the radius: the optimum is flat around it."""
        return 0.10 if self.concentrated else 0.18 if bid < 3000 else 0.15


def radius_rule(strength: Strength, *, votes: float, octaves: float, rows: int) -> tuple[float, float]:
    """Share and prior exponent for the radius when ``votes`` rows lie away from the centre.

    The prior must not outbid the rows: ``votes * slope >= exponent * octaves + margin``. A pure price pays for that
    with a share that falls like the root of the bid; what the share can pay for sets the exponent, never above 9/2
    (steeper priors cut off clusters of far rows) and, where the rows allow it, not below 2 (overshoots then have a
    variance). A column that is mostly one value is searched with more care, for its few rows tend to lie far out.
    """
    bid = max(votes, 1.0) * strength.nats
    margin = search_margin(max(votes, 1.0), strength)
    if strength.concentrated:
        for exponent, cap in ((4.0, 0.20), (3.0, 0.45), (2.5, 0.50)):
            needed = max(strength.base(bid), strength.share((exponent * octaves + margin) / max(votes, 1.0)))
            if needed <= cap:
                return needed, exponent
        return 0.5, 2.5
    share = max(strength.base(bid), min((3.5 * octaves + margin) / bid, 3.6 / math.sqrt(bid), 0.4))
    exponent = min(max((share * bid - margin) / 12, 2.0), ForLoose.STEEPEST)
    if votes < ForLoose.SPARSE * rows:
        return max(share, 0.35), min(exponent, 2.5)
    return share, exponent


def affordable(strength: Strength, *, rows: int, octaves: float, share: float) -> bool:
    """Whether all rows together can outbid the square of the width, which is what an overshoot costs."""
    return rows * strength.slope(share) - search_margin(rows, strength) >= 1.7 * octaves


def fit_rule(strength: Strength, *, rows: int, octaves: float) -> tuple[float, float, float]:
    """Shares of the two outcomes "fits" and "loose", and how many rows at both ends divide them; zeros for no test.

    Bounds that are taken wrongly cost the square of the width, hence ``2 octaves`` nats and a few more at the slope
    of "fits". Bounds that fit and are searched all the same cost little, so "loose" needs a slope of a few nats over
    the rows that a spread-out column has beyond the threshold.
    """
    bid = rows * strength.nats
    fit = 0.15 if bid < 2000 else max(300 / bid, 0.04)
    threshold = (2 * octaves + ForLoose.LOOSENESS) / fit
    room = bid / 3 - threshold
    if room < 20:
        return 0.0, 0.0, 0.0
    return fit, min(max(1.3 / room, 0.004), 0.02), threshold / strength.nats


def plan_auto_clip(
    *,
    rows: int,
    price: Guarantee,
    low: checks.Number,
    high: checks.Number,
    step: checks.Number | None = None,
    centre: checks.Number | None = None,
    spread: checks.Number | None = None,
    occupied: checks.Number | None = None,
) -> AutoClipPlan:
    """Split a price between the searches and the noise.

    Args:
        rows: Public number of rows, or a declared rough one.
        price: What the whole answer may cost.
        low: Public lower bound.
        high: Public upper bound.
        step: Declared lattice of the data.
        centre: A public guess of the centre; with many rows it is where the search starts.
        spread: A public guess of the spread, for few rows.
        occupied: A public guess of the share of rows that differ from the usual value (1 for ordinary columns, 0.1 for
            a column that is nine tenths zeros).

    Example:
        >>> from sordino.privacy import Pure
        >>> plan = plan_auto_clip(rows=1001, price=Pure(1), low=-50, high=1050)
        >>> [round(float(part), 3) for part in (plan.outer_share, plan.centre_share, plan.radius_share)]
        [0.04, 0.049, 0.181]
        >>> round(float(plan.fit_share), 3), round(float(plan.loose_share), 3), plan.fit_rows
        (0.15, 0.011, 205)
        >>> plan_auto_clip(rows=201, price=Pure(0.1), low=-50, high=1050).trusted
        False
    """
    bottom, top = Fraction(low), Fraction(high)
    anchor = min(max(Fraction(0) if centre is None else Fraction(centre), bottom), top)
    reach = max(top - anchor, anchor - bottom)
    smallest = reach * Fraction(ForLoose.RESOLUTION)
    if step is not None:
        smallest = max(smallest, Fraction(step))
    smallest = min(smallest, reach)
    strength = Strength.of(price)
    share, count = strength.share, max(rows, 1)
    bid = count * strength.nats
    margin = search_margin(count, strength)
    lam = math.log(max(float(reach / smallest), 1.0))
    outer = max(share((ForLoose.OUTER_EXPONENT * lam + 12) / count), 0.005)
    middle = max(share(48 / count), min(share(72 / count), 0.03), 0.005)
    radius_share, exponent = radius_rule(strength, votes=count, octaves=lam, rows=count)
    # Hints are for few rows: where a search is cheap it beats a guess that is off by a factor of three.
    plenty = (
        exponent == (4.0 if strength.concentrated else ForLoose.STEEPEST)
        and radius_share <= 0.22
        and max(outer, middle) <= ForLoose.CHEAP
    )
    wide, hinted = reach, False
    if spread is not None:
        width = checks.positive("mean", spread=spread)
        if not plenty or occupied is not None:
            hinted = centre is not None
            smallest = min(max(smallest, width / 4), reach)
            wide = min(reach, 8 * width) if hinted else reach
            lam = math.log(max(float(wide / smallest), 1.0))
    trusted = affordable(strength, rows=count, octaves=lam, share=radius_share)
    if occupied is not None:
        votes = count * float(checks.between("mean", 0, 1, closed=True, occupied=occupied))
        radius_share, exponent = radius_rule(strength, votes=votes, octaves=lam, rows=count)
        trusted = votes * strength.slope(radius_share) >= exponent * lam
    elif hinted:
        exponent = 4.0
        radius_share = min(max(share((4 * lam + margin) / count), strength.base(bid)), 0.30)
        trusted = share((4 * lam + margin) / count) <= 0.6
    elif spread is not None:
        radius_share, exponent = radius_rule(strength, votes=count, octaves=lam, rows=count)
        trusted = affordable(strength, rows=count, octaves=lam, share=radius_share)
    searched = trusted or hinted or occupied is not None
    if (
        not searched or lam < ForLoose.NARROW
    ):  # no scale can be found, or there is none to find: the bounds as they are
        none, whole = Fraction(0), trusted or lam < ForLoose.NARROW
        return AutoClipPlan(
            none, none, none, none, Fraction(exponent), anchor, reach, smallest, reach, whole, smallest
        )
    floor = radius_floor(
        smallest, wide, bid=count * strength.slope(radius_share), margin=margin, exponent=exponent
    )
    if not plenty or occupied is not None:
        outer = middle = 0.0
    counted = 0.0
    if not hinted and occupied is None:
        if strength.concentrated and bid >= 400:
            counted = min(max((20 / bid) ** 2, 0.005), 0.04)
        elif not strength.concentrated and bid >= ForLoose.GUARDED:
            counted = 0.04 if bid < 600 else 0.025 if bid < 5000 else 0.015
    fit = loose = at_ends = 0.0
    if price.pointwise and not hinted and occupied is None:
        fit, loose, at_ends = fit_rule(strength, rows=count, octaves=lam)
    fine = smallest / ForLoose.FINER if step is None else max(smallest / ForLoose.FINER, Fraction(step))
    return AutoClipPlan(
        _short(outer), _short(middle), _short(counted), _short(radius_share), Fraction(exponent), anchor, reach,
        smallest, min(floor, reach), trusted, fine, _short(fit), _short(loose), math.ceil(at_ends),
    )  # fmt: skip


def search_margin(rows: float, strength: Strength) -> float:
    """Nats by which the rows must outbid the prior: a wrong radius then has probability of order (rows * price)^-2."""
    return 2 * math.log(max(rows * strength.nats, 10.0)) + (4 if strength.concentrated else 1)


def radius_floor(
    smallest: Fraction, reach: Fraction, *, bid: float, margin: float, exponent: float
) -> Fraction:
    """The radius below which the prior would outbid all rows (the collapse at few rows times epsilon)."""
    return max(smallest, reach * Fraction(math.exp(-(bid - min(margin, 0.4 * bid)) / exponent)))
