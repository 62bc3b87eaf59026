"""`python -m benchmarks.peers.again`: our errors measured again, beside the peers' that the table of cells has kept.

For a change of ours that is to be judged where the peers' environments and answers are not at hand. Ours are errors of
the exact output law; the peers' are those of the table, whose simulation errors it does not say. `--share` takes a
seeded part of the cells. Writes a table of the cells asked, and prints where we stand.
"""

import argparse
import csv
import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.cells import Cell, truth
from benchmarks.peers.comparison import RIGHT
from benchmarks.peers.environments import REPOSITORY

TABLE = REPOSITORY / "docs" / "measurements" / "peers_cells.csv"
ASKED = ("relation", "bounds", "query", "column", "n", "epsilon")
KEPT = (*ASKED, "useful", "best over shifts", "over shifts", "ours none")
ABOVE = 1.2


@dataclass(frozen=True, slots=True)
class Line:
    """One cell: what an error beyond tells nothing, the best peer's error, and ours before and now."""

    words: tuple[str, ...]
    useful: float
    peer: float
    before: float
    now: float

    @property
    def ratio(self):
        """Our error over the best peer's; what is right is not told apart."""
        least = RIGHT * self.useful if math.isfinite(self.useful) else 0.0
        return max(self.now, least) / max(self.peer, least) if max(self.peer, least) else 1.0

    @property
    def hopeless(self):
        """Whether our answer tells nothing although a peer's does."""
        return self.now > self.useful >= self.peer


def chosen(lines, share, seed=20190519):
    """A seeded part of the cells."""
    draws = random.Random(seed)
    return [line for line in lines if draws.random() < share]


def error(line, columns):
    """Our error in a cell, by the exact law of the default."""
    sys.path.insert(0, str(Path(__file__).parent / "adapters"))
    try:
        import ask_sordino
    finally:
        sys.path.pop(0)
    cell = Cell(line["bounds"], line["query"], line["column"], int(line["n"]), float(line["epsilon"]))
    where = (cell.column, cell.rows)
    if where not in columns:
        columns.clear()
        columns[where] = cell.values()
    values = columns[where]
    if values is None:
        return math.nan
    task = cell.task("again", "", "none", line["relation"], 1, 1)
    task["truth"] = truth(cell.query, values, cell.public.threshold)
    return float(ask_sordino.exact(task, np.asarray(values, dtype=float))[0])


def standings(found):
    """Where we stand, by relation and width of the bounds."""
    groups = {}
    for line in found:
        groups.setdefault(line.words[:2], []).append(line)
    for (relation, bounds), lines in groups.items():
        ratios = [line.ratio for line in lines]
        worst = max(lines, key=lambda line: line.ratio)
        yield (
            relation, bounds, len(lines), float(np.median(ratios)), math.exp(float(np.mean(np.log(ratios)))),
            sum(ratio > ABOVE for ratio in ratios), worst.ratio, " ".join(worst.words[2:]),
            sum(line.hopeless for line in lines),
        )  # fmt: skip


def main(words=None):
    """Ask, write, print."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers.again", description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the cells")
    parser.add_argument("--queries", nargs="+", default=[], help="e.g. median q99 max; all without it")
    parser.add_argument("--csv", type=Path, required=True, help="where the cells go")
    options = parser.parse_args(words)
    with TABLE.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["over shifts"] and line["ours none"]]
    lines = chosen(lines, options.share)
    if options.queries:
        lines = [line for line in lines if line["query"] in options.queries]
    lines.sort(key=lambda line: (line["column"], int(line["n"])))
    found, columns = [], {}
    with options.csv.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*KEPT, "ours now"))
        for line in lines:
            try:
                now = error(line, columns)
            except Exception as failed:  # noqa: BLE001 - a cell without a law is told and left out
                print(f"{line}: {failed}", file=sys.stderr)
                continue
            asked = tuple(line[name] for name in ASKED)
            made = Line(
                asked, float(line["useful"]), float(line["over shifts"]), float(line["ours none"]), now
            )
            found.append(made)
            writer.writerow((*(line[name] for name in KEPT), f"{now:.3g}"))
            file.flush()
    for row in sorted(standings(found), reverse=True):
        print(*(f"{one:.3g}" if isinstance(one, float) else one for one in row), sep=" | ")


if __name__ == "__main__":
    main()
