"""The report as Markdown pages with pictures, from measured answers, times and outcomes. Scores nothing itself."""

import statistics
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers import (
    accuracy_tables,
    board,
    comparison,
    figures,
    speed_tables,
    summary,
    wording,
)
from benchmarks.peers.accuracy_tables import number, table
from benchmarks.peers.board import REGIMES, WORDS
from benchmarks.peers.columns import COLUMNS, REAL
from benchmarks.peers.libraries import ADD_REMOVE, OURS, QUERIES, REPLACE_ONE
from docs.wrapped import wrapped

PAGE, CELLS, SPEED, TABLE = "peers.md", "peers_cells.md", "peers_speed.md", "peers_cells.csv"
PICTURES = {REPLACE_ONE: "peers-replace-one.png", ADD_REMOVE: "peers-add-remove.png"}


def write(folder, found, measured, outcomes, versions, failed, *, checks=None):
    """Write the pages and the pictures into a folder; returns the paths.

    Args:
        folder: Where the documentation's measurements are.
        found: Scored rows, see `comparison.rows`.
        measured: What `speed.measure` returned, or None: the page of times then stays as it is.
        outcomes: What `behaviour.measure` returned, or None.
        versions: What is installed, by library.
        failed: Why a library is missing, by library.
        checks: What `law_checks.check` returned, or None.
    """
    folder = Path(folder)
    files = [_save(figures.ratios(found, relation), folder / name) for relation, name in PICTURES.items()]
    texts = {PAGE: main_page(found, versions, failed, checks), CELLS: cells_page(found)}
    if measured:
        files.append(_save(figures.times(measured), folder / "peers-times.svg"))
        texts[SPEED] = speed_page(measured, outcomes)
    for name, text in texts.items():
        (folder / name).write_text(wrapped(text))
        files.append(folder / name)
    comparison.write_csv(folder / TABLE, found)
    return [*files, folder / TABLE]


def _save(figure, path):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "sordino"}):  # the same numbers give the same file
        unsaid = {"Date": None, "Creator": "sordino"} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, metadata=unsaid, dpi=110)
    plt.close(figure)
    return path


def head(found):
    """Title, date, and where we stand."""
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    text = (
        f"# Sordino beside its peers\n\nMeasured on {today}; `python -m benchmarks.peers` wrote this page.\n"
    )
    text += wording.HOW + "\n" + summary.lines(found) + "\n"
    return text + accuracy_tables.standings(found) + "\n" + wording.STANDING


def asked(versions, failed):
    """Who was asked, at which version."""
    lines = [(name, version) for name, version in versions.items()]
    lines += [(name, f"**not measured**: {reason}") for name, reason in failed.items()]
    return "## Who was asked\n\n" + table(("library", "version"), lines) + "\n"


def better(found):
    """The cells where a peer is better."""
    parts = ["## Where a peer is better\n", wording.BETTER]
    for (relation, regime), now in board.standings(found).items():
        title = f"### {relation}, {WORDS[regime]}: {len(now.better)} of {len(now.rows)} cells\n"
        parts += [title, accuracy_tables.better_table(now.better)]
    return "\n".join(parts)


def checked(found):
    """For how many of our answers the error is exact."""
    every = [one for row in found for one in row.ours.values()]
    count = sum(one.doubt == 0 and one.answered > 0 for one in every)
    return wording.LAWS.format(count=count, all=len(every)) if count else ""


def columns_table():
    """What the columns are like."""
    lines = [
        (name, f"[{one.low:,.10g}, {one.high:,.10g}]", one.has, "real" if name in REAL else "generated")
        for name, one in (COLUMNS | REAL).items()
    ]
    return table(("column", "bounds that fit", "what it has", ""), lines) + "\n"


def law_table(checks):
    """The peers' laws beside their draws."""
    lines = [
        (name, kind, count, draws, number(uniform), number(least))
        for (name, kind), (count, draws, uniform, least) in checks.items()
    ]
    names = ("library", "question", "cells", "draws", "p-value of all", "least p-value, corrected")
    return table(names, lines) + "\n"


def main_page(found, versions, failed, checks=None):
    """The report."""
    parts = [head(found), "## The bars\n"]
    parts += [table(("what", "bar", "measured", ""), accuracy_tables.verdicts(found)) + "\n" + checked(found)]
    parts += [better(found), "## By statistic, column, size\n", wording.MEANS]
    for relation, picture in PICTURES.items():
        parts += [f"### {relation}\n", f"![Ratio of our error to the best peer's, {relation}]({picture})\n"]
        parts += [accuracy_tables.breakdown(found, relation)]
    parts += ["## Saying more\n", wording.MORE, accuracy_tables.saying_more(found)]
    parts += ["## The columns\n", wording.COLUMNS, columns_table(), asked(versions, failed)]
    if checks:
        parts += ["## Laws and draws\n", wording.CHECKED, law_table(checks)]
    parts += ["## Run it again\n", wording.AGAIN]
    return "\n".join(parts)


def speed_page(measured, outcomes):
    """Times, memory, importing, noise, bad input."""
    parts = [
        "# Time, memory and bad input beside the peers\n\n`python -m benchmarks.peers` wrote this page.\n"
    ]
    told = measured["machine"]
    machine = f"Python {told['python']}, {told['cores']} cores of {told['processor']}. "
    parts += [machine + wording.SHARED.format(load=loads(told))]
    parts += [f"- {sentence}\n" for sentence in summary.speed(measured)]
    parts += [table(("what", "bar", "measured", ""), speed_tables.verdicts(measured)) + "\n"]
    parts += ["![CPU seconds of one answer of a million rows](peers-times.svg)\n", wording.TIMES]
    parts += [speed_tables.times(measured), "## Importing\n", speed_tables.imports(measured)]
    parts += ["## Noise\n", wording.NOISE, speed_tables.samplers(measured)]
    if outcomes:
        parts += ["## Bad input\n", wording.INPUT, speed_tables.behaviour(outcomes)]
    return "\n".join(parts)


def loads(machine):
    """The load at the start of the timings, and at their end where it was kept."""
    text = f"{machine['load']:.1f} at the start of the timings"
    return text + (f", {machine['load_after']:.1f} at their end" if "load_after" in machine else "")


def cells_page(found):
    """Ratios by column and statistic; every cell is in the file beside it."""
    parts = ["# Every cell of the comparison with peers\n", wording.CELLS]
    for relation in board.RELATIONS:
        for regime in REGIMES:
            rows = board.chosen(found, relation, regime)
            if rows:
                parts += [f"## {relation}, {WORDS[regime]}\n", ratios_table(rows)]
    return "\n".join(parts)


def ratios_table(rows):
    """Columns down, statistics across; prices with a slash between them."""
    kept = {}
    for row in rows:
        key = (row.cell.column, row.cell.query, row.cell.epsilon)
        kept.setdefault(key, []).append(row.ratio(shifted=True).value)
    queries = [query for query in QUERIES if any(key[1] == query for key in kept)]
    prices = sorted({key[2] for key in kept}, reverse=True)
    lines = []
    for column in COLUMNS | REAL:
        if not any(key[0] == column for key in kept):
            continue
        line = [column]
        for query in queries:
            values = [kept.get((column, query, price)) for price in prices]
            line.append(" / ".join(_shown(statistics.median(some)) if some else "–" for some in values))
        lines.append(line)
    return table(("", *queries), lines) + "\n"


def _shown(ratio):
    text = f"{ratio:.2g}"
    return f"**{text}**" if ratio > board.WORST else text


def versions_of(places):
    """What is installed, by name, ours last."""
    return {name: place.version for name, place in places.items() if name != OURS.name} | {
        OURS.name: places[OURS.name].version
    }
