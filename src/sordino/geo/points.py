"""One report, every map: a device sends its point once, moved by exact planar Laplace noise.

`Points` is the mechanism: a coordinate reference, a promise, a lattice. What is asked of the reports is decided
later, by anybody, at no further price: `maps.py`, `answers.py`. Proof: docs/proofs/geo_points.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import DataError, ParameterError
from sordino.geo import planar_laplace
from sordino.geo.head import POINT, identity, version_of
from sordino.geo.reference import Reference, Sphere, decimal, reference_from, snap, whole_steps
from sordino.privacy import Geo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from sordino.exact.bits import Bits

    Floats = NDArray[np.float64]

LAW = "planar-laplace-65536"
#: Largest distance from the box, in units of T steps, at which a report is believed: an honest one is beyond it
#: with probability below 1e-26.
BEYOND = 64
#: Square root of the dimension, rounded up.
_ROOTS = {d: Fraction(isqrt(d * 10**24) + (d > 1), 10**12) for d in (1, 2, 3)}
_FINEST = Fraction(1, 100)  # metres
_FIELDS = {
    "format",
    "version",
    "id",
    "law",
    "dimension",
    "price",
    "stretch",
    "reference",
    "step",
    "low",
    "high",
}


@dataclass(frozen=True, slots=True)
class Points:
    """The mechanism that reports points: made from public numbers alone.

    Args:
        reference: What coordinates mean.
        price: What one report may reveal: points `per` apart on the ground lose at most epsilon, and farther ones in
            proportion.
        rounds: When rounds begin, if devices report again and again: {"from": an ISO time, "seconds": their length}.

    Attributes:
        step: The lattice step in the unit of the map, a finite decimal.
        low: Lower corner of the box in steps; points outside count as points of its border.
        high: Upper corner.

    Example:
        >>> made = Points(Reference.around(longitude=-73.97, latitude=40.74, radius=50_000), Geo(1, per=500))
        >>> float(made.step), round(made.unit_loss, 2)
        (0.0076454877853393555, 501.05)
        >>> len(made.report(degrees=[[-73.98, 40.75]]))
        1
    """

    reference: Reference
    price: Geo
    rounds: dict[str, Any] | None = None
    step: Fraction = field(default=Fraction(0))
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _check(self.reference, self.price)
        least = least_step(self.reference.stretch, self.price, self.dimension)
        if not self.step:
            # Rounded up to a multiple of 2^-24; finer only where that would cost a thousandth of the step.
            digits = max(24, 10 - int(np.floor(np.log2(float(least)))))
            object.__setattr__(self, "step", Fraction(ceil(least * 2**digits), 2**digits))
            low, high = whole_steps(self.reference.box(), float(self.step))
            object.__setattr__(self, "low", low)
            object.__setattr__(self, "high", high)
        if self.step < least:
            raise ParameterError(
                "points",
                "the lattice is too fine for the price",
                got={"step": float(self.step), "price": self.price},
                why="Noise of a given number of steps would protect less than was promised.",
            )
        if len(self.low) != self.dimension or any(a >= b for a, b in zip(self.low, self.high, strict=True)):
            raise ParameterError("points", "the box is empty", got={"low": self.low, "high": self.high})
        if max(map(abs, (*self.low, *self.high))) > 2**44:
            raise ParameterError(
                "points",
                "the region is too wide for so fine a privacy distance",
                got={"price": self.price, "steps": max(self.high)},
                hint="a smaller radius, or a larger `per`",
            )

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.reference.dimension

    @property
    def unit_loss(self) -> float:
        """U: the distance on the map at which the loss is one; exactly T steps."""
        return float(planar_laplace.T * self.step)

    def snap(self, metres: ArrayLike) -> NDArray[np.int64]:
        """Lattice integers of points on the map: private if the points are."""
        at = np.asarray(metres, dtype=np.float64)
        if self.dimension == 1 and at.ndim < 2:
            at = at.reshape(-1, 1)
        at = at[None, :] if at.ndim == 1 else at
        if at.ndim != 2 or at.shape[1] != self.dimension:
            raise DataError(
                "points", f"points must have {self.dimension} coordinates each", got={"shape": at.shape}
            )
        return snap(at, step=float(self.step), low=self.low, high=self.high)

    def report(
        self,
        *,
        degrees: ArrayLike | None = None,
        metres: ArrayLike | None = None,
        bits: Bits | None = None,
    ) -> PointReports:
        """Turn points into reports, one each: `degrees` are (longitude, latitude) rows, `metres` are on the map.

        Degrees and metres are never guessed: exactly one of them is named.
        """
        at = self.snap(self._on_map(degrees, metres))
        return PointReports(self, at + planar_laplace.noise_many(len(at), self.dimension, bits=bits))

    def stream(
        self,
        *,
        degrees: ArrayLike | None = None,
        metres: ArrayLike | None = None,
        chunk: int = 1 << 16,
        progress: Callable[[int], None] | None = None,
        bits: Bits | None = None,
    ) -> Iterator[PointReports]:
        """Turn points into reports chunk by chunk."""
        at = np.asarray(self._on_map(degrees, metres))
        for begin in range(0, len(at), chunk):
            part = at[begin : begin + chunk]
            yield self.report(metres=part, bits=bits)
            if progress is not None:
                progress(len(part))

    def _on_map(self, degrees: Any, metres: Any) -> Any:
        if (degrees is None) == (metres is None):
            raise DataError("points", "name the points as degrees= or as metres=, one of them")
        if degrees is None:
            return metres
        if not isinstance(self.reference, Sphere):
            raise DataError(
                "points",
                "degrees need a reference on the ground",
                got={"reference": self.reference.to_dict()["kind"]},
                hint="Reference.around(longitude=..., latitude=..., radius=50_000)",
            )
        return self.reference.to_metres(degrees)

    def head(self) -> dict[str, Any]:
        """Give all that a client needs; its id is the name of the mechanism."""
        record: dict[str, Any] = {
            "format": POINT,
            "version": version_of(POINT),
            "law": LAW,
            "dimension": self.dimension,
            "price": {
                "epsilon": _written(self.price.epsilon),
                "per": _written(self.price.per),
                "unit": getattr(self.reference, "unit", "metre"),
            },
            "stretch": decimal(self.reference.stretch),
            "reference": self.reference.to_dict(),
            "step": decimal(self.step),
            "low": list(self.low),
            "high": list(self.high),
        }
        if self.rounds is not None:
            record["rounds"] = dict(self.rounds)
        return {**record, "id": identity(record)}

    @property
    def id(self) -> str:
        """Thirty-two hexadecimal digits that name reference, price and lattice on the wire."""
        return str(self.head()["id"])

    @staticmethod
    def from_head(head: dict[str, Any]) -> Points:
        """Make the mechanism that a head describes, or raise if any number of it does not fit the others."""
        wrong = DataError("points", "the head does not describe a point mechanism")
        if not isinstance(head, dict) or not _FIELDS <= set(head) <= _FIELDS | {"rounds"}:
            raise wrong
        if head["law"] != LAW:
            raise DataError("points", "the law of the noise is not known", got={"law": head["law"]})
        try:
            price = Geo(Fraction(head["price"]["epsilon"]), Fraction(head["price"]["per"]))
            step = Fraction(head["step"])
            low, high = tuple(map(int, head["low"])), tuple(map(int, head["high"]))
            corners = {"low": [float(step * a) for a in low], "high": [float(step * b) for b in high]}
            made = Points(
                reference_from(head["reference"], **corners), price, head.get("rounds"), step, low, high
            )
            same = made.head()
        except (KeyError, TypeError, ZeroDivisionError, AttributeError, OverflowError) as error:
            raise wrong from error
        if same != head:
            raise DataError(
                "points",
                "the head's numbers do not fit its id",
                got={"id": head["id"], "expected": same["id"]},
            )
        return made

    def __repr__(self) -> str:
        return f"Points({self.reference.to_dict()['kind']}, {self.price!r})"


@dataclass(frozen=True, slots=True, eq=False)
class PointReports:
    """Moved points of many devices, safe to store and to send.

    Attributes:
        mechanism: What made them: public.
        at: Lattice integers, shape (n, dimension).
        rounds: The number of the collection round of each, where it is known.
    """

    mechanism: Points
    at: NDArray[np.int64] = field(repr=False)
    rounds: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.at.shape[0])

    def of_round(self, number: int) -> PointReports:
        """The reports of one collection round."""
        if self.rounds is None:
            raise DataError("points", "the rounds of these reports are not known")
        chosen = self.rounds == number
        return PointReports(self.mechanism, self.at[chosen], self.rounds[chosen])

    @property
    def metres(self) -> Floats:
        """The reports on the map."""
        places: Floats = self.at.astype(np.float64) * float(self.mechanism.step)
        return places

    @property
    def guarantee(self) -> Geo:
        """What one device's report promises."""
        return self.mechanism.price

    def __repr__(self) -> str:
        return f"PointReports({len(self)} from {self.mechanism!r})"


def least_step(stretch: Fraction, price: Geo, dimension: int) -> Fraction:
    """The step from which on points `per` and farther apart keep the promise: stretch U/(T - sqrt(d)/epsilon).

    Rounding moves each point by sqrt(d)/2 steps at most; docs/proofs/geo_points.md, Theorem 2.
    """
    root = _ROOTS[dimension]
    if price.epsilon < 64 * root / planar_laplace.T:
        raise ParameterError(
            "points",
            "epsilon is too small for its distance",
            got={"price": price},
            why="The lattice would be coarser than the distance.",
            hint="the same rate over a larger distance: Geo(1, per=...)",
        )
    return stretch / price.rate / (planar_laplace.T - root / price.epsilon)


def _check(reference: Any, price: Any) -> None:
    if not isinstance(reference, Reference):
        raise ParameterError(
            "points",
            "a coordinate reference comes first",
            got={"reference": reference},
            why="Degrees and metres are never guessed.",
            hint="Reference.around(longitude=-73.97, latitude=40.74, radius=50_000)",
        )
    if not isinstance(price, Geo) or price.epsilon == 0:
        raise ParameterError(
            "points", "price must be Geo and positive", got={"price": price}, hint="Geo(1, per=200)"
        )

    if isinstance(reference, Sphere) and price.per < _FINEST:
        raise ParameterError(
            "points",
            "a distance on the ground must be at least a centimetre",
            got={"price": price},
            why="Sines and cosines in floats know a place on Earth to some nanometres, which the stretch pays for.",
            hint="the same rate over a larger distance",
        )


def _written(amount: Fraction) -> str:
    """A decimal where there is one, else numerator/denominator, which clients refuse to round."""
    try:
        return decimal(amount)
    except ParameterError:
        return str(amount)
