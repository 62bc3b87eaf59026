"""The table of the docs: how much of its price each mechanism was seen to use. ``python -m sordino.testing.report``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sordino import catalogue
from sordino.errors import ParameterError
from sordino.mechanisms import Mechanism
from sordino.mechanisms.parts.cases import PRICES
from sordino.testing.survey import SIZES, Seen, asked, people, survey, tiny_cases, tiny_world

EVERY = 80
"""More pairs than there are."""
SOME = 6
"""Of every size of hostile tables, where a mechanism chooses several times."""
SHOWN = 3
"""Problems of a mechanism that are printed."""
HEAD = 2
"""Lines before the first row of a table."""
KINDS = tuple(price.kind for price in PRICES)


def table(seen: Iterable[Seen]) -> list[str]:
    """Markdown: one line per mechanism, statistic and relation; one column per kind of price.

    Example:
        >>> from sordino.mechanisms.selection.selection import Selection
        >>> table(survey(Selection))[2].split(" | ")[:3]
        ['| selection', 'mode', 'add-remove-one']
    """
    worst: dict[tuple[str, str, str], dict[str, float]] = {}
    for one in seen:
        mechanism, statistic, relation, _, price = one.key
        row = worst.setdefault((mechanism, statistic, relation), {})
        row[price] = max(row.get(price, 0.0), one.replay.worst)
    head = ["mechanism", "statistic", "neighbours", *KINDS]
    lines = [_line(head), "| --- " * len(head) + "|"]
    for key, row in sorted(worst.items()):
        cells = [f"{row[kind]:.3f}" if kind in row else "" for kind in KINDS]
        lines.append(_line([*key, *cells]))
    return lines


def renewed(page: str, lines: Sequence[str]) -> str:
    r"""A page whose rows of the mechanisms in a table are those of the table; all other lines stay as they are.

    Example:
        >>> page = "Text.\n\n| mechanism |\n| --- |\n| a | old |\n| c | kept |\n"
        >>> print(renewed(page, ["| mechanism |", "| --- |", "| a | new |", "| b | new |"]), end="")
        Text.
        <BLANKLINE>
        | mechanism |
        | --- |
        | a | new |
        | b | new |
        | c | kept |
    """
    header, rule, *rows = lines
    before, _, old = page.partition(header.split(" | ")[0])
    names = {row.split(" | ")[0] for row in rows}
    kept = [row for row in old.splitlines()[2:] if row.split(" | ")[0] not in names]
    return before + "\n".join([header, rule, *sorted([*kept, *rows])]) + "\n"


@dataclass(slots=True)
class Walked:
    """The complete tiny worlds of a mechanism.

    Attributes:
        name: Of the mechanism.
        worst: The largest loss, as a part of the price, of each kind of price.
        cases: How many worlds there are.
        pairs: How many pairs of neighbours they have.
        narrowed: On how many of them a choice had more outcomes than were followed.
        problems: Every breach in words.
    """

    name: str
    worst: dict[str, float] = field(default_factory=dict)
    cases: int = 0
    pairs: int = 0
    narrowed: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def cells(self) -> list[str]:
        """As they stand on the page."""
        worst = [f"{self.worst[price]:.3f}" if price in self.worst else "" for price in KINDS]
        return [self.name, str(self.cases), str(self.pairs), str(self.narrowed), *worst]


def walked(kind: type[Mechanism]) -> Walked:
    """Walk the complete tiny worlds of a mechanism.

    Example:
        >>> from sordino.mechanisms.discovery.discovery import Discovery
        >>> found = walked(Discovery)
        >>> found.cells[:4], found.problems
        (['discovery', '4', '300', '0'], [])
    """
    found = Walked(kind.name)
    for case in tiny_cases(kind):
        for contribution in people(case):
            if not asked(case, contribution):
                continue
            world, price = tiny_world(case, contribution), case.mechanism.guarantee.kind
            for seen in world.replays():
                found.worst[price] = max(found.worst.get(price, 0.0), seen.worst)
                found.narrowed += seen.narrowed
                found.problems += [f"{case.label}, {contribution} rows: {one}" for one in seen.problems]
            found.cases, found.pairs = found.cases + 1, found.pairs + world.pairs
    return found


def _worlds(kind: type[Mechanism]) -> list[str]:
    """Markdown: one line."""
    found = walked(kind)
    sys.stderr.write("".join(f"{problem}\n" for problem in found.problems[:SHOWN]))
    head = ["mechanism", "cases", "pairs", "narrowed", *KINDS]
    return [_line(head), "| --- " * len(head) + "|", _line(found.cells)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Replay every default of the catalogue on many pairs; print the table, or keep it in a page row by row.

    Exit code 2 where no such mechanism is known.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these mechanisms")
    parser.add_argument(
        "--page", type=Path, help="put the rows into this page as soon as a mechanism is done"
    )
    parser.add_argument("--worlds", action="store_true", help="every pair of every tiny world instead")
    wanted = parser.parse_args()
    try:
        kinds = [catalogue.mechanism(name) for name in wanted.names or catalogue.mechanisms()]
    except ParameterError as refused:
        sys.stderr.write(f"{refused}\n")
        return 2
    found: list[Seen] = []
    for kind in kinds:
        start = time.process_time()
        lines = _worlds(kind) if wanted.worlds else _defaults(kind, found)
        sys.stderr.write(f"{kind.name}: {time.process_time() - start:.0f} CPU s\n")
        if wanted.page and len(lines) > HEAD:
            page = wanted.page.read_text(encoding="utf-8")
            wanted.page.write_text(renewed(page, lines), encoding="utf-8")
        elif wanted.worlds:
            sys.stdout.write(lines[-1] + "\n")
    if not (wanted.page or wanted.worlds):
        sys.stdout.write("\n".join(table(found)) + "\n")
    return 0


def _defaults(kind: type[Mechanism], found: list[Seen]) -> list[str]:
    alone = kind.answer is Mechanism.answer and not kind.together  # one draw: all pairs take little time
    seen = list(survey(kind, pairs=EVERY if alone else SOME, defaults=True, turns=len(SIZES)))
    found += seen
    return table(seen)


if __name__ == "__main__":
    sys.exit(main())
