"""Parameter checks that name themselves: ``positive("laplace", epsilon=epsilon)``.

Each takes the subject of the message and exactly one parameter by keyword, and returns its exact value
as a Fraction: a float means its shortest decimal, so ten times 0.1 is 1. Nothing here sees data.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from abc import ABCMeta
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Number = int | float | Fraction | Decimal


LARGEST = 308
"""Decimal places before the point that a float can hold."""

_LARGEST = 10**LARGEST

PLACES = 1000
"""Places after the point that a Decimal may begin at."""


def _single(named: dict[str, Any]) -> tuple[str, Any]:
    """Unpack the one keyword."""
    ((name, value),) = named.items()
    return name, value


def exact(subject: str, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a finite number as a Fraction, or raise.

    Example:
        >>> exact("laplace", epsilon=0.1)
        Fraction(1, 10)
        >>> exact("laplace", epsilon=True)
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: laplace: epsilon must be a number, got epsilon=True.
            Hint: epsilon=0.5
    """
    name, value = _single(named)
    if type(value) is Fraction and _ordinary(value):  # most have been here before
        return value
    hint = hint or (f"{name}={EXAMPLES[name]}" if name in EXAMPLES else "")
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 and not isinstance(value, Rational | float):
        value = value.item()  # a numpy scalar or 0-d array
    if isinstance(value, bool) or not isinstance(value, Rational | float | Decimal):
        raise ParameterError(subject, f"{name} must be a number", got={name: value}, why=why, hint=hint)
    if not _finite(value):
        raise ParameterError(
            subject, f"{name} must be a finite number", got={name: value}, why=why, hint=hint
        )
    if not _ordinary(value):
        raise ParameterError(
            subject,
            f"{name} must be a number of ordinary size",
            got={name: value},
            why=why or "Numbers beyond 1e308 or with a thousand places have no float.",
            hint=hint or f"{name}=1",
        )
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


def _finite(value: Rational | float | Decimal) -> bool:
    return (
        value.is_finite()
        if isinstance(value, Decimal)
        else isinstance(value, Rational) or math.isfinite(value)
    )


def _ordinary(value: Rational | float | Decimal) -> bool:
    """Whether a finite number is one that a person may mean: told before anything is computed with it."""
    if isinstance(value, Decimal):
        return not value or -PLACES < value.adjusted() < LARGEST
    if isinstance(value, Rational):
        return abs(value.numerator) < abs(value.denominator) * _LARGEST
    return True


def written(text: Any) -> Fraction:
    """Read an amount of a record: most are two whole numbers, which need no pattern to be read.

    Example:
        >>> written("1/10"), written("0.5")
        (Fraction(1, 10), Fraction(1, 2))
    """
    above, _, below = text.partition("/") if isinstance(text, str) else ("", "", "")
    if above.isdecimal() and below.isdecimal() and int(below):
        return Fraction(int(above), int(below))
    return Fraction(text)


def positive(subject: str, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a number greater than zero."""
    return greater_than(subject, 0, why=why, hint=hint, **named)


def non_negative(subject: str, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a number that is zero or more."""
    value = exact(subject, why=why, hint=hint, **named)
    if value < 0:
        name, given = _single(named)
        raise ParameterError(subject, f"{name} must not be negative", got={name: given}, why=why, hint=hint)
    return value


def greater_than(subject: str, bound: Number, /, *, why: str = "", hint: str = "", **named: Any) -> Fraction:
    """Return a number strictly greater than the bound."""
    value = exact(subject, why=why, hint=hint, **named)
    if value <= bound:
        name, given = _single(named)
        rule = f"{name} must be positive" if bound == 0 else f"{name} must be greater than {bound}"
        raise ParameterError(subject, rule, got={name: given}, why=why, hint=hint)
    return value


def between(
    subject: str,
    low: Number,
    high: Number,
    /,
    *,
    closed: bool = False,
    why: str = "",
    hint: str = "",
    **named: Any,
) -> Fraction:
    """Return a number between two bounds, the bounds themselves allowed only if ``closed``."""
    value = exact(subject, why=why, hint=hint, **named)
    inside = low <= value <= high if closed else low < value < high
    if not inside:
        name, given = _single(named)
        words = f"{name} must be between {low} and {high}" + ("" if closed else ", both excluded")
        raise ParameterError(subject, words, got={name: given}, why=why, hint=hint)
    return value


def whole(subject: str, /, *, at_least: int = 0, why: str = "", hint: str = "", **named: Any) -> int:
    """Return a whole number that is at least the given one."""
    name, value = _single(named)
    number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else None
    if number is None or number < at_least:
        rule = f"{name} must be a whole number of at least {at_least}"
        raise ParameterError(subject, rule, got={name: value}, why=why, hint=hint)
    return number


def plain_text(subject: str, /, *, hint: str = "", **named: Any) -> str:
    """Return a text that every engine and every ledger can hold: no zero byte, no half of a character.

    Example:
        >>> plain_text("condition", value="north")
        'north'
    """
    name, value = _single(named)
    if not isinstance(value, str) or "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ParameterError(
            subject, f"{name} must be a text without zero bytes and half characters", got={name: value},
            why="No engine could match it.", hint=hint,
        )  # fmt: skip
    return value


def one_of(subject: str, options: tuple[str, ...], /, *, why: str = "", hint: str = "", **named: Any) -> str:
    """Return one of a few words."""
    name, value = _single(named)
    if not isinstance(value, str) or value not in options:
        raise ParameterError(
            subject, f"{name} must be one of {', '.join(options)}", got={name: value}, why=why, hint=hint
        )
    return value


def texts(subject: str, values: Iterable[Any]) -> None:
    r"""Refuse texts that no table could hold: with a NUL, or with half of a surrogate pair, which is not a character.

    Example:
        >>> texts("keys", ["north", 7])
        >>> texts("keys", ["north\0"])
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: keys: text must be a text without zero bytes and half characters, got ...
            No engine could match it.
            Hint: "north"
    """
    for value in values:
        if isinstance(value, str):
            plain_text(subject, hint='"north"', text=value)


P = ParamSpec("P")
R = TypeVar("R")

EXAMPLES = {
    "column": '"income"', "columns": '["income", "age"]', "low": "0", "high": "500_000", "q": "0.5",
    "qs": "(0.25, 0.5, 0.75)", "trim": "0.05", "keys": '("north", "south")', "edges": "(0, 18, 65, 120)",
    "threshold": "50_000", "vertices": "100", "topology": "((0, 1), (1, 2))",
    "price": "sd.Pure(0.5)", "epsilon": "0.5", "delta": "1e-6", "rho": "0.1", "omega": "10", "per": "200",
    "statistic": 'sd.Median("income", low=0, high=500_000)', "data": '"people.csv", budget=sd.Pure(3)', "x": "ages",
    "y": '"income"',
    "budget": "sd.Pure(3)", "ledger": '"people.ledger"', "unit": 'sd.Unit("person_id", max_rows=3)', "rows": "1000",
    "neighbors": '"add-remove-one"', "step": "1", "missing": "0", "reason": '"tables of 2026"', "interval": "0.95",
    "value": "4.5", "bound": "0.8", "grid": "2**-20", "session": "people", "calibration": "noise", "smoothing": "0.1",
    "statistics": '[sd.Count("age"), sd.Median("income", low=0, high=500_000)]', "error": "100", "domain": "(0, 1, 5)",
    "left": '"left"', "right": '"right"', "parts": '[sd.Mean("income", low=0, high=500_000)]',
}  # fmt: skip
"""What stands for a parameter in an example."""

_PRICE = "There is no default price: how much to spend is yours to say."
WHY = {
    "low": "Bounds are public: they are known before the data are seen, never taken from them.",
    "keys": "Keys are public: they are known before the data are seen, never taken from them.",
    "price": _PRICE,
    "epsilon": _PRICE,
    "rho": _PRICE,
    "grid": "The step of the answer is public: it is never taken from the value or the bound.",
    "session": "The price is debited before the noise is drawn, so a session with a ledger must pay.",
}
WHY["high"] = WHY["low"]


def wrong_call(
    subject: str,
    name: str,
    signature: inspect.Signature,
    given: tuple[Any, ...],
    named: Mapping[str, Any],
    *,
    call: str | None = None,
) -> ParameterError | None:
    """What is wrong with the arguments of a call, or None where they fit.

    Args:
        subject: What the message speaks of.
        name: What is called, for the example.
        signature: Of what is called.
        given: Arguments by place.
        named: Arguments by name.
        call: An example that can be pasted; made from what is needed where none is given.

    Example:
        >>> print(wrong_call("median", "sd.median", inspect.signature(lambda x, *, low, high: 0), (), {"x": 1}))
        median: low and high must be given.
            Bounds are public: they are known before the data are seen, never taken from them.
            Hint: sd.median(ages, low=0, high=500_000)
    """
    try:
        signature.bind(*given, **named)
    except TypeError:
        pass
    else:
        return None
    parameters = dict(signature.parameters)
    if next(iter(parameters), "") in ("self", "cls"):
        parameters.pop(next(iter(parameters)))
        given = given[1:]
    placed = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    words = [
        EXAMPLES.get(one, "...")
        if one in placed and one not in ("low", "high")
        else f"{one}={EXAMPLES.get(one, '...')}"
        for one in needed
    ]
    call = call or f"{name}({', '.join(words)})"
    unknown = [one for one in named if one not in parameters]
    if unknown:
        near = get_close_matches(unknown[0], parameters, n=1)
        return ParameterError(
            subject, f"has no option {unknown[0]!r}",
            why=f"Its options are {', '.join(parameters)}.",
            hint=f"{near[0]}={EXAMPLES.get(near[0], '...')}" if near else call,
        )  # fmt: skip
    missing = [one for one in needed if one not in named and one not in placed[: len(given)]]
    if missing:
        listed = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        return ParameterError(
            subject, f"{listed} must be given", why=next((WHY[one] for one in missing if one in WHY), ""), hint=call,
        )  # fmt: skip
    return ParameterError(
        subject, f"takes {len(placed)} argument{'s' * (len(placed) != 1)} by place, the others by name, each once",
        got={"by place": len(given)}, why="Options have names, so that no bound is taken for a price.", hint=call,
    )  # fmt: skip


class Explained(ABCMeta):
    """Makes classes whose constructor explains a wrong call."""

    def __call__(cls, *given: Any, **named: Any) -> Any:  # noqa: D102
        try:
            return super().__call__(*given, **named)
        except TypeError:
            subject = getattr(cls, "name", "") or getattr(cls, "kind", "") or cls.__name__.lower()
            refusal = wrong_call(subject, f"sd.{cls.__name__}", cls.__signature__, given, named)
            if refusal is None:
                raise
        raise refusal

    @property
    def __signature__(cls) -> inspect.Signature:
        """That of the constructor: help and editors ask for it."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
        return inspect.Signature(parameters)


def explained(name: str, *, call: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose wrong calls are to be explained, by its name or with a call that can be pasted."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*given: P.args, **named: P.kwargs) -> R:
            try:
                return function(*given, **named)
            except TypeError:
                refusal = wrong_call(function.__name__, name, signature, given, named, call=call)
                if refusal is None:
                    raise
            raise refusal

        return called

    return decorate
