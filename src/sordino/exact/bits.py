"""The only randomness: an AES-256-CTR keystream under a fresh key from the operating system.

`Bits` serves releases and cannot be seeded; `SeededBits` is for tests and says so (`private` is False).
What is made of the bits (uniforms, draws, choices) lives in the other modules.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Words are little-endian signed 64-bit integers on every platform.
_WORD = np.dtype("<i8")
# A scalar release needs a few words; 32 of them are one cheap call to the cipher.
_BUFFERED_WORDS = 32
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
            for _ in range(count):
                number = (number << 64) | (self.word() & 0xFFFFFFFFFFFFFFFF)
            number >>= 64 * count - size
            if number < bound:
                return number

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
