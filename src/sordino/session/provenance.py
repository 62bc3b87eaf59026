"""Which data an event speaks of: a public name, and fingerprints that tell one dataset from another.

Made of the address and of the names and types of columns alone, never of values. An address itself may hold the name of
a person's folder or a password, so that only its last part is shown and the whole stands as a hash.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sordino.ledger.entry import check_name

HERE = "in memory"
"""The name of data that have no address."""


def provenance(data: Any, source: Any, name: str | None = None) -> dict[str, str]:
    """Name data in public.

    Args:
        data: What was opened: a path, an address, or data in memory.
        source: The source that reads it; what its columns hold goes into the fingerprint of the schema.
        name: The public name, when one is given: it stands alone then, wherever the data lie.

    Example:
        >>> provenance({"age": [31, 45]}, None, "people 2026")
        {'name': 'people 2026'}
        >>> provenance("postgresql://me:secret@host/db?table=people", None)["name"]
        'people'
    """
    check_name("open", data_name=name)
    found = {"name": name} if name is not None else _address(data)
    kinds = getattr(source, "kinds", None)
    if isinstance(kinds, Mapping):
        found["schema"] = fingerprint(sorted((str(column), str(kind)) for column, kind in kinds.items()))
    return found


def fingerprint(facts: Any) -> str:
    """A short name of public facts: 64 bits of a SHA-256."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _address(data: Any) -> dict[str, str]:
    """The last part of an address, and the fingerprint of the whole without user and password."""
    if not isinstance(data, str | os.PathLike):
        return {"name": HERE}
    text = os.fspath(data)
    if not isinstance(text, str):
        text = os.fsdecode(text)
    if "://" in text:
        parts = urlsplit(text)
        options = dict(parse_qsl(parts.query))
        table = options.get("table") or parts.path.rpartition("/")[2]
        where = [parts.hostname or options.get("host"), parts.port or options.get("port"), parts.path, table]
        return {"name": (table or HERE)[:200], "address": fingerprint(where)}
    path = Path(text).absolute()
    return {"name": (path.name or HERE)[:200], "address": fingerprint(os.path.normpath(path))}
