"""Plant every privacy bug of planted.toml in a copy of the source and see which law notices it (`make mutants`)."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HOME = Path(__file__).parent
ROOT = HOME.parent.parent
PAGE = ROOT / "docs" / "reference" / "mutants.md"
RULE = "| --- | --- | --- | --- |"
REPLAY = """
import sys
from sordino import catalogue
from sordino.testing.survey import survey
for name in sys.argv[1:]:
    for seen in survey(catalogue.mechanisms()[name]):
        if seen.replay.problems:
            print(f"{seen.case.label}, {seen.contribution} rows: {seen.replay.problems[0]}")
            sys.exit(1)
"""
GROUPS = """
import sys
from sordino import catalogue
from sordino.testing.group_laws import grouped_as_alone
from sordino.testing.joint_draws import drawn_together
for name in sys.argv[1:]:
    for law in (grouped_as_alone, drawn_together):
        for problem in law(catalogue.mechanisms()[name]):
            print(problem)
            sys.exit(1)
"""
PYTEST = [sys.executable, "-m", "pytest", "-n0", "-qx", "-pno:randomly", "-pno:cacheprovider", "-mnot slow"]


def main() -> int:
    """Run all mutants, or those that were asked for, print a table and keep it in the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "words", nargs="*", help="only mutants with this number, or whose description contains this word"
    )
    asked = parser.parse_args()
    planted = tomllib.loads((HOME / "planted.toml").read_text(encoding="utf-8"))["mutant"]
    wanted = [
        (number, one) for number, one in enumerate(planted, 1) if chosen(number, one["about"], asked.words)
    ]
    lived = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        for number, mutant in wanted:
            start = time.monotonic()
            verdict = noticed(mutant, copy)
            killed = verdict.startswith("killed")
            lived += not killed
            spent = time.monotonic() - start
            print(
                f"{number:3} {'killed' if killed else 'LIVES '} {spent:5.1f} s  {mutant['law']:44} {mutant['about']}"
            )
            print(f"            {verdict}", flush=True)
            PAGE.write_text(
                kept(PAGE.read_text(encoding="utf-8"), planted, mutant, verdict), encoding="utf-8"
            )
    print(f"{len(wanted) - lived} of {len(wanted)} mutants are killed")
    return 1 if lived else 0


def chosen(number: int, about: str, words: Sequence[str]) -> bool:
    """Whether a mutant was asked for: by a word of its description, its number, or a range such as 46-48."""
    ranges = [[int(end) for end in word.split("-")] for word in words if word.replace("-", "", 1).isdigit()]
    named = any(word in about for word in words if not word.replace("-", "", 1).isdigit())
    return not words or named or any(ends[0] <= number <= ends[-1] for ends in ranges)


def kept(page: str, planted: Sequence[dict[str, str]], mutant: dict[str, str], verdict: str) -> str:
    """The page of the docs with what was said of one mutant; rows in the order of the list, of others as they were."""
    before, rule, old = page.partition(RULE)
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in old.splitlines() if row}
    said = re.sub(r"^killed: (FAILED )?", "", verdict).replace("|", "\\|").replace("`", "'")
    rows[mutant["about"]] = f"| {mutant['about']} | `{mutant['file']}` | `{mutant['law']}` | `{said}` |"
    lines = [rows[one["about"]] for one in planted if one["about"] in rows]
    return before + rule + "\n" + "\n".join(lines) + "\n"


def plant(path: Path, source: str) -> None:
    """Write a file and forget its bytecode; that of all other files is kept from one mutant to the next."""
    path.write_text(source, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


def command(law: str) -> list[str]:
    """How a law is run."""
    kind, *rest = law.split()
    if kind == "tests":
        return [*PYTEST, *rest]
    return [sys.executable, "-c", GROUPS if kind == "groups" else REPLAY, *rest]


def hear(asked: Sequence[str], copy: Path) -> subprocess.CompletedProcess[str]:
    """Run a law on the copy as it is."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run(
        asked, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


@cache
def sound(asked: tuple[str, ...], copy: Path) -> bool:
    """Whether a law has nothing to say of the honest source."""
    return hear(asked, copy).returncode == 0


def noticed(mutant: dict[str, str], copy: Path) -> str:
    """What its law says of one mutant."""
    path = copy / "sordino" / mutant["file"]
    honest = path.read_text(encoding="utf-8")
    if honest.count(mutant["old"]) < 1:
        return f"stale: {mutant['file']} does not contain the line any more"
    asked = command(mutant["law"])
    plant(path, honest.replace(mutant["old"], mutant["new"]))
    try:
        ran = hear(asked, copy)
    except subprocess.TimeoutExpired as error:
        return f"broken: said nothing within {error.timeout:.0f} s"
    finally:
        plant(path, honest)
    if ran.returncode == 0:
        return "nothing was noticed"
    tests = mutant["law"].startswith("tests ")
    words = ran.stdout.strip().splitlines()
    failed = [line for line in words if line.startswith("FAILED")] if tests else words
    if not failed:  # a module that cannot be imported, or a law that broke down, has noticed nothing
        said = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
        return f"broken: {said[-1][:150] if said else ran.returncode}"
    # Nor has a law that says the same of the honest source; of tests only the one that failed is asked again.
    again = [*PYTEST, failed[0].removeprefix("FAILED ").split(" - ")[0]] if tests else asked
    if not sound(tuple(again), copy):
        return f"broken: fails without the bug too, {failed[0][:150]}"
    return f"killed: {failed[0][:150]}"


if __name__ == "__main__":
    sys.exit(main())
