"""The only randomness: an AES-256-CTR keystream under a fresh key from the operating system.

`Bits` serves releases and cannot be seeded; `SeededBits` is for tests and says so (`private` is False).
What is made of the bits (uniforms, draws, choices) lives in the other modules.
"""

from __future__ import annotations

import hashlib
import os
import threading
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sordino.errors import ParameterError
from sordino.exact.functions import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


# Words are little-endian signed 64-bit integers on every platform.
_WORD = np.dtype("<i8")
# A scalar release needs a few words; 32 of them are one cheap call to the cipher.
_BUFFERED_WORDS = 32
# Many at once read a megabyte at a time.
_CHUNKS = 1 << 12
# AES has 128-bit blocks: 2^26 of them under one key keep the distance to uniform bits below 2^-76.
_REKEY_BYTES = 1 << 30
_ZEROS = bytes(1 << 17)
_COUNTER_START = bytes(16)


def fresh_key() -> bytes:
    """A new key from the operating system."""
    return os.urandom(32)


class Bits(threading.local):
    """Cryptographic random words for one release call.

    Each thread that touches the object gets its own key, a forked child draws a new key before its first
    word, and pickling or copying transports no state at all. So no keystream is ever used twice.

    Example:
        >>> Bits().words(3).shape
        (3,)
        >>> Bits().private
        True
    """

    #: Releases made with these bits may be called private.
    private = True

    def __init__(self) -> None:
        self._start(fresh_key())

    def _start(self, key: bytes) -> None:
        """Begin a keystream; the key itself is not kept."""
        self._cipher = Cipher(algorithms.AES256(key), modes.CTR(_COUNTER_START)).encryptor()
        self._process = os.getpid()
        self._used = 0
        self._buffer: list[int] = []

    def _renew(self) -> None:
        """Take a new key: after a fork, or when one key has served long enough."""
        self._start(fresh_key())

    def _stream(self, count: int) -> NDArray[np.int64]:
        """Read `count` words of the keystream."""
        size = 8 * count
        if self._used + size > _REKEY_BYTES and self._used:
            self._renew()
        self._used += size
        room = np.empty(count + 2, dtype=_WORD)  # the cipher asks for one block more than it fills
        view = room.data.cast("B")
        for begin in range(0, size, len(_ZEROS)):
            part = min(len(_ZEROS), size - begin)
            self._cipher.update_into(
                _ZEROS if part == len(_ZEROS) else memoryview(_ZEROS)[:part], view[begin : begin + part + 15]
            )
        return room[:count]

    def words(self, count: int) -> NDArray[np.int64]:
        """Return `count` independent uniform 64-bit words as signed integers.

        Args:
            count: How many words.

        Returns:
            An array of int64, uniform on [-2^63, 2^63).
        """
        if self._process != os.getpid():
            self._renew()
        return self._stream(count)

    def word(self) -> int:
        """Return one uniform 64-bit word as a signed integer."""
        if self._process != os.getpid():
            self._renew()
        if not self._buffer:
            self._buffer = self._stream(_BUFFERED_WORDS).tolist()
        return self._buffer.pop()

    def below(self, bound: int) -> int:
        """Return an integer that is exactly uniform on 0, 1, ..., bound - 1.

        Rejection on the smallest sufficient number of bits: the accepted value is independent of the
        number of tries.

        Args:
            bound: A positive integer of any size.

        Returns:
            The integer.

        Example:
            >>> 0 <= Bits().below(10**30) < 10**30
            True
        """
        if bound < 1:
            raise ParameterError("bits", "bound must be at least 1", got={"bound": bound})
        size = (bound - 1).bit_length()
        count = -(-size // 64)
        while True:
            number = 0
            for word in self._few(count):
                number = (number << 64) | (word & 0xFFFFFFFFFFFFFFFF)
            number >>= 64 * count - size
            if number < bound:
                return number

    def _few(self, count: int) -> list[int]:
        """The next words, as `word` would give them one by one."""
        if self._process != os.getpid():
            self._renew()
        buffer, found = self._buffer, []
        for _ in range(count):
            if not buffer:
                buffer = self._buffer = self._stream(_BUFFERED_WORDS).tolist()
            found.append(buffer.pop())
        return found

    def below_each(self, bounds: Sequence[int]) -> list[int]:
        """What `below` would return for one bound after the other, in a fraction of the time.

        Words that are needed for certain are read at once, in the order in which single calls would read them.

        Args:
            bounds: Positive integers of any size.

        Returns:
            As many integers.

        Example:
            >>> one, other = SeededBits(1), SeededBits(1)
            >>> one.below_each([10, 10**30]) == [other.below(10), other.below(10**30)]
            True
        """
        if min(bounds, default=1) < 1:
            raise ParameterError("bits", "bound must be at least 1", got={"bound": min(bounds)})
        if self._process != os.getpid():
            self._renew()
        sizes = [(bound - 1).bit_length() for bound in bounds]
        needed = sum(-(-size // 64) for size in sizes)  # words that are still to be read, whatever they are
        ready, at = np.array(self._buffer[::-1], ">i8").tobytes(), 0
        found = []
        for bound, size in zip(bounds, sizes, strict=True):
            count = -(-size // 64)
            length, spare = 8 * count, 64 * count - size
            while True:
                if at + length > len(ready):
                    ready, at = ready[at:] + self._ahead(needed - (len(ready) - at) // 8), 0
                number = int.from_bytes(ready[at : at + length], "big") >> spare
                at += length
                if number < bound:
                    break
            needed -= count
            found.append(number)
        self._buffer = np.frombuffer(ready[at:], ">i8")[::-1].tolist()
        return found

    def _ahead(self, count: int) -> bytes:
        """At least the next words, as `word` gives them, in as many calls of the cipher as that takes."""
        chunks = min(-(-count // _BUFFERED_WORDS), _CHUNKS)
        words = self._stream(chunks * _BUFFERED_WORDS).reshape(chunks, _BUFFERED_WORDS)
        return words[:, ::-1].astype(">i8").tobytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SeededBits(Bits):
    """Reproducible words FOR TESTING ONLY: anyone who knows the seed can subtract the noise.

    Releases made with it are NOT PRIVATE; release code reads `private` and prints that.

    Example:
        >>> SeededBits(7).word() == SeededBits(7).word()
        True
        >>> SeededBits(7).private
        False
    """

    private = False

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._renewals = 0
        self._restart()

    def _restart(self) -> None:
        text = f"sordino testing only {self._seed} {self._renewals}"
        self._start(hashlib.sha256(text.encode()).digest())

    def _renew(self) -> None:
        """A forked child repeats nothing: its stream is the next one of the seed."""
        self._renewals += 1
        self._restart()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._seed,)

    def __repr__(self) -> str:
        return f"SeededBits({self._seed}, NOT PRIVATE)"


# Relative error of a float weight: 2^-47 for exp, 700 * 2^-52 for its argument, 2^-46 for 1 - exp(-rate).
_WEIGHT_ERROR = 2.0**-41
# Below this share of all mass a sum of weights may have lost terms to underflow: balls decide.
_LEAST = 2.0**-900
_SIGN = np.uint64(1 << 63)


class Ladder:
    """The public weights ``exp(-rate l)`` of the levels ``l = 0, 1, ..., size - 1``.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> ladder = Ladder.of(Fraction(3), 2)
        >>> masses = np.array([[0.0, 1.0], [1.0, 1.0]])
        >>> exact = [[0, 1], [1, 1]]
        >>> ladder.choose(masses, error=0.0, spare=0.0, exact=exact.__getitem__, bits=SeededBits(1)).tolist()
        [1, 0]
    """

    __slots__ = ("_falls", "_weights", "rate", "size")

    def __init__(self, rate: Fraction, size: int) -> None:
        if rate < 0 or size < 1:
            raise ParameterError("ladder", "rate must not be negative and there must be a level")
        self.rate, self.size = Fraction(rate), size
        step = float(self.rate)
        self._weights = ARRAYS.exp(np.arange(size) * -step)
        # exp(-rate l) - exp(-rate (l + 1)) as a product: a difference of floats would cancel.
        self._falls = self._weights * -float(ARRAYS.expm1(np.array([-step]))[0])

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, rate: Fraction, size: int) -> Ladder:
        """The table for a rate and a number of levels, kept for the next time."""
        return cls(rate, size)

    def choose(
        self,
        masses: NDArray[np.float64],
        *,
        error: float,
        spare: float,
        exact: Callable[[int], Sequence[int]],
        bits: Bits,
    ) -> NDArray[np.int64]:
        """Choose a level in every row with probability ``~ (masses[l] - masses[l - 1]) exp(-rate l)``, exactly.

        Args:
            masses: Per row the mass of all answers up to each level, non-decreasing, in units of all mass there is.
            error: Relative error of each mass.
            spare: Absolute error of each mass, on top of it.
            exact: The exact masses of one row, as integers on any scale; asked only when floats do not decide.
            bits: A source of random words: one word per row, more where a row asks for them.

        Returns:
            The level of each row.
        """
        words = bits.words(len(masses))
        # Summed by parts all terms are positive: sum_j<l m_j (q_j - q_j+1) + m_l q_l, so nothing cancels.
        before = np.cumsum(masses * self._falls, axis=1)
        borders = masses * self._weights
        borders[:, 1:] += before[:, :-1]
        total = borders[:, -1]
        target = (words.astype(np.int64).view(np.uint64) ^ _SIGN).astype(np.float64) * 2.0**-64 * total
        slack = (2 * (_WEIGHT_ERROR + error) + (self.size + 16) * 2.0**-51) * total + 4 * spare
        level: NDArray[np.int64] = np.count_nonzero(borders <= target[:, None], axis=1)
        rows = np.arange(len(masses))
        above = borders[rows, np.minimum(level, self.size - 1)]
        below = borders[rows, np.maximum(level, 1) - 1]
        sure = (level < self.size) & (target < above - slack) & ((level == 0) | (target > below + slack))
        sure &= total > _LEAST
        for row in np.flatnonzero(~sure).tolist():
            level[row] = self._settle(exact(row), int(words[row]), bits)
        return level

    def _settle(self, masses: Sequence[int], word: int, bits: Bits) -> int:
        """Decide one row in balls, with the word that it has already."""
        from sordino.exact.choice import CellWeights, choose_exactly
        from sordino.exact.uniforms import LazyUniform

        gains = [mass - before for mass, before in zip(masses, [0, *masses[:-1]], strict=True)]
        return choose_exactly(CellWeights(gains, range(self.size), self.rate), LazyUniform(word, bits))
