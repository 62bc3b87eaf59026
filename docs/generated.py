"""Which pictures and pages are generated, by which command, and whether they are current: `make generated`.

A generated file is current while every function that ran when it was made is still in our source, wherever it moved:
docs/generated.json holds a digest of each (docs/traced.py), without comments, docstrings and imports. Files that were
made before functions were traced are held against all modules that their command can reach, which is more than it runs.
Some commands run for hours, so this is asked before a release and not by the tests.

    python docs/generated.py                 # what is stale, and the command that makes it again
    python docs/generated.py --make WORDS    # run the commands with these words, and record what they ran
    python docs/generated.py --made WORDS    # record that their files were made now, without a trace
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "generated.json"


@dataclass(frozen=True)
class Made:
    """Files that one command makes.

    Attributes:
        command: What is typed in the repository's folder.
        modules: Where the computation begins.
        files: What is made, as patterns below the repository's folder.
        long: Why it is not made again with every change.
    """

    command: str
    modules: tuple[str, ...]
    files: tuple[str, ...]
    long: str = ""

    def paths(self) -> list[Path]:
        """The files that are there."""
        return sorted(path for pattern in self.files for path in ROOT.glob(pattern))

    def code(self) -> dict[str, str]:
        """Digests of everything that it depends on."""
        from reproductions.dependencies import digests

        return digests(*self.modules)


def all_made() -> list[Made]:
    """Everything generated in the docs: the papers' figures by their experiments, the rest as listed."""
    from reproductions import experiments

    peers = sorted((ROOT / "benchmarks" / "peers").glob("*.py"))
    smoothed, elections = "sordino smoothed", ("reproductions.election_figures", "reproductions.elections")
    found = [
        Made("python -m benchmarks.noise.figures docs/_static", ("benchmarks.noise.figures",),
             ("docs/_static/densities.svg",)),
        Made("python -m benchmarks.geo.figures docs/_static", ("benchmarks.geo.figures",),
             tuple(f"docs/_static/geo_{name}" for name in
                   ("kernels.svg", "map_places.png", "noise.svg", "promise.svg", "thresholds.svg"))),
        Made("python -m benchmarks.geo.point_figures docs/_static", ("benchmarks.geo.point_figures",),
             tuple(f"docs/_static/geo_{name}" for name in
                   ("map.png", "map_fine.png", "map_people.svg", "deconvolution.svg"))),
        Made("python -m benchmarks geo/bench_points", ("benchmarks.geo.bench_points",),
             ("docs/measurements/geo_maps.md",)),
        Made("python -m benchmarks geo/bench_error", ("benchmarks.geo.bench_error",), ("docs/explanation/geo.md",)),
        Made("python -m benchmarks accuracy",
             tuple(f"benchmarks.accuracy.{path.stem}" for path in sorted((ROOT / "benchmarks/accuracy").glob("*.py"))),
             ("docs/explanation/which_mechanism.md",), "simulated releases"),
        Made("python -m benchmarks.peers report",
             (*(f"benchmarks.peers.{path.stem}" for path in peers), "benchmarks.peers.adapters.ask_sordino"),
             ("docs/measurements/peers.md", "docs/measurements/peers_*.md", "docs/measurements/peers-*.*"),
             "every library in an environment of its own, and thousands of releases"),
        Made(f"{smoothed} elections --plot docs/explanation/smoothed-elections.svg",
             elections, ("docs/explanation/smoothed-elections.svg",)),
        Made(f"{smoothed} elections --figure 2 --plot docs/explanation/smoothed-figure-2.svg",
             elections, ("docs/explanation/smoothed-figure-2.svg",)),
        Made(f"{smoothed} precincts tests/smoothed/data/example_county.csv --held-back 10% --epsilon 1 --delta 1e-3 "
             '--category "Alma Birchwood" --category "Casper Dunmore" --plot docs/howto/smoothed-example-county.svg',
             ("sordino.smoothed.precincts", "sordino.smoothed.figures"), ("docs/howto/smoothed-example-county.svg",)),
    ]  # fmt: skip
    for name, experiment in experiments().items():
        modules = tuple(sorted({experiment.compute.__module__, experiment.draw.__module__}))
        command = f"sordino paper run {name} --scale full --out docs/papers/figures"
        found.append(
            Made(command, modules, (f"docs/papers/figures/{name}.svg",), "a simulation at full scale")
        )
    return found


TRACED = "ran"
"""The first word of a record that holds the functions that ran, and not all modules that could."""


def digested(code: dict[str, str]) -> str:
    """What is recorded: the digests, without the names of the modules, which may move."""
    return " ".join(sorted(set(code.values())))


def changed(now: dict[str, str], then: str) -> list[str]:
    """Modules whose code was not there when the files were made; one that only moved does not count."""
    return [name for name, digest in now.items() if digest not in then.split()]


def stale(made: Made, then: str) -> str | None:
    """Why the files of a command are not current; None where they are."""
    from reproductions.dependencies import everything

    kind, _, ran = then.partition(" ")
    if kind == TRACED:
        gone = set(ran.split()) - everything()
        return f"{len(gone)} of the {len(ran.split())} functions that made it have changed" if gone else None
    since = changed(made.code(), then)
    few = ", ".join(since[:4]) + (f" and {len(since) - 4} more" if len(since) > 4 else "")
    return f"changed among all modules that its command can reach: {few}" if since else None


def make(made: Made) -> str:
    """Run a command and give what it ran."""
    with tempfile.TemporaryDirectory() as folder:
        ran = Path(folder) / "ran"
        words = [sys.executable, str(ROOT / "docs" / "traced.py"), str(ran), *shlex.split(made.command)]
        subprocess.run(words, cwd=ROOT, check=True)  # noqa: S603 -- our own commands
        return f"{TRACED} {ran.read_text(encoding='utf-8')}"


def main(words: list[str] | None = None) -> int:
    """Say what is stale, or make it, or record what was made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--make", nargs="+", metavar="WORD", help="run the commands that contain all these words"
    )
    parser.add_argument(
        "--made", nargs="+", metavar="WORD", help="record the commands that contain all these words"
    )
    told = parser.parse_args(words)
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    every = all_made()
    if asked := told.make or told.made:
        for one in every:
            if all(word in one.command for word in asked):
                record[one.command] = make(one) if told.make else digested(one.code())
                print(f"recorded: {one.command}")
        known = {one.command for one in every}
        lines = [
            f"  {json.dumps(name)}: {json.dumps(code)}"
            for name, code in sorted(record.items())
            if name in known
        ]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return 0
    found = 0
    for one in every:
        if one.paths() and (why := stale(one, record.get(one.command, ""))):
            found += 1
            print(f"stale: {', '.join(path.relative_to(ROOT).as_posix() for path in one.paths())}")
            print(f"  {why}")
            print(f"  make it again{f' ({one.long})' if one.long else ''}: {one.command}")
    print(
        f"{found} of {len(every)} commands have something to make again"
        if found
        else "all generated files are current"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
