"""The keystream: uniform, never repeated, never seeded on a release path."""

import copy
import inspect
import os
import pickle
import threading

import numpy as np
import pytest
from scipy import stats

from sordino.errors import ParameterError
from sordino.exact import Bits, SeededBits, bits, draw, draw_many
from sordino.lattice import Lattice
from sordino.noise.laplace.sampler import LaplaceRecipe


def test_two_sources_never_agree_and_have_no_seed():
    assert not np.array_equal(Bits().words(4), Bits().words(4))
    assert list(inspect.signature(Bits).parameters) == []
    with pytest.raises(TypeError):
        Bits(7)


def test_words_are_uniform_bytes():
    octets = np.bincount(Bits().words(1 << 17).view(np.uint8), minlength=256)
    assert stats.chisquare(octets).pvalue > 1e-6
    biased = np.bincount(Bits().words(1 << 17).view(np.uint8) & 0xFE, minlength=256)
    assert stats.chisquare(biased).pvalue < 1e-6


def test_the_keystream_is_aes_256_in_counter_mode():
    """The first block is the encryption of the zero counter: checked against the block cipher itself."""
    import hashlib

    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = hashlib.sha256(b"sordino testing only 5 0").digest()
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    expected = block.update((0).to_bytes(16, "big")) + block.update((1).to_bytes(16, "big"))
    assert SeededBits(5).words(4).tobytes() == expected


def test_scalar_words_and_vector_words_do_not_overlap():
    source = SeededBits(3)
    seen = (
        [source.word() for _ in range(100)]
        + source.words(1000).tolist()
        + [source.word() for _ in range(100)]
    )
    assert len(set(seen)) == len(seen)


def test_long_requests_continue_the_stream():
    long = SeededBits(9).words(40_000)
    source = SeededBits(9)
    assert np.array_equal(np.concatenate([source.words(16_384), source.words(23_616)]), long)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_draws_other_words():
    source = Bits()
    source.word()  # the parent's buffer is full
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, source.word().to_bytes(8, "little", signed=True) + source.words(2).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(read, 24), dtype="<i8")
    os.close(read)
    os.close(write)
    ours = [source.word() for _ in range(64)] + source.words(64).tolist()
    assert not set(theirs.tolist()) & set(ours)


def test_threads_that_share_an_object_have_their_own_keys():
    source = Bits()
    found = {}
    gate = threading.Barrier(4)

    def work(name):
        gate.wait()
        found[name] = source.words(2000).tolist() + [source.word() for _ in range(100)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    words = [w for list_ in found.values() for w in list_]
    assert len(set(words)) == len(words)


def test_pickles_and_copies_carry_no_state():
    source = Bits()
    source.word()
    for twin in (pickle.loads(pickle.dumps(source)), copy.copy(source), copy.deepcopy(source)):
        assert isinstance(twin, Bits)
        assert twin.word() != source.word()
    assert len(pickle.dumps(source)) < 80  # nothing like a key or a buffer inside


def test_a_key_is_renewed_after_a_gibibyte(monkeypatch):
    monkeypatch.setattr(bits, "_REKEY_BYTES", 1024)
    source = SeededBits(1)
    words = source.words(100).tolist() + source.words(100).tolist()
    assert source._renewals == 1
    assert len(set(words)) == 200


@pytest.mark.statistical
def test_below_is_uniform_for_awkward_bounds():
    source = SeededBits(2)
    for bound in (1, 2, 3, 10, 1000):
        counts = np.bincount([source.below(bound) for _ in range(20_000)], minlength=bound)
        assert len(counts) == bound
        if bound > 1:
            assert stats.chisquare(counts).pvalue > 1e-6
    big = 3 << 100
    third = np.mean([source.below(big) < (1 << 100) for _ in range(3000)])
    assert abs(third - 1 / 3) < 0.05


def test_seeded_draws_are_marked_and_repeatable():
    assert not SeededBits(1).private
    assert Bits().private
    assert "NOT PRIVATE" in repr(SeededBits(1))
    options = {"scale": 3, "grid": Lattice.dyadic(-4)}
    assert draw(LaplaceRecipe(), location=0, bits=SeededBits(4), **options) == draw(
        LaplaceRecipe(), location=0, bits=SeededBits(4), **options
    )
    assert not np.array_equal(
        *(
            draw_many(LaplaceRecipe(), locations=0, scales=3, grid=Lattice.dyadic(-4), size=50)
            for _ in range(2)
        )
    )


def test_below_nothing_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Bits().below(0)


def test_a_lattice_can_be_imported_without_ball_arithmetic():
    import subprocess
    import sys

    code = "import sys, sordino.lattice, sordino.exact.functions; sys.exit('flint' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_many_uniform_integers_are_those_of_single_calls():
    """The same words in the same order, and the same words after them, whatever was left in the buffer."""
    rng = np.random.default_rng(0)
    for seed in range(40):
        many, single = SeededBits(seed), SeededBits(seed)
        for _ in range(3):
            bounds = [
                int(rng.integers(1, 2**62)) ** int(rng.integers(0, 6)) // 3 + 1
                for _ in range(rng.integers(90))
            ]
            assert many.below_each(bounds) == [single.below(bound) for bound in bounds]
            left = int(rng.integers(4))
            assert [many.word() for _ in range(left)] == [single.word() for _ in range(left)]
            assert many.words(3).tolist() == single.words(3).tolist()
    with pytest.raises(ParameterError, match="at least 1"):
        SeededBits(1).below_each([3, 0])
