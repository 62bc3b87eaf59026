"""The table of the docs: how much of its price each mechanism was seen to use. ``python -m sordino.testing.report``."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from sordino import catalogue
from sordino.mechanisms import Mechanism
from sordino.mechanisms.parts.cases import PRICES
from sordino.testing.survey import Seen, survey

EVERY = 80
"""More pairs than there are."""
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
    lines = [
        "| mechanism | statistic | neighbours | " + " | ".join(KINDS) + " |",
        "| --- " * (3 + len(KINDS)) + "|",
    ]
    for key, row in sorted(worst.items()):
        cells = [f"{row[kind]:.3f}" if kind in row else "" for kind in KINDS]
        lines.append(f"| {' | '.join(key)} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Replay every default of the catalogue on many pairs and print the table."""
    found: list[Seen] = []
    for name, kind in catalogue.mechanisms().items():
        sys.stderr.write(f"{name}\n")
        alone = kind.answer is Mechanism.answer and not kind.together  # one draw: all pairs take little time
        found += survey(kind, pairs=EVERY if alone else 6, defaults=True)
    sys.stdout.write("\n".join(table(found)) + "\n")


if __name__ == "__main__":
    main()
