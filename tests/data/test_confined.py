"""A Parquet source opens its own files and nothing else, and nothing turns that off again."""

import gc
import os
import stat
from pathlib import Path

import pytest

import sordino as sd

duckdb = pytest.importorskip("duckdb")
NAME = "it's, one.parquet"


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A session on a file whose name has signs of its own, by a relative path; another file lies beside it."""
    monkeypatch.chdir(tmp_path)
    for name in (NAME, "other.parquet"):
        duckdb.sql("select range % 90 as age from range(400)").write_parquet(name)
    return sd.open(NAME, budget=sd.Pure(100))


def engine_of(people):
    return people._source._home


def test_its_own_files_are_read(people):
    assert people.release(sd.Count("age"), sd.Pure(50)).value == pytest.approx(400, abs=10)
    assert engine_of(people).connection.execute("select 1").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "statement",
    [
        "from 'other.parquet'", "from read_csv('/etc/passwd')", "from read_text('/etc/hostname')",
        "from glob('/etc/*')",
        "from 'http://127.0.0.1:9/x.parquet'", "from 's3://bucket/x.parquet'", "install httpfs", "load httpfs",
        "attach 'other.db'", "copy (select 1) to 'out.csv'", "set enable_external_access = true",
        "set lock_configuration = false", "reset lock_configuration", "set allowed_paths = ['/etc/passwd']",
        "set temp_directory = '/tmp'", "set autoload_known_extensions = true",
    ],
)  # fmt: skip
def test_everything_else_is_refused(people, statement):
    with pytest.raises(duckdb.Error, match=r"(?i)permission|cannot change|disabled|locked"):
        engine_of(people).connection.execute(statement)
    assert not Path("out.csv").exists()


def test_what_is_spilled_is_for_this_user_alone_and_goes_away(people):
    connection = engine_of(people).connection
    (folder,) = connection.execute(
        "select value from duckdb_settings() where name = 'temp_directory'"
    ).fetchone()
    assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
    assert Path(folder).parent == Path(os.environ.get("TMPDIR", "/tmp"))
    del connection
    people._source = None
    gc.collect()
    assert not Path(folder).exists()
