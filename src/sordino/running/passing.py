"""A block on its way to its process: an open file in memory that nobody else sees, read without a copy.

The file holds how many rows there are, the names of the columns, the texts, and the bytes of the arrays.
"""

from __future__ import annotations

import mmap
import os
import pickle  # the only things read are those that `write` wrote
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.running.block import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = struct.Struct("<QQQ")
_POPULATED = getattr(mmap, "MAP_POPULATE", 0)  # all pages at once, instead of one fault for each


def write(block: Block) -> int:
    """An open file with the block; the caller closes it.

    Example:
        >>> file = write(Block({"x": np.array([1.0, 2.0]), "who": ["a", None]}, 2))
        >>> read(file).columns
        {'x': array([1., 2.]), 'who': ['a', None]}
    """
    arrays = [values for values in block.columns.values() if isinstance(values, np.ndarray)]
    texts = {name: values for name, values in block.columns.items() if not isinstance(values, np.ndarray)}
    held = pickle.dumps(texts, protocol=5) if texts else b""
    names = "\0".join(block.columns).encode()
    head = _HEAD.pack(block.rows, len(names), len(held)) + names + held
    head += bytes(-len(head) % 64)  # arrays start at multiples of what processors like
    made = os.memfd_create("block")
    try:
        _write_all(made, [head, *(np.ascontiguousarray(one).data for one in arrays)])
    except BaseException:
        os.close(made)
        raise
    return made


def _write_all(file: int, parts: Sequence[bytes | memoryview]) -> None:
    left = [memoryview(part).cast("B") for part in parts if len(part)]
    while left:
        done = os.writev(file, left[:1000])
        while left and done >= len(left[0]):
            done -= len(left.pop(0))
        if done:
            left[0] = left[0][done:]


def read(file: int) -> Block:
    """The block in a file, which is closed; its arrays are this process's own."""
    size = os.fstat(file).st_size
    held = mmap.mmap(file, size, flags=mmap.MAP_SHARED | _POPULATED, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    os.close(file)
    rows, length, more = _HEAD.unpack_from(held)
    texts = pickle.loads(held[_HEAD.size + length : _HEAD.size + length + more]) if more else {}  # noqa: S301
    place = -(-(_HEAD.size + length + more) // 64) * 64
    columns: dict[str, Any] = {}
    for name in held[_HEAD.size : _HEAD.size + length].decode().split("\0"):
        if name in texts:
            columns[name] = texts[name]
        else:
            columns[name] = np.frombuffer(held, np.float64, rows, place)
            place += 8 * rows
    return Block(columns, rows)
