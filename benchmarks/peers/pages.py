"""The report as Markdown pages with pictures, from measured answers, times and outcomes. Scores nothing itself."""

from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers import accuracy_tables, figures, informed_tables, speed_tables, summary, wording
from benchmarks.peers.accuracy_tables import number, table
from benchmarks.peers.libraries import ADD_REMOVE, LABELS, OURS, REPLACE_ONE
from docs.wrapped import wrapped

PAGE, CELLS, SPEED = "peers.md", "peers_cells.md", "peers_speed.md"
PICTURES = {REPLACE_ONE: "peers-replace-one.png", ADD_REMOVE: "peers-add-remove.png"}


def write(folder, found, measured, outcomes, versions, failed, *, made=None, checks=None):
    """Write the pages and the pictures into a folder; returns the paths.

    Args:
        folder: Where the documentation's explanations are.
        found: Scored rows, see `comparison.rows`.
        measured: What `speed.measure` returned, or None.
        outcomes: What `behaviour.measure` returned, or None.
        versions: What is installed, by library.
        failed: Why a library is missing, by library.
        made: What `informed.informed` returned, or None.
        checks: What `law_checks.check` returned, or None.
    """
    folder = Path(folder)
    files = []
    for relation, name in PICTURES.items():
        files.append(_save(figures.ratios(found, relation), folder / name))
    if measured:
        files.append(_save(figures.times(measured), folder / "peers-times.svg"))
    for name, text in (
        (PAGE, main_page(found, measured, versions, failed, made, checks)),
        (CELLS, cells_page(found)),
        (SPEED, speed_page(measured, outcomes)),
    ):
        (folder / name).write_text(wrapped(text))
        files.append(folder / name)
    return files


def _save(figure, path):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "sordino"}):  # the same numbers give the same file
        unsaid = {"Date": None, "Creator": "sordino"} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, metadata=unsaid, dpi=110)
    plt.close(figure)
    return path


def head(found, measured, made):
    """Title, date, and where we stand."""
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    text = (
        f"# Sordino beside its peers\n\nMeasured on {today}; `python -m benchmarks.peers` wrote this page.\n"
    )
    return text + wording.HOW + "\n" + summary.lines(found, made, measured)


def asked(versions, failed):
    """Who was asked, at which version."""
    lines = [(name, version) for name, version in versions.items()]
    lines += [(name, f"**not measured**: {reason}") for name, reason in failed.items()]
    return "## Who was asked\n\n" + table(("library", "version"), lines) + "\n"


def better(found):
    """The cells where a peer is better, first of all."""
    parts = ["## Where a peer is better\n", wording.BETTER]
    for relation in (REPLACE_ONE, ADD_REMOVE):
        for variant, shown in figures.SHOWN.items():
            count = len(accuracy_tables.better_peers(found, relation, variant))
            rows = accuracy_tables.judged(found, relation, variant)
            parts.append(f"### {relation}, {shown}: {count} of {len(rows)} cells\n")
            parts.append(accuracy_tables.better_table(found, relation, variant))
    return "\n".join(parts)


def checked(found):
    """For how many of our answers the error is exact."""
    count = sum(one.doubt == 0 and one.answered > 0 for row in found for one in row.ours.values())
    return wording.LAWS.format(count=count) if count else ""


def law_table(checks):
    """The peers' laws beside their draws."""
    lines = [
        (name, kind, count, draws, number(uniform), number(least))
        for (name, kind), (count, draws, uniform, least) in checks.items()
    ]
    names = ("library", "question", "cells", "draws", "p-value of all", "least p-value, corrected")
    return table(names, lines) + "\n"


def main_page(found, measured, versions, failed, made=None, checks=None):
    """The report."""
    bars = accuracy_tables.verdicts(found) + (speed_tables.verdicts(measured) if measured else [])
    parts = [head(found, measured, made), better(found), "## The bars\n"]
    parts += [table(("what", "bar", "measured", ""), bars) + "\n" + checked(found)]
    if made:
        parts += ["## Peers that are given the hint\n", wording.HINTED, informed_tables.by_width(made)]
        parts += [wording.SAME, informed_tables.by_query(made)]
        parts += ["Where a peer is better although we have the same bounds, the worst first:\n"]
        parts += [informed_tables.better(made, "hinted")]
        parts += ["### A grid for skewed columns\n", wording.GEOMETRIC, informed_tables.by_grid(made)]
    parts += ["## Accuracy\n", wording.ACCURACY]
    for relation, picture in PICTURES.items():
        parts += [f"### {relation}\n", f"![Ratio of our error to the best peer's, {relation}]({picture})\n"]
        parts += [wording.MEANS, accuracy_tables.breakdown(found, relation)]
    parts += ["## Ties\n", wording.TIES, accuracy_tables.ties(found)]
    parts += ["## Real columns\n", wording.REAL, accuracy_tables.real(found)]
    parts += [asked(versions, failed)]
    if checks:
        parts += ["## Laws and draws\n", wording.CHECKED, law_table(checks)]
    parts += ["## Run it again\n", wording.AGAIN]
    return "\n".join(parts)


def speed_page(measured, outcomes):
    """Times, memory, importing, noise, bad input."""
    parts = [
        "# Time, memory and bad input beside the peers\n\n`python -m benchmarks.peers` wrote this page.\n"
    ]
    if measured:
        told = measured["machine"]
        machine = f"Python {told['python']}, {told['cores']} cores of {told['processor']}. "
        parts += [machine + wording.SHARED.format(load=loads(told))]
        parts += ["![CPU seconds of one answer of a million rows](peers-times.svg)\n", wording.TIMES]
        parts += [speed_tables.times(measured), "## Importing\n", speed_tables.imports(measured)]
        parts += ["## Noise\n", wording.NOISE, speed_tables.samplers(measured)]
    else:
        parts += ["Times were not measured in this run.\n"]
    if outcomes:
        parts += ["## Bad input\n", wording.INPUT, speed_tables.behaviour(outcomes)]
    return "\n".join(parts)


def loads(machine):
    """The load at the start of the timings, and at their end where it was kept."""
    text = f"{machine['load']:.1f} at the start of the timings"
    return text + (f", {machine['load_after']:.1f} at their end" if "load_after" in machine else "")


def cells_page(found):
    """Every cell."""
    shown = " / ".join(figures.SHOWN.values())
    parts = ["# Every cell of the comparison with peers\n", wording.CELLS.format(shown=shown)]
    for relation in (REPLACE_ONE, ADD_REMOVE):
        parts += [f"## {relation}\n", accuracy_tables.all_cells(found, relation)]
        parts += [all_peers(found, relation)]
    return "\n".join(parts)


def all_peers(found, relation):
    """RMSE and median error of every peer, for one size and price after another."""
    rows = accuracy_tables.main_rows(found, relation)
    names = sorted({who for row in rows for who in row.peers})
    text = [f"### All peers, {relation}: RMSE / median error (answers)\n"]
    lines = []
    for row in rows:
        got = []
        for who in names:
            one = row.peers.get(who)
            if one is None:
                got.append("–")
            elif not one.answered:
                got.append("all raised")
            else:
                got.append(f"{number(one.rmse)} / {number(one.median)} ({one.answered})")
        cell = row.cell
        lines.append((f"{cell.query}, {cell.column}, n={cell.rows}, ε={cell.epsilon}", *got))
    text.append(table(("cell", *(LABELS[who] for who in names)), lines) + "\n")
    return "\n".join(text)


def versions_of(places):
    """What is installed, by name, ours last."""
    return {name: place.version for name, place in places.items() if name != OURS.name} | {
        OURS.name: places[OURS.name].version
    }
