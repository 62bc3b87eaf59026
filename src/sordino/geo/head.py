"""The head of a file of reports, and the names of mechanisms: what two ends of a wire agree on.

A name is the beginning of a SHA-256 over the head itself, coordinate reference included, so that reports about
different ground, in different units or at different prices can never be added up by mistake.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, TypeAlias

from sordino.errors import DataError

if TYPE_CHECKING:
    from sordino.geo.blocks import BlockMechanism
    from sordino.geo.mechanism import QueryMechanism
    from sordino.geo.points import Points

    AnyMechanism: TypeAlias = "QueryMechanism" | "BlockMechanism" | "Points"

POINT = "sordino.geo.point"
REPORT = "sordino.geo.report"
VERSION = 2
_DIGITS = 32


def version_of(wire_format: str) -> int:
    """The version that this library writes and reads: the same for both formats."""
    assert wire_format in {POINT, REPORT}
    return VERSION


def canonical(record: dict[str, Any]) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces: the same bytes in every language.

    Example:
        >>> canonical({"b": [1, 2], "a": "x"})
        b'{"a":"x","b":[1,2]}'
    """
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def identity(record: dict[str, Any]) -> str:
    """Name a head: the first 32 hexadecimal digits of the SHA-256 of all of it but the name.

    Example:
        >>> len(identity({"format": "sordino.geo.point"}))
        32
    """
    rest = {key: value for key, value in record.items() if key != "id"}
    return hashlib.sha256(canonical(rest)).hexdigest()[:_DIGITS]


class Headed:
    """A mechanism that is named by all that it says of itself in public; subclasses say it."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Give a record of all public numbers."""
        raise NotImplementedError

    def head(self) -> dict[str, Any]:
        """Give what stands at the head of a file of reports; its id names the mechanism."""
        record = {"format": REPORT, "version": VERSION, "mechanism": self.to_dict()}
        return {**record, "id": identity(record)}

    @property
    def id(self) -> str:
        """Thirty-two hexadecimal digits that name query, price, reference and mechanism on the wire."""
        return str(self.head()["id"])


def mechanism_from(head: Any) -> AnyMechanism:
    """Make the mechanism that a head describes, and refuse a head that is not its own description.

    Example:
        >>> from sordino.geo import Points, Reference
        >>> from sordino.privacy import Geo
        >>> made = Points(Reference.flat(low=0, high=10**6, unit="dollar"), Geo(1, per=12_000))
        >>> mechanism_from(made.head()).id == made.id
        True
    """
    if not isinstance(head, dict) or head.get("format") not in {POINT, REPORT}:
        raise DataError("reports", "the head of the file describes no mechanism")
    refuse_other_versions(head.get("version"))
    if head["format"] == POINT:
        from sordino.geo.points import Points

        return Points.from_head(head)
    return _question(head)


def refuse_other_versions(version: Any) -> None:
    """Raise if a head is of another version; the message names it."""
    if version == VERSION and not isinstance(version, bool):
        return
    raise DataError(
        "reports",
        f"the file is of version {version!r}, this library reads version {VERSION}"
        if isinstance(version, int)
        else "the head names no version",
        got={"version": version},
        why="In version 1 the coordinate reference was no part of a mechanism's name: such reports are not added up."
        if version == 1
        else "",
        hint="ask the devices again with a head of this version, or read the file with the release that wrote it",
    )


def _question(head: dict[str, Any]) -> AnyMechanism:
    from sordino.geo.mechanism import QueryMechanism
    from sordino.geo.query import Query
    from sordino.geo.reference import reference_from
    from sordino.geo.reporting import mechanism_for
    from sordino.privacy import Geo, Guarantee

    try:
        inner = head["mechanism"]
        if inner.get("noise") == "blocks":
            price = Guarantee.from_dict(inner["price"])
            assert isinstance(price, Geo)
            known = inner["reference"]
            made: Any = mechanism_for(
                Query.from_dict(inner["query"]),
                price,
                reference=None if known is None else reference_from(known),
            )
        else:
            made = QueryMechanism.from_dict(inner)
    except (KeyError, TypeError, AttributeError, AssertionError, ZeroDivisionError) as error:
        raise DataError("reports", "the head of the file describes no mechanism") from error
    if made.head() != head:
        raise DataError(
            "reports", "the head's numbers do not fit its id", got={"id": head.get("id"), "expected": made.id}
        )
    found: AnyMechanism = made
    return found
