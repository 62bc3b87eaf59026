"""Runs the README's own lines with the Python that runs this file: every block of Python, every `sordino` command.

The table of the commands, `people.csv`, is invented here with nothing but the standard library; the release file is
the one that the docs give to copy.
"""

import csv
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
RELEASE_FILE = README.with_name("docs") / "howto" / "release_file.md"
REGIONS = ("north", "south", "east", "west")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Stop at the first line that fails."""
    with Path("people.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["income", "region"])
        rows.writerows(
            [f"{random.lognormvariate(10.5, 0.8):.2f}", REGIONS[place % len(REGIONS)]]
            for place in range(20_000)
        )
    copied = [
        block
        for language, block in BLOCK.findall(RELEASE_FILE.read_text(encoding="utf-8"))
        if language == "toml"
    ]
    Path("tables.toml").write_text(copied[0], encoding="utf-8")
    ran = 0
    for language, block in BLOCK.findall(README.read_text(encoding="utf-8")):
        if language == "python":
            print(block, flush=True)
            subprocess.run([sys.executable, "-c", block], check=True)
            Path("people.ledger").unlink(missing_ok=True)  # the commands begin their own
            ran += 1
        for line in block.splitlines() if not language else ():
            words = shlex.split(line, comments=True)
            if words[:1] == ["sordino"]:
                print(f"$ {line}", flush=True)
                # Debits ask for a yes.
                own = Path(sys.executable).with_name("sordino")
                subprocess.run([own, *words[1:]], check=True, input="y\n", text=True)
                ran += 1
    if ran < 5:
        sys.exit("the README shows fewer than five things to run: are its blocks still found?")


if __name__ == "__main__":
    main()
