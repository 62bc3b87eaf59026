"""Rows in an engine elsewhere, which cuts the blocks itself: they come one by one, or run where they are.

Who is in which block is decided by a keyed hash of a person's name; the key is fresh, secret and not kept. Everything
here is private but the contract.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from sordino.running.block import Block

if TYPE_CHECKING:
    from typing import Any

    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits, Values


class FarRows(ABC):
    """Rows that are not here."""

    @abstractmethod
    def values(
        self, function: bytes, task: Task, limits: ProcessLimits, *, blocks: int, key: bytes, fixed: bool
    ) -> Iterator[tuple[int, Values]]:
        """The numbers of every block that has a row, with the block's own number.

        Args:
            function: The pickled function.
            task: What is done with a block.
            limits: How.
            blocks: How many blocks people are dealt into.
            key: Fresh secret bytes, which decide who is in which block.
            fixed: The number of rows is public, and a row is a person: blocks are of one size.
        """


def seed_of(key: bytes, block: int) -> int:
    """The seed of a block: the same whenever and wherever it runs.

    Example:
        >>> seed_of(b"secret", 3) == seed_of(b"secret", 3) != seed_of(b"secret", 4)
        True
    """
    return int.from_bytes(
        hashlib.blake2b(block.to_bytes(8, "big"), key=key[:64], digest_size=8).digest(), "big"
    )


def plain_block(columns: dict[str, list[Any]], numeric: Callable[[str], bool]) -> Block:
    """A block of plain values: doubles, or texts where the column is one of texts by its declared type.

    Example:
        >>> plain_block({"x": [1, None], "w": ["a", None]}, lambda name: name == "x").columns
        {'x': array([ 1., nan]), 'w': ['a', None]}
    """
    plain: dict[str, Any] = {}
    for name, values in columns.items():
        if numeric(name):
            plain[name] = np.array([np.nan if one is None else one for one in values], np.float64)
        else:
            plain[name] = [None if one is None else str(one) for one in values]
    return Block(plain, len(next(iter(columns.values()))))
