"""Records are written in one way only, whichever of the two writers is the quicker one."""

import json

import pytest

from sordino.ledger.chain import FIRST, ChainRow, canonical, digest
from sordino.privacy import Approx, Guarantee, Pure

TEXTS = ("", "plain", 'a "quoted" word', "back\\slash", "line\nbreak\x00\x7f", "ü – \U0001f600", "\ud800")


def plainly(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@pytest.mark.parametrize(
    "value",
    [{}, {"b": "2", "a": "1"}, {"b": 2, "a": "1"}, {"a": True}, {"a": 1.0}, {"a": None}, {"a": {"b": "c"}}]
    + [{one: other} for one in TEXTS for other in TEXTS],
    ids=repr,
)
def test_records_are_written_as_json_writes_them(value):
    assert canonical(value) == plainly(value)


@pytest.mark.parametrize("text", TEXTS[:-1])
def test_rows_are_hashed_as_lists(text):
    import hashlib

    for parts in ((1, 0, "open", text, text), (1, True, text), (None, text), (text,), (2.0, text)):
        assert digest(*parts) == hashlib.sha256(plainly(list(parts)).encode()).hexdigest()


def test_a_row_with_bytes_is_not_sealed():
    row = ChainRow.after(None, "open", "token", {"a": "b"}, spent="0", ceiling="1", at="now")
    assert row.sealed
    assert row.before == FIRST
    broken = ChainRow(*(getattr(row, name) if name != "token" else b"token" for name in ChainRow.__slots__))
    assert not broken.sealed


def test_prices_of_equal_records_are_equal_and_others_are_not():
    for price in (Pure(0.1), Pure(1), Approx(1, 1e-6)):
        record = price.to_dict()
        assert Guarantee.from_dict(record) == Guarantee.from_dict(dict(reversed(record.items()))) == price
    assert Guarantee.from_dict({"kind": "pure", "epsilon": 1}) == Pure(1)
    with pytest.raises(KeyError):
        Guarantee.from_dict({"kind": "pure", "rho": "1"})
