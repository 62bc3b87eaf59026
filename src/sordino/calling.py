"""Wrong calls answered in our words: what is missing or unknown, why it is asked for, and a call that can be pasted.

Python's own TypeError names an ``__init__`` and gives no reason. A call that fits its signature is never touched, so
what goes wrong inside stays what it is.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABCMeta
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

from sordino.errors import ParameterError

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
    parameters = signature.parameters
    placed = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [
        p.name
        for p in parameters.values()
        if p.name != "self" and p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
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
            why=f"Its options are {', '.join(one for one in parameters if one != 'self')}.",
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


def explained(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose wrong calls are to be explained, by the name with which it is called."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def called(*given: P.args, **named: P.kwargs) -> R:
            try:
                return function(*given, **named)
            except TypeError:
                refusal = wrong_call(function.__name__, name, signature, given, named)
                if refusal is None:
                    raise
            raise refusal

        return called

    return decorate
