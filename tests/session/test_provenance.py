"""Which data an event speaks of: a public name and fingerprints, made of no value and no password."""

import numpy as np
import pytest

import sordino as sd
from sordino.session.provenance import provenance

COUNT = sd.Count("x")


def named(data, **options):
    return sd.open(data, budget=sd.Pure(3), **options).quote(COUNT, sd.Pure(1)).data


def test_an_event_names_its_data_by_name_columns_and_types():
    data = {"x": np.arange(5.0), "y": np.array(["a"] * 5)}
    first = named(data)
    assert first["name"] == "in memory"
    assert named({"y": data["y"], "x": data["x"]}) == first  # the order of the columns is nothing
    assert named({"x": data["x"] + 1, "y": np.array(["other"] * 5)}) == first  # nor are values
    assert named({"x": data["x"], "z": data["y"]})["schema"] != first["schema"]
    assert named({"x": data["x"], "y": data["x"]})["schema"] != first["schema"]
    assert named(data, data_name="people 2026") == {"name": "people 2026", "schema": first["schema"]}


def test_files_of_one_name_in_two_folders_are_two_datasets(tmp_path, monkeypatch):
    for year in ("2025", "2026"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "people.csv").write_text("x\n1\n2\n")
    first, second = (named(tmp_path / year / "people.csv") for year in ("2025", "2026"))
    assert first["name"] == second["name"] == "people.csv"
    assert first["schema"] == second["schema"]
    assert first["address"] != second["address"]
    assert str(tmp_path) not in str(first)
    monkeypatch.chdir(tmp_path / "2025")
    assert named("people.csv") == first


def test_an_address_gives_away_neither_user_nor_password():
    first = provenance("postgresql://me:hunter2@host/db?table=people", None)
    assert first["name"] == "people"
    assert provenance("postgresql://you:other@host/db?table=people&password=x", None) == first
    assert provenance("postgresql://me@elsewhere/db?table=people", None) != first
    assert provenance("postgresql://me@host/db?table=others", None) != first


def test_filtered_sessions_speak_of_the_same_data():
    people = sd.open({"x": np.arange(5.0)}, budget=sd.Pure(3))
    assert people.where(("x", ">", 2)).quote(COUNT, sd.Pure(1)).data == people.quote(COUNT, sd.Pure(1)).data


@pytest.mark.parametrize("name", ["", "x" * 201, "a\0b", 7])
def test_a_data_name_is_a_short_text(name):
    with pytest.raises(sd.ParameterError, match="data_name"):
        sd.open({"x": np.arange(5.0)}, budget=sd.Pure(3), data_name=name)


def test_a_release_keeps_the_name_through_json():
    release = sd.open({"x": np.arange(5.0)}, budget=sd.Pure(3), data_name="people").release(COUNT, sd.Pure(1))
    again = sd.Release.from_json(release.to_json())
    assert again == release
    assert again.event.data["name"] == "people"


def test_user_and_known_go_with_a_ledger_that_is_opened_here(tmp_path):
    people = sd.open({"x": np.arange(5.0)}, budget=sd.Pure(3), ledger=tmp_path / "a.ledger", user="alice")
    people.release(COUNT, sd.Pure(1), purpose="report")
    assert people.ledger.history[0].who["user"] == "alice"
    with pytest.raises(sd.ParameterError, match="belong to a ledger"):
        sd.open({"x": np.arange(5.0)}, ledger=people.ledger, user="bob")
    with pytest.raises(sd.LedgerDamaged, match="not the one"):
        sd.open({"x": np.arange(5.0)}, ledger=tmp_path / "a.ledger", known="9:ab").release(COUNT, sd.Pure(1))
