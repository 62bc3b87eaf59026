"""The exception tree, and the one builder of messages.

    SordinoError
    ├── ParameterError     a parameter is out of its domain: change it            (also a ValueError)
    ├── DataError          the schema does not fit the request: change the source (also a ValueError)
    ├── Unsupported        no theorem covers the combination: take a named alternative
    ├── BudgetExceeded     the ledger refuses: ask for less or raise the ceiling
    ├── LedgerError        the book is damaged or unreachable
    ├── AuditFailed        a claim was refuted
    └── MissingExtra       an optional dependency is not installed: install it    (also an ImportError)

A message has three lines: subject, rule and what was given; why; a hint that can be pasted.
It echoes parameters, never data.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any


def spell(value: object) -> str:
    """Write a parameter as a person would type it: exact fractions as short decimals where possible."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and _beyond(value):
        return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():.6g}"
    if isinstance(value, Fraction):
        as_float = float(value)
        if value.denominator == 1:
            return str(value.numerator)
        text = repr(as_float)
        return text if Fraction(text) == value and len(text) <= 12 else f"{as_float:.6g}"
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return repr(value.item())
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _beyond(value: int | Fraction) -> bool:
    """Whether a number is too large or too small for a float."""
    size = abs(value.numerator).bit_length() - value.denominator.bit_length()
    return value != 0 and not -1000 < size < 1000


class SordinoError(Exception):
    """Base of every error that a user can act on.

    Args:
        subject: What was asked: a noise family, a statistic, a command.
        rule: What must hold, as a clause: ``"high must be greater than low"``.
        got: The offending parameters by name; kept as the attribute ``got``.
        why: One clause on why the rule exists.
        hint: Something that can be pasted.

    Example:
        >>> print(ParameterError("median", "high must be greater than low", got={"low": 10, "high": 10},
        ...                      why="The range is public.", hint="low=0, high=500000"))
        median: high must be greater than low, got low=10, high=10.
            The range is public.
            Hint: low=0, high=500000
    """

    def __init__(
        self,
        subject: str,
        rule: str,
        *,
        got: dict[str, Any] | None = None,
        why: str = "",
        hint: str = "",
    ) -> None:
        self.subject = subject
        self.rule = rule
        self.got = dict(got or {})
        self.why = why
        self.hint = hint
        head = f"{subject}: {rule}"
        if self.got:
            head += ", got " + ", ".join(f"{name}={spell(value)}" for name, value in self.got.items())
        lines = [head if head.endswith(".") else head + "."]
        if why:
            lines.append(f"    {why}")
        if hint:
            lines.append(f"    Hint: {hint}")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.subject, self.rule, self.got, self.why, self.hint)


def _rebuild(
    kind: type[SordinoError], subject: str, rule: str, got: dict[str, Any], why: str, hint: str
) -> SordinoError:
    """Unpickle an error (worker processes send them home)."""
    return kind(subject, rule, got=got, why=why, hint=hint)


class ParameterError(SordinoError, ValueError):
    """A parameter is outside its domain."""


class DataError(SordinoError, ValueError):
    """The schema of the data does not fit the request; raised before anything is spent."""


class Unsupported(SordinoError):
    """No theorem covers the combination that was asked for; the hint names what would work."""


class BudgetExceeded(SordinoError):
    """The ledger has not enough left."""


class LedgerError(SordinoError):
    """The ledger is damaged, unreachable or used in a way that would break its promises."""


class AuditFailed(SordinoError):
    """An audit refuted a claim."""


class MissingExtra(SordinoError, ImportError):
    """An optional dependency is not installed."""

    @classmethod
    def named(cls, subject: str, package: str, extra: str) -> MissingExtra:
        """Build the message that names the install command."""
        return cls(
            subject,
            f"needs the package {package}, which is not installed",
            why=f"It belongs to the optional extra {extra!r}.",
            hint=f"pip install 'sordino[{extra}]'",
        )
