"""The data-free plan of AutoClip: how a mean with loose bounds splits its price, and how far it searches.

Public numbers only: rows, price, bounds, step and hints. The rules are those of the accuracy study in
docs/explanation/which_mechanism.md; the mechanism that follows the plan is auto_clip.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sordino import checks
from sordino.mechanisms.price import nats
from sordino.privacy import Concentrated, Guarantee

OUTER_EXPONENT = 2  # prior of the outer radius, radius^-2
GUARDED = 400  # rows times strength from which the count of rows away from the centre is worth its price
LARGEST = (
    0.4  # of the price for the radius: where the bounds fit the answer is then 5/3 as far off as plain noise
)
CHEAP = 0.06  # of the price: what finding the centre may cost at most
RESOLUTION = 2.0**-20  # the smallest radius, as a share of the largest


@dataclass(frozen=True, slots=True)
class AutoClipPlan:
    """Shares of the price and public search ranges; every field is public.

    Attributes:
        outer_share: For the radius around the anchor within which the centre is looked for; 0 skips both.
        centre_share: For the centre.
        count_share: For the number of rows away from the centre, by which the next two are set; 0 skips it.
        radius_share: For the radius around the centre; 0 skips every search, and the bounds are taken as they are.
        exponent: Prior of the radius, ``radius^-exponent``.
        anchor: Where the search starts: zero, the bound nearer to it, or the caller's centre.
        reach: Largest distance from the anchor inside the bounds.
        smallest: Smallest radius around the anchor.
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

    @property
    def noise_share(self) -> Fraction:
        """What is left for the noise."""
        return 1 - self.outer_share - self.centre_share - self.count_share - self.radius_share


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
        return cls(nats(price), isinstance(price, Concentrated))

    def share(self, slope: float) -> float:
        """Share of the price that buys a bounded range of this size."""
        return slope * slope / (4 * self.nats * self.nats) if self.concentrated else slope / self.nats

    def slope(self, share: float) -> float:
        """The bounded range that a share buys."""
        return 2 * self.nats * math.sqrt(share) if self.concentrated else self.nats * share

    @property
    def base(self) -> float:
        """The least share for the radius: the optimum is flat around it."""
        return 0.10 if self.concentrated else 0.18

    @property
    def steepest(self) -> tuple[float, float]:
        """The prior exponent where the rows can afford it, and the largest share it may cost."""
        return (4.0, 0.20) if self.concentrated else (5.0, 0.22)


def radius_rule(strength: Strength, *, votes: float, octaves: float, margin: float) -> tuple[float, float]:
    """Share and prior exponent for the radius when only ``votes`` rows lie away from the centre.

    The prior must not outbid the rows: ``votes * slope >= exponent * octaves + margin``. Where the rows are few the
    search gets up to half of the price, but the exponent stays at 5/2 or above so that overshoots have a variance.
    """
    for exponent, cap in (strength.steepest, (3.0, 0.45), (2.5, 0.50)):
        needed = max(strength.base, strength.share((exponent * octaves + margin) / max(votes, 1.0)))
        if needed <= cap:
            return needed, exponent
    return 0.5, 2.5


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
        >>> plan_auto_clip(rows=201, price=Pure(0.1), low=-50, high=1050).trusted
        False
    """
    bottom, top = Fraction(low), Fraction(high)
    anchor = min(max(Fraction(0) if centre is None else Fraction(centre), bottom), top)
    reach = max(top - anchor, anchor - bottom)
    smallest = reach * Fraction(RESOLUTION)
    if step is not None:
        smallest = max(smallest, Fraction(step))
    smallest = min(smallest, reach)
    strength = Strength.of(price)
    share, base, count = strength.share, strength.base, max(rows, 1)
    margin = search_margin(count, strength)
    steepest, dearest = strength.steepest
    lam = math.log(max(float(reach / smallest), 1.0))
    outer, middle = max(share((OUTER_EXPONENT * lam + 12) / count), 0.005), max(share(48 / count), 0.005)
    # Hints are for few rows: where a search is cheap it beats a guess that is off by a factor of three.
    plenty = share((steepest * lam + margin) / count) <= dearest and max(outer, middle) <= CHEAP
    wide, hinted = reach, False
    if spread is not None:
        width = checks.positive("mean", spread=spread)
        if not plenty or occupied is not None:
            hinted = centre is not None
            smallest = min(max(smallest, width / 4), reach)
            wide = min(reach, 8 * width) if hinted else reach
            lam = math.log(max(float(wide / smallest), 1.0))
    if occupied is not None:
        votes = count * float(checks.between("mean", 0, 1, closed=True, occupied=occupied))
        radius_share, exponent = radius_rule(strength, votes=votes, octaves=lam, margin=margin)
        trusted = votes * strength.slope(radius_share) >= exponent * lam
    elif hinted:
        exponent = 4.0
        radius_share = min(max(share((4 * lam + margin) / count), base), 0.30)
        trusted = share((4 * lam + margin) / count) <= 0.6
    else:
        radius_share, exponent, trusted = 0.0, 1.5, False
        for candidate, cap in (strength.steepest, (3.0, 0.35), (2.0, 0.45)):
            needed = max(base, share((candidate * lam + margin) / count))
            if needed <= cap:
                radius_share, exponent, trusted = min(needed, LARGEST), candidate, True
                break
    if not radius_share:  # too few rows to find a scale: no search, the bounds as they are
        none = Fraction(0)
        return AutoClipPlan(
            none, none, none, none, Fraction(exponent), anchor, reach, smallest, reach, trusted
        )
    floor = radius_floor(
        smallest, wide, bid=count * strength.slope(radius_share), margin=margin, exponent=exponent
    )
    if not plenty or occupied is not None:
        outer = middle = 0.0
    counted = 20 / (count * strength.nats)
    counted = min(max(counted**2 if strength.concentrated else counted, 0.005), 0.04)
    if count * strength.nats < GUARDED or hinted or occupied is not None:
        counted = 0.0
    return AutoClipPlan(
        _short(outer), _short(middle), _short(counted), _short(radius_share), Fraction(exponent), anchor, reach,
        smallest, min(floor, reach), trusted,
    )  # fmt: skip


def search_margin(rows: int, strength: Strength) -> float:
    """Nats by which the rows must outbid the prior: a wrong radius then has probability of order (rows * price)^-2."""
    return 2 * math.log(max(rows * strength.nats, 10.0)) + 4


def radius_floor(
    smallest: Fraction, reach: Fraction, *, bid: float, margin: float, exponent: float
) -> Fraction:
    """The radius below which the prior would outbid all rows (the collapse at few rows times epsilon)."""
    return max(smallest, reach * Fraction(math.exp(-(bid - min(margin, 0.4 * bid)) / exponent)))
