"""The answer to "what does it leak?": a delta too small for a float, the worst case beside it, and words for both.

Nothing is computed here. A figure is never shown without the figure of ordinary differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

_LN10 = math.log(10.0)


def power(log_value: float, digits: int = 3) -> str:
    """Write e^log_value for people, also where no float can hold it.

    Example:
        >>> power(math.log(0.0123)), power(-137684.66493), power(-math.inf), power(0.0), power(-3e-9)
        ('0.0123', '2.04e-59796', '0', '1', '1 - 3e-09')
    """
    if log_value == -math.inf:
        return "0"
    exponent = math.floor(log_value / _LN10)
    if -5 < exponent < 6:
        value = math.exp(log_value)
        # a probability that rounds to 1 but is less is written with enough digits to say so
        text = f"{value:.{digits}g}"
        if text == "1" and log_value < 0.0:
            text = f"{value:.6g}"
            return f"1 - {-math.expm1(log_value):.1g}" if text == "1" else text
        return text
    mantissa = 10.0 ** (log_value / _LN10 - exponent)
    if round(mantissa, digits - 1) >= 10.0:
        mantissa, exponent = 1.0, exponent + 1
    return f"{mantissa:.{digits - 1}f}e{exponent:+03d}"


@dataclass(frozen=True, slots=True)
class Leak:
    """Delta at one epsilon, for one database or smoothed over a set of electorates.

    Attributes:
        epsilon: The privacy parameter the delta belongs to.
        log_delta: Natural logarithm of delta; the upper end when there is a bracket.
        log_lower: Natural logarithm of a value that is reached; equal to ``log_delta`` when exact.
        log_worst: Natural logarithm of the worst case, delta of ordinary differential privacy.
        records: How many records there are.
        published: How many of them are published.
        about: "this tally" or "electorates like these".
        method: How it was computed.
        warnings: What a reader must know.
        replacement: Whether the published records were drawn with replacement.
        certified: Whether ``log_delta`` is proved to be an upper bound; otherwise it is what was found.
    """

    epsilon: float
    log_delta: float
    log_worst: float
    records: int
    published: int
    about: str
    method: str
    log_lower: float = math.nan
    warnings: tuple[str, ...] = field(default=())
    replacement: bool = False
    certified: bool = True

    @property
    def delta(self) -> float:
        """Delta as a float; 0 below 1e-308, where :attr:`log_delta` still has its digits."""
        return math.exp(self.log_delta)

    @property
    def worst_case(self) -> float:
        """Delta of ordinary differential privacy, the same at every finite epsilon."""
        return math.exp(self.log_worst)

    @property
    def log10(self) -> float:
        """Decimal logarithm of delta."""
        return self.log_delta / _LN10

    @property
    def width(self) -> float:
        """Relative width of the bracket; 0 when exact."""
        if math.isnan(self.log_lower) or self.log_lower == self.log_delta:
            return 0.0
        return math.expm1(self.log_delta - self.log_lower) if math.isfinite(self.log_lower) else math.inf

    @property
    def smoothed(self) -> bool:
        """Whether this is an average over databases rather than the figure of one."""
        return self.about != "this tally"

    @property
    def text(self) -> str:
        """Delta in digits; a bracket as a bracket."""
        if self.bracketed:
            return f"between {power(self.log_lower)} and {power(self.log_delta)}"
        return power(self.log_delta)

    @property
    def bracketed(self) -> bool:
        """Whether the two ends of the bracket differ in the digits that are shown."""
        return self.width > 1e-9 and power(self.log_lower) != power(self.log_delta)

    @property
    def statement(self) -> str:
        """Delta and how far it is known: equal, between, or only found."""
        sign = " " if self.bracketed else " = "
        word = "" if self.certified else " found"
        return f"delta({self.epsilon:g}){sign}{self.text}{word}"

    def __float__(self) -> float:
        return self.delta

    def __repr__(self) -> str:
        return (
            f"<{self.statement} for {self.about}; worst case {power(self.log_worst)}; "
            f"{self.published:,} of {self.records:,} records published; {self.method}>"
        )

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in self.lines())
        return f"<table>{rows}</table>"

    def within(self, delta: float) -> bool:
        """Say whether delta is at most this much."""
        return self.log_delta <= math.log(delta)

    def lines(self) -> list[tuple[str, str]]:
        """Return the figures, the worst case first."""
        held = self.records - self.published
        share = held / self.records
        how = (
            f"{self.published:,} of {self.records:,} records; {held:,} ({share:.3g} of all) held back or lost"
        )
        if self.replacement:
            how = f"{self.published:,} draws with replacement from {self.records:,} records"
        result = [
            ("published", how),
            (
                "worst case",
                f"delta = {power(self.log_worst)} at every epsilon (ordinary differential privacy)",
            ),
            (self.about, f"{self.statement}, {self.method}"),
        ]
        if not self.certified:
            words = "this figure was found; that no mix of these electorates gives a larger one is not proved"
            result.append(("not certified", words))
        result.append(("compare", f"1/n = {1 / self.records:.3g}: {self.verdict}"))
        return result

    @property
    def verdict(self) -> str:
        """Compare with the usual requirement that delta be below one over the number of records."""
        limit = -math.log(self.records)
        what = "delta" if self.certified else "what was found"
        if self.log_delta < limit:
            return f"{what} is below it, as is usually asked"
        if self.bracketed and self.log_lower < limit:
            return "it lies inside the bracket: whether delta is below it is not decided"
        return f"{what} is NOT below it, as is usually asked"

    @property
    def reading(self) -> str:
        """Say in two sentences how to read the figure and what it does not promise."""
        factor = math.exp(min(self.epsilon, 700.0))
        odds = f"{factor:.3g}" if factor < 1e6 else f"e^{self.epsilon:g}"
        extra = power(self.log_delta)
        if not self.certified:
            return (
                f"On average over databases drawn from the mixes of the stated electorates that were tried, changing "
                f"any one record raises the probability of a set of outcomes by a factor of {odds} plus {extra}, as "
                f"far as was found: this is not a proved bound, and another mix may give more. It is an average: one "
                f"database can be as bad as {power(self.log_worst)}, and nothing is promised for records drawn from "
                f"elsewhere or for later releases that react to this one."
            )
        if self.smoothed:
            return (
                f"On average over databases drawn from the stated electorates, changing any one record raises the "
                f"probability of any set of outcomes by at most a factor of {odds} plus {extra}; that is all that "
                f"somebody who knows every other record can use to guess the last one. It is an average: one database "
                f"can be as bad as {power(self.log_worst)}, and nothing is promised for records drawn from elsewhere "
                f"or for later releases that react to this one."
            )
        return (
            f"For this tally, changing any one record raises the probability of any set of outcomes by at most a "
            f"factor of {odds} plus {extra}; that is all that somebody who knows every other record can use to "
            f"guess the last one. It holds because the records left out were left out at random and nobody knows "
            f"which; for another tally nothing is promised, and the only record of its kind is given away with "
            f"probability {power(self.log_worst)}."
        )

    def explain(self) -> str:
        """Return the whole answer in words: figures, how to read them, what they do not promise, warnings."""
        width = max(len(name) for name, _ in self.lines())
        parts = [f"{name.ljust(width)}  {value}" for name, value in self.lines()]
        parts.append(self.reading)
        parts.extend(f"Warning: {warning}" for warning in self.warnings)
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "smoothed-leak" if self.smoothed else "database-leak",
            "epsilon": self.epsilon,
            "delta": self.delta,
            "log_delta": self.log_delta,
            "delta_text": self.text,
            "log_lower": self.log_lower,
            "certified": self.certified,
            "relative_width": self.width,
            "worst_case_delta": self.worst_case,
            "records": self.records,
            "published": self.published,
            "about": self.about,
            "method": self.method,
            "below_one_over_n": self.log_delta < -math.log(self.records),
            "reading": self.reading,
            "warnings": list(self.warnings),
        }
