"""Tests Sordino in fresh environments: `make compatibility`, or `python .ci/compatibility.py NAME ...` for some.

* oldest: the lowest version of every direct dependency that pyproject.toml allows, on the oldest Python.
* newest: the highest versions, on every other Python that is installed here; `make test` covers the one of .venv.
* bare: no extra at all. The README's own lines run, word for word.

Each installs the wheel, not the checkout, so that what is tested is what people get. uv resolves and installs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
QUICK = (
    "tests/session",
    "tests/privacy",
    "tests/noise",
    "tests/data/test_law.py",
    "tests/data/test_frames.py",
    "tests/data/test_files.py",
    "tests/ledger/test_ledger.py",
    "tests/exact/test_exactness.py",
    "tests/geo/test_reports.py",
    "tests/cli/test_release.py",
    "tests/cli/test_plan.py",
)
"""Something of everything that a dependency could break: engines, frames, servers, samplers, pictures, click."""


def interpreter(version: str) -> str | None:
    """Find a Python of this version: on the path, or among pyenv's."""
    shelves = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    beside = sorted(shelves.glob(f"{version}.*/bin/python"), reverse=True)
    for place in (shutil.which(f"python{version}"), sys.executable, *map(str, beside)):
        if place is not None and _says(place) == version:
            return place
    return None


def _says(place: str) -> str | None:
    """Ask an interpreter for its version; a shim may stand for one that is not there."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    said = subprocess.run([place, "-c", asked], check=False, capture_output=True, text=True)
    return said.stdout.strip() if said.returncode == 0 else None


def uv() -> str:
    """The uv of this environment, or the one on the path."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        sys.exit("uv is missing: python -m pip install --group ci")
    return found


def environment(folder: Path, python: str, *what: str) -> str:
    """Make an environment with these packages and return its Python."""
    subprocess.run([uv(), "venv", "--quiet", "--python", python, folder], check=True)
    own = str(folder / "bin" / "python")
    subprocess.run([uv(), "pip", "install", "--quiet", "--python", own, *what], check=True, cwd=ROOT)
    return own


def tested(folder: Path, python: str, wheel: Path, *options: str, resolution: str) -> None:
    """Install with all extras at a resolution and run the quick tests."""
    # Below what the test group asks for nothing is promised, but its own lowest versions are tried as well.
    own = environment(folder, python, "--resolution", resolution, f"{wheel}[all]", "--group", "test")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([own, "-m", "pytest", "-n", "2", *options, *QUICK], check=True, cwd=ROOT, env=clean)


def bare(folder: Path, python: str, wheel: Path) -> None:
    """Install without extras and run what the README says."""
    own = environment(folder, python, str(wheel))
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([own, ROOT / ".ci" / "readme.py"], check=True, cwd=folder, env=clean)


def main(names: list[str]) -> None:
    """Run all environments, or those whose names begin with one of these words."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = {version: place for version in PYTHONS if (place := interpreter(version))}
    for version in PYTHONS:
        if version not in found:
            print(f"Python {version} is not installed here: not tested", flush=True)
    with tempfile.TemporaryDirectory(prefix="sordino-compatibility-") as place:
        work = Path(place)
        subprocess.run([uv(), "build", "--quiet", "--wheel", "--out-dir", work, ROOT], check=True)
        (wheel,) = work.glob("*.whl")
        oldest, *_, newest = found
        tasks = {
            f"bare, Python {newest}": lambda at: bare(at, found[newest], wheel),
            # Old versions may warn of what newer ones have changed.
            f"oldest, Python {oldest}": lambda at: tested(
                at, found[oldest], wheel, "-W", "default", resolution="lowest-direct"
            ),
        }
        for version, python in found.items():
            if version != here:
                tasks[f"newest, Python {version}"] = lambda at, python=python: tested(
                    at, python, wheel, resolution="highest"
                )
        chosen = [name for name in tasks if not names or any(name.startswith(one) for one in names)]
        for number, name in enumerate(chosen):
            print(f"== {name}", flush=True)
            clock = time.monotonic()
            try:
                tasks[name](work / str(number))
            except subprocess.CalledProcessError as failed:
                sys.exit(f"== {name}: failed ({' '.join(map(str, failed.cmd[:4]))} ...)")
            print(f"== {name}: {time.monotonic() - clock:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
