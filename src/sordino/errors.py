"""The exception tree, and the one builder of messages.

    SordinoError
    ├── ParameterError     a parameter is out of its domain: change it            (also a ValueError)
    ├── DataError          the schema does not fit the request: change the source (also a ValueError)
    ├── Unsupported        no theorem covers the combination: take a named alternative
    ├── BudgetExceeded     the ledger refuses: ask for less or raise the ceiling
    │   └── LimitExceeded  the share of a person or of a dataset is used up, whatever the ceiling has left
    ├── LedgerError        the ledger refuses, is absent or cannot be reached
    │   ├── LedgerDamaged  the ledger is not as it was written: nothing is released from it
    │   ├── Frozen         the ledger, a dataset or a person is frozen, or the ledger is closed
    │   ├── TokenUsed      the token has paid for another question: use a new one
    │   ├── NotApproved    somebody else must approve the question first
    │   └── Unanswered     paid for, and no answer was drawn: ask again with the token
    ├── AuditFailed        a claim was refuted
    └── MissingExtra       an optional dependency is not installed: install it    (also an ImportError)

A message has three lines: subject, rule and what was given; why; a hint that can be pasted.
It echoes parameters, never data.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

_PASSWORD = re.compile(r"(?i)([a-z][a-z0-9+.-]*:/+[^/?#\s@:]*):[^\s]*@")
_ADDRESS = re.compile(
    r"(?is)(\s*[a-z][a-z0-9+.-]*:/+[^/?#@:]*):.*@"
)  # the whole text is one: blanks belong to it
_SECRET = re.compile(r"(?i)((?:ssl)?password\s*=\s*)[^&\s]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def without_secrets(text: str) -> str:
    r"""A text that may be shown: passwords in addresses are left out, control characters are escaped.

    Example:
        >>> print(without_secrets("Postgresql://me:secret@host/db?password=secret \x1b[2J"))
        Postgresql://me@host/db?password=... \x1b[2J
    """
    text = _SECRET.sub(r"\1...", _PASSWORD.sub(r"\1@", text))
    return _CONTROL.sub(
        lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text
    )


def spell(value: object) -> str:
    """Write a parameter as a person would type it: exact fractions as short decimals where possible.

    Example:
        >>> spell(Fraction(1, 10)), spell(10**400), spell("x" * 100)[-6:]
        ('0.1', '1e+400', 'xxx...')
    """
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and _beyond(value):
        return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():.6g}"
    if isinstance(value, Fraction):
        return _spell_fraction(value)
    if isinstance(value, str):
        value = _SECRET.sub(r"\1...", _PASSWORD.sub(r"\1@", _ADDRESS.sub(r"\1@", value)))
    elif hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  objects say of themselves what they like
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def _spell_fraction(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    as_float = float(value)
    text = repr(as_float)
    exact = len(text) <= 12 and Decimal(text).as_integer_ratio() == value.as_integer_ratio()
    return text if exact else f"{as_float:.6g}"


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
        self.subject, self.rule, self.why, self.hint = map(without_secrets, (subject, rule, why, hint))
        self.got = dict(got or {})
        head = f"{self.subject}: {self.rule}"
        if self.got:
            head += ", got " + ", ".join(f"{name}={spell(value)}" for name, value in self.got.items())
        lines = [head if head.endswith(".") else head + "."]
        if why:
            lines.append(f"    {self.why}")
        if hint:
            lines.append(f"    Hint: {self.hint}")
        super().__init__("\n".join(lines))

    def bare(self) -> SordinoError:
        """The same message on a new error, without what the old one was raised from."""
        return _rebuild(type(self), self.subject, self.rule, self.got, self.why, self.hint)

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


class LimitExceeded(BudgetExceeded):
    """A share of the budget, of a person or of a dataset, has not enough left."""


class LedgerError(SordinoError):
    """The ledger is absent, unreachable or used in a way that would break its promises."""


class LedgerDamaged(LedgerError):
    """The ledger is not as it was written: a row was changed, is missing, or an older copy was put back."""


class Frozen(LedgerError):
    """The ledger, a dataset or a person is frozen, or the ledger is closed: nothing is spent for now."""


class TokenUsed(LedgerError):
    """A token has paid for another question, or about other data."""


class NotApproved(LedgerError):
    """Somebody else must approve the question before it is paid."""


class Unanswered(LedgerError):
    """A release was paid for and has no answer; asked again with its token it costs nothing."""


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
