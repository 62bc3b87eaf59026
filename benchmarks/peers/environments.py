"""A virtual environment for every library, outside the repository; and the snapshot of our own code that is measured.

Libraries pin each other's dependencies apart, so no two share an environment. One that cannot be made is reported, not
skipped.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.libraries import OURS, PEERS

REPOSITORY = Path(__file__).resolve().parents[2]
ASIDE = ("cli", "web", "papers", "planner", "geo", "smoothed", "audit", "plots.py", "__pycache__")


class EnvironmentFailed(Exception):
    """An environment could not be made; the message says why and what to do."""


def cache_folder():
    """Where environments and answers are kept: `SORDINO_PEERS`, or the user's cache folder."""
    chosen = os.environ.get("SORDINO_PEERS")
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(chosen) if chosen else home / "sordino" / "peers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """How to run one library's adapter, and what exactly is installed."""

    library: str
    python: str
    version: str
    path: str | None = None

    def command(self, script, *words):
        """The command line of a script in this environment."""
        return [self.python, str(script), *words]

    def variables(self):
        """Environment variables: one thread, and for Spark the very interpreter."""
        found = dict(os.environ, OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1", PYSPARK_PYTHON=self.python)
        found.pop("PYTHONPATH", None)
        if self.path:
            found["PYTHONPATH"] = self.path
        return found


def interpreter():
    """A Python 3.11: the newest that every library has wheels for."""
    for name in (sys.executable, "python3.11"):
        found = shutil.which(name)
        if not found:
            continue
        ask = [found, "-c", "import sys; print(*sys.version_info[:2], sys.base_prefix + '/bin/python3')"]
        told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.split()
        if told[:2] == ["3", "11"]:
            return told[2] if Path(told[2]).exists() else found
    raise EnvironmentFailed("no Python 3.11 was found. Hint: put one on PATH; the peers have wheels for it.")


def installed(python):
    """Names and versions of all that is installed, as pip tells them."""
    told = subprocess.run(
        [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {one["name"].lower(): one["version"] for one in json.loads(told.stdout)}


def make(library, cache, *, say=print):
    """Make the environment of a peer unless it is there, and check that the library imports."""
    if library.needs and not shutil.which(library.needs):
        raise EnvironmentFailed(
            f"{library.name} needs {library.needs}, which is not on PATH. Hint: apt install openjdk-17-jre-headless"
        )
    place = Path(cache) / "environments" / library.name
    python, ready = place / "bin" / "python", place / "ready.json"
    if ready.exists() and json.loads(ready.read_text())["requirements"] == list(library.requirements):
        return _read(library, python, ready)
    say(f"{library.name}: making an environment ({', '.join(library.requirements)})")
    if not python.exists():
        _run([interpreter(), "-m", "venv", str(place)], library)
    _run([str(python), "-m", "pip", "install", "--quiet", *library.requirements], library)
    _run([str(python), "-c", f"import {library.module}"], library)
    described = {"requirements": list(library.requirements), "installed": installed(str(python))}
    ready.write_text(json.dumps(described, indent=1))
    return _read(library, python, ready)


def _read(library, python, ready):
    described = json.loads(ready.read_text())["installed"]
    named = [word.split("==")[0].split("<")[0].split("[")[0].lower() for word in library.requirements]
    version = ", ".join(f"{name} {described[name]}" for name in named if name in described)
    return Environment(library=library.name, python=str(python), version=version)


def _run(command, library):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentFailed(f"{library.name}: `{' '.join(command[-3:])}` failed: {last[0][:200]}")


def ours(cache, key=None):
    """A copy of our committed code, so that edits during a run do not mix; named by what of it can change an answer.

    Args:
        cache: The cache folder.
        key: The name of a copy that was made earlier; without one, the code of today.
    """
    if key is None:
        listing = _git("ls-tree", "HEAD", "src/sordino/").splitlines()
        kept = [line for line in listing if Path(line.split("\t")[1]).name not in ASIDE]
        key = hashlib.sha256("\n".join(kept).encode()).hexdigest()[:12]
    place = Path(cache) / "snapshots" / key
    named = place / "version.txt"
    if not named.exists():
        place.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(
            ["git", "archive", "HEAD", "src"], cwd=REPOSITORY, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", str(place)], input=archive.stdout, check=True)
        commit = _git("log", "-1", "--format=%h", "HEAD", "--", "src/sordino").strip()
        named.write_text(f"sordino {commit} ({key})")
    path = str(place / "src")
    return Environment(library=OURS.name, python=sys.executable, version=named.read_text(), path=path)


def _git(*words):
    return subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def every(cache, names=None, *, say=print):
    """Environments by name, and for those that could not be made the reason."""
    made, failed = {}, {}
    for name in PEERS if names is None else names:
        try:
            made[name] = make(PEERS[name], cache, say=say)
        except EnvironmentFailed as error:
            failed[name] = str(error)
            say(f"{name}: not available: {error}")
    return made, failed
