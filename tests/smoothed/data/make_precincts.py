"""Write example_county.csv: an invented county, invented candidates, votes drawn from a fixed seed.

Nothing in it describes a place, a person or an election that exists. The layout is the long form in which precinct
results are usually published: one row per precinct and candidate, with write-ins, over votes and under votes.

    python tests/smoothed/data/make_precincts.py
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

SEED = 20_481
BALLOTS = (1_540, 2_010, 905, 640, 1_230, 58, 760, 1_105, 236, 980, 430, 1_390, 118)  # by precinct
LARGE = (("OAK", "Alma Birchwood"), ("ELM", "Casper Dunmore"))
SMALL = (  # party, candidate, share of the ballots of a precinct
    ("FIR", "Edda Farrow", 0.018),
    ("ASH", "Gideon Hollowell", 0.006),
    ("YEW", "Iris Quillfeather", 0.002),
    ("", "Write-ins", 0.007),
    ("", "Over Votes", 0.0008),
    ("", "Under Votes", 0.008),
)
HEADER = ("county", "precinct", "office", "district", "party", "candidate", "votes")


def rows() -> list[tuple[str, ...]]:
    """Return the lines of the file: in every precinct its own lean, then one draw of all its ballots."""
    random = np.random.RandomState(SEED)  # the one generator of numpy whose stream is frozen (NEP 19)
    small = [share for _, _, share in SMALL]
    names = [*LARGE, *((party, candidate) for party, candidate, _ in SMALL)]
    result = []
    for number, ballots in enumerate(BALLOTS, start=1):
        lean = random.uniform(0.40, 0.72)  # of the ballots for the two large candidates
        large = 1.0 - sum(small)
        votes = random.multinomial(ballots, [lean * large, (1.0 - lean) * large, *small])
        result += [
            ("Example County", f"{number:02d}", "Governor", "", party, candidate, str(count))
            for (party, candidate), count in zip(names, votes, strict=True)
        ]
    return result


def text() -> str:
    """Return the whole file."""
    page = io.StringIO()
    csv.writer(page, lineterminator="\n").writerows([HEADER, *rows()])
    return page.getvalue()


if __name__ == "__main__":
    Path(__file__).with_name("example_county.csv").write_text(text(), encoding="utf-8", newline="\n")
