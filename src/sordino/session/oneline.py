"""One-line releases for notebooks, named as numpy names them: ``sd.median(x, epsilon=1, bounds=(0, 100))``.

In memory and in no ledger: nobody adds these up, and the release says so. For anything that leaves the notebook use
`sordino.open` and a ledger.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack

from sordino import catalogue, checks, session
from sordino.checks import WHY, wrong_call
from sordino.docstrings import item
from sordino.errors import ParameterError
from sordino.privacy import Approx, Concentrated, Guarantee, Neighbors, Pure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sordino.coverage import Coverage
    from sordino.mechanisms import Mechanism
    from sordino.session.release import Release
    from sordino.statistics import Statistic

P = ParamSpec("P")
R = TypeVar("R")


class Options(TypedDict, total=False):
    """What every one-liner takes by name."""

    epsilon: float
    delta: float
    rho: float
    price: Guarantee
    interval: float | Coverage
    neighbors: Neighbors | str
    mechanism: Mechanism


class Bounded(Options, total=False):
    """What a one-liner of numbers between public bounds takes by name."""

    bounds: tuple[float, float]
    low: float
    high: float
    step: float
    missing: float | str
    centre: float
    spread: float
    tight: bool
    loose: bool


ARGUMENTS = {
    "x": "One column: a list, an array or a series.",
    "bounds": "The public lower and upper bound, known before the data are seen; values outside are clamped to them.",
    "low": "The lower bound, where the two are given one by one.",
    "high": "The upper bound.",
    "epsilon": "What the answer may cost: pure differential privacy, or approximate together with ``delta``.",
    "delta": "With ``epsilon``: the probability that approximate differential privacy leaves out.",
    "rho": "Instead of ``epsilon``: concentrated differential privacy (zCDP).",
    "price": "Instead of all three: any guarantee, such as ``sd.Pure(1)``.",
    "interval": "An error bar that covers with this probability, such as 0.95.",
    "neighbors": 'Whether one person\'s row is replaced (the default) or added and removed: ``"add-remove-one"``.',
    "step": "The lattice on which the data live, when they live on one: 1 for ages, 0.01 for pay.",
    "missing": 'What a row that is not a number counts as: a number, or ``"drop"``.',
    "centre": "Public guess of the middle of the column.",
    "spread": "Public guess of its spread.",
    "tight": "The bounds are known to fit the column.",
    "loose": "The bounds are known to be far too wide.",
    "mechanism": "A mechanism in place of the default one.",
}
"""What the arguments are that several one-liners share; written once, shown by ``help`` of each."""

CALLS: dict[str, str] = {}
"""A call of each one-liner that can be pasted."""

STATISTICS = {
    "max": "maximum", "min": "minimum", "std": "standard-deviation", "trimmed_mean": "trimmed-mean", "var": "variance"
}  # fmt: skip
"""Statistics that numpy calls otherwise."""


def oneline(call: str, shared: type = Bounded) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a one-liner its whole signature and docstring, and answer wrong calls with one that can be pasted."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        CALLS[function.__name__] = call
        plain = inspect.signature(function)
        own = [one for one in plain.parameters.values() if one.kind is not one.VAR_KEYWORD]
        named = shared.__annotations__
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in named]
        signature = plain.replace(parameters=[*own, *more])

        @functools.wraps(function)
        def called(*given: P.args, **options: P.kwargs) -> R:
            refusal = wrong_call(function.__name__, "", signature, given, options, call=call)
            if refusal is not None:
                raise refusal
            return function(*given, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]

        text, _, example = inspect.cleandoc(function.__doc__ or "").partition("\n\nExample:\n")
        if "\n\nArgs:\n" not in text:
            text += f"\n\nArgs:\n    x: {ARGUMENTS['x']}"
        lines = [item(name, ARGUMENTS[name]) for name in named]
        called.__doc__ = "\n".join(
            [text, *lines, "", "Example:", example or f"    >>> {call}  # doctest: +SKIP", ""]
        )
        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return decorate


@oneline("sd.count(ages, epsilon=0.5)", Options)
def count(x: Any, **options: Unpack[Options]) -> Release:
    """How many rows hold a number."""
    return _once("count", x, options)


@oneline("sd.sum(pay, epsilon=0.5, bounds=(0, 500_000))")
def sum(x: Any, **options: Unpack[Bounded]) -> Release:  # noqa: A001
    """The sum of a column."""
    return _once("sum", x, options)


@oneline("sd.mean(ages, epsilon=0.5, bounds=(0, 120))")
def mean(x: Any, **options: Unpack[Bounded]) -> Release:
    """The mean of a column."""
    return _once("mean", x, options)


@oneline("sd.median(ages, epsilon=0.5, bounds=(0, 120))")
def median(x: Any, **options: Unpack[Bounded]) -> Release:
    """The median of a column.

    Example:
        >>> answer = median([31, 45, 28, 60], epsilon=1, bounds=(0, 120), step=1)
        >>> 0 <= answer.value <= 120, answer.ledger_id
        (True, None)
    """
    return _once("median", x, options)


@oneline("sd.quantile(ages, 0.9, epsilon=0.5, bounds=(0, 120))")
def quantile(x: Any, q: float, **options: Unpack[Bounded]) -> Release:
    """One quantile of a column.

    Args:
        x: One column: a list, an array or a series.
        q: Which one, between 0 and 1.
    """
    return _once("quantile", x, options, q=q)


@oneline("sd.quantiles(ages, (0.25, 0.5, 0.75), epsilon=0.5, bounds=(0, 120))")
def quantiles(x: Any, qs: Sequence[float], **options: Unpack[Bounded]) -> Release:
    """Several quantiles of a column, in order.

    Args:
        x: One column: a list, an array or a series.
        qs: Which ones, increasing, between 0 and 1.
    """
    return _once("quantiles", x, options, qs=tuple(qs))


@oneline("sd.min(ages, epsilon=0.5, bounds=(0, 120))")
def min(x: Any, **options: Unpack[Bounded]) -> Release:  # noqa: A001
    """The smallest row of a column."""
    return _once("min", x, options)


@oneline("sd.max(ages, epsilon=0.5, bounds=(0, 120))")
def max(x: Any, **options: Unpack[Bounded]) -> Release:  # noqa: A001
    """The largest row of a column."""
    return _once("max", x, options)


@oneline("sd.std(ages, epsilon=0.5, bounds=(0, 120))")
def std(x: Any, **options: Unpack[Bounded]) -> Release:
    """The standard deviation of a column (divided by n, as numpy does)."""
    return _once("std", x, options)


@oneline("sd.var(ages, epsilon=0.5, bounds=(0, 120))")
def var(x: Any, **options: Unpack[Bounded]) -> Release:
    """The variance of a column (divided by n, as numpy does)."""
    return _once("var", x, options)


@oneline("sd.trimmed_mean(pay, 0.05, epsilon=0.5, bounds=(0, 500_000))")
def trimmed_mean(x: Any, trim: float, **options: Unpack[Bounded]) -> Release:
    """The mean without a share of the rows at both ends.

    Args:
        x: One column: a list, an array or a series.
        trim: The share that is left out at each end, below one half.
    """
    return _once("trimmed_mean", x, options, trim=trim)


class HistogramOptions(Options, total=False):
    """What a histogram takes by name."""

    bounds: tuple[float, float]
    low: float
    high: float


@oneline("sd.histogram(ages, 12, epsilon=0.5, bounds=(0, 120))", HistogramOptions)
def histogram(x: Any, bins: int | Sequence[float] = 10, **options: Unpack[HistogramOptions]) -> Release:
    """How many rows are in each cell; rows beyond the outer edges count in the outer cells.

    Args:
        x: One column: a list, an array or a series.
        bins: How many cells of equal width between the bounds, or the edges themselves (then without bounds).

    Example:
        >>> len(histogram([3, 20, 18, 130], 4, epsilon=1, bounds=(0, 120)).value)
        4
        >>> len(histogram([3, 20, 18, 130], [0, 18, 65, 120], epsilon=1).value)
        3
    """
    given: dict[str, Any] = dict(options)
    edges = bins
    if isinstance(bins, Integral):
        low, high = _bounds("histogram", given)
        cells = checks.whole("histogram", bins=bins, at_least=1, hint=CALLS["histogram"])
        edges = [*(low + (high - low) * i / cells for i in range(cells)), high]
    return _once("histogram", x, given, edges=tuple(edges))  # type: ignore[arg-type]


def _price(name: str, options: dict[str, Any]) -> Guarantee:
    """The one guarantee that was named, as epsilon, epsilon and delta, rho, or whole."""
    price = options.pop("price", None)
    amounts: dict[str, Any] = {key: options.pop(key) for key in ("epsilon", "delta", "rho") if key in options}
    if isinstance(price, Guarantee) and not amounts:
        return price
    made = {("epsilon",): Pure, ("epsilon", "delta"): Approx, ("rho",): Concentrated}.get(tuple(amounts))
    if price is None and made is not None:
        return made(**amounts)
    raise ParameterError(
        name, "one price must be given: epsilon, epsilon and delta, rho, or price=sd.Pure(1)", got=amounts,
        why=WHY["price"],
        hint=CALLS[name],
    )  # fmt: skip


def _bounds(name: str, options: dict[str, Any]) -> tuple[float, float]:
    """The public bounds, as a pair or one by one."""
    pair = options.pop("bounds", None)
    ends = [options.pop(end, None) for end in ("low", "high")]
    if pair is not None and ends == [None, None]:
        try:
            low, high = pair
        except (TypeError, ValueError):
            raise ParameterError(
                name, "bounds must be two numbers", got={"bounds": pair}, hint=CALLS[name]
            ) from None
        return low, high
    if pair is not None or None in ends:
        raise ParameterError(name, "bounds must be given, once", why=WHY["low"], hint=CALLS[name])
    return ends[0], ends[1]


def _once(name: str, x: Any, options: Any, **fixed: Any) -> Release:
    """Release one statistic of one column from a ledger that is thrown away."""
    kind: type[Statistic] = catalogue.statistic(STATISTICS.get(name, name))
    own = {field.name for field in fields(kind) if field.init} - {"neighbors"}  # type: ignore[arg-type]
    given = dict(options)
    price, neighbors = _price(name, given), given.pop("neighbors", None)
    if "low" in own:
        given["low"], given["high"] = _bounds(name, given)
    asked = {key: given.pop(key) for key in list(given) if key in own}
    statistic = kind("x", **asked, **fixed)  # type: ignore[call-arg]
    people = session.open({"x": x}, budget=price, neighbors=neighbors, reason="a notebook")
    try:
        return replace(people.release(statistic, price, **given), ledger_id=None, token=None)
    finally:
        people.ledger.close()
