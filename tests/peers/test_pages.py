"""The pages: bars, the cells where a peer is better first and bold, what is missing, times."""

import pytest

from benchmarks.peers import (
    accuracy_tables,
    cell_laws,
    comparison,
    informed,
    informed_tables,
    law_checks,
    pages,
    speed,
    speed_tables,
    summary,
)
from benchmarks.peers.cells import Cell
from benchmarks.peers.scores import Score


def score(who, rmse, *, doubt=0.01, answered=100, raised=0):
    return Score(who=who, rmse=rmse, median=rmse / 2, doubt=doubt, answered=answered, raised=raised)


def row(query, column, ours, peers, *, relation="replace-one", table="main", rows=201, shifted=None):
    return comparison.Row(
        cell=Cell(table, query, column, rows, 1), relation=relation, truth=1.0,
        ours={variant: score(f"sordino {variant}", value) for variant, value in ours.items()},
        peers={who: score(who, value) for who, value in peers.items()}, shifted=shifted,
    )  # fmt: skip


FOUND = [
    row("median", "gauss", {"none": 0.1, "rough": 0.05, "tight": 1.0}, {"opendp grid": 2.0, "diffprivlib tools": 1.0}),
    row("mean", "unif", {"none": 3.0, "rough": 1.0, "tight": 1.0}, {"diffprivlib tools": 1.0}),
    row("max", "unif", {"none": 1.8e-4, "tight": 1.0e-4}, {"opendp grid": 1e-4, "pydp half": 1.0}, shifted=2e-4),
    row(
        "median", "gauss", {"none": 0.2}, {"tmlt core": 1.0, "pydp plain": 0.4, "pipelinedp local": 0.1},
        relation="add/remove",
    ),
    row("median", "ages", {"none": 0.0}, {"diffprivlib tools": 1.0}, table="ties", rows=1001),
]  # fmt: skip
TIMES = [
    {
        "query": "median",
        "rows": 10**6,
        "library": name,
        "again": cost,
        "fresh": cost,
        "first": 2 * cost,
        "peak_mb": 50.0,
    }
    for name, cost in (("numpy", 0.01), ("sordino", 0.02), ("opendp", 0.11), ("diffprivlib", 0.03))
] + [
    {
        "query": "mean",
        "rows": 10**6,
        "library": name,
        "again": cost,
        "fresh": cost,
        "first": cost,
        "peak_mb": 50.0,
    }
    for name, cost in (("sordino", 0.02), ("opendp", 0.01))
]
MEASURED = {
    "times": TIMES, "imports": {"sordino": 0.2, "numpy": 0.1}, "samplers": {"opendp": {"Laplace": 41_000.4}},
    "machine": {"processor": "a chip", "cores": 2, "python": "3.11", "load": 0.5},
}  # fmt: skip
OUTCOMES = {
    "opendp": {"epsilon zero": {"mean": "R OpenDPException", "quantile": "A 4"}},
    "sordino": {"epsilon zero": {"mean": "R ParameterError", "quantile": "R ParameterError"}},
}


def test_the_best_peer_and_the_ratio():
    assert FOUND[0].best.who == "diffprivlib tools"
    assert FOUND[0].ratio("none").value == pytest.approx(0.1)
    assert FOUND[1].ratio("absent") is None
    assert FOUND[2].ratio("none").value == pytest.approx(1.8)
    assert FOUND[2].ratio("none", shifted=True).value == pytest.approx(0.9)
    assert FOUND[2].lucky("none", 1.7)
    assert not FOUND[2].lucky("tight", 1.7)  # no bar is missed, so nothing is excused
    assert not FOUND[0].lucky("none", 1.7)


def test_luck_excuses_no_cell_in_which_another_peer_is_above_the_bar():
    other = row("max", "unif", {"none": 1.8e-4}, {"opendp grid": 1e-4, "pydp half": 1.2e-4}, shifted=2e-4)
    assert other.ratio("none", shifted=True).value == pytest.approx(1.5)
    assert not other.lucky("none", 1.45)
    assert other.lucky("none", 1.6)
    little = row("max", "unif", {"none": 1.8e-4}, {"opendp grid": 1e-4}, shifted=1.01e-4)
    assert not little.lucky("none", 1.7)  # shifting hardly changes it: that was no luck


def test_shifts_are_looked_at_where_opendp_is_the_best_and_we_are_behind():
    cell = Cell("main", "min", "unif", 201, 1)
    values = cell.values()
    behind = row("min", "unif", {"none": 1.0}, {"opendp grid": 1e-4, "pydp half": 1.0})
    assert comparison.with_shifts(behind, values).shifted > 0
    for same in (
        row("min", "unif", {"none": 1e-5}, {"opendp grid": 1e-4}),
        row("min", "unif", {"none": 1.0}, {"opendp grid": 1e-4, "pydp half": 1e-5}),
        row("mean", "unif", {"none": 1.0}, {"opendp grid": 1e-4}),
    ):
        assert comparison.with_shifts(same, values) is same


def test_bars_are_judged():
    verdicts = {line[0]: line[1:] for line in accuracy_tables.verdicts(FOUND)}
    mean = next(text for text in verdicts if "no hint: geometric mean over 3 cells" in text)
    assert verdicts[mean][1].startswith("0.814")  # (0.1 · 3 · 1.8)^(1/3)
    assert verdicts[mean][2] == "**missed**"
    over = next(text for text in verdicts if "no hint: cells above 1.7" in text)
    assert verdicts[over][1].startswith("2 of 3 (1 by grid luck: max unif n=201 ε=1, 1.8 → 0.9)")
    assert verdicts[over][2] == "**missed**"  # one of the two is no luck
    tight = next(text for text in verdicts if "tight, of columns whose bounds fit: cells above 1.05" in text)
    assert verdicts[tight][2] == "held"
    untrue = next(text for text in verdicts if "tight, also where that is untrue: cells above 1.05" in text)
    assert verdicts[untrue][::2] == ("–", "")  # told, not judged
    rivals = next(text for text in verdicts if "Tumult and PyDP" in text)
    assert verdicts[rivals][1].startswith("0.5 ")  # 0.2 / 0.4: PipelineDP is no rival of this bar
    assert verdicts[rivals][2] == "held"


def test_cells_where_a_peer_is_better_come_worst_first_and_bold():
    worst = accuracy_tables.better_peers(FOUND, "replace-one", "none")
    assert [one.cell.query for one in worst] == ["mean", "max"]
    text = accuracy_tables.better_table(FOUND, "replace-one", "none")
    assert text.index("**mean, unif") < text.index("**max, unif")
    assert "grid luck" in text.splitlines()[3]
    assert accuracy_tables.better_table(FOUND, "replace-one", "rough") == "None.\n"


def test_a_page_is_whole(tmp_path):
    files = pages.write(
        tmp_path,
        FOUND,
        MEASURED,
        OUTCOMES,
        {"opendp": "opendp 0.16.0", "sordino": "sordino 1"},
        {"tmlt": "needs java"},
        made=informed.informed(FOUND[:2]),
        checks={("opendp", "mean"): (36, 6239, 0.5, 0.9)},
    )
    assert all(path.stat().st_size > 200 for path in files)
    text = (tmp_path / pages.PAGE).read_text()
    assert (
        text.index("0.814** of the best")
        < text.index("## Where a peer is better")
        < text.index("## The bars")
    )
    assert "| opendp | mean | 36 | 6239 | 0.5 | 0.9 |" in text
    assert "opendp 0.16.0" in text
    assert "**not measured**: needs java" in text
    for part in (
        "## The bars",
        "## Ties",
        "## Real columns",
        "## Peers that are given the hint",
        "## Laws and draws",
        "## Run it again",
    ):
        assert part in text
    for name in (pages.PAGE, pages.CELLS, pages.SPEED):
        levels = [
            len(line.split()[0])
            for line in (tmp_path / name).read_text().splitlines()
            if line.startswith("#")
        ]
        levels = [level for level in levels if level < 5]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    slow = (tmp_path / pages.SPEED).read_text()
    assert "load 0.5 at the start" in slow
    assert "## Bad input" in slow
    assert "3 cells" in text
    cells = (tmp_path / pages.CELLS).read_text()
    assert "**3**" in cells  # the lost cell stands out here too
    assert "over shifted grids" in cells


def test_the_same_numbers_give_the_same_picture(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        pages.write(tmp_path / name, FOUND, MEASURED, OUTCOMES, {}, {})
    first, second = ((tmp_path / name / "peers-times.svg").read_bytes() for name in ("a", "b"))
    assert first == second


def test_speed_is_judged_against_float_safe_peers():
    median, mean, load = speed_tables.verdicts(MEASURED)
    assert "opendp" in median[2]  # diffprivlib is faster and is not float-safe
    assert median[2:] == ("5.5 (opendp) and 5.5 (opendp)", "held")
    assert mean[2:] == ("0.5 (opendp) and 0.5 (opendp)", "**missed**")
    assert load[2:] == ("0.2", "held")


def test_refusals_and_answers_are_told_apart():
    text = speed_tables.behaviour(OUTCOMES)
    assert text.splitlines()[0].startswith("| input | sordino mean | sordino quantile | opendp mean")
    assert "**A** 4" in text


def test_numbers_have_three_digits():
    assert [accuracy_tables.number(x) for x in (0, 0.5, 1234.5, 3.05e5, 2.26e-5)] == [
        "0", "0.5", "1230", "3.05e5", "2.26e-5",
    ]  # fmt: skip


def test_a_table_for_spreadsheets(tmp_path):
    comparison.write_csv(tmp_path / "cells.csv", FOUND)
    lines = (tmp_path / "cells.csv").read_text().splitlines()
    assert len(lines) == 1 + len(FOUND)
    assert lines[1].startswith("main,replace-one,median,gauss,201,1,diffprivlib tools,1,")


def test_newer_times_take_the_place_of_older_ones():
    newer = MEASURED | {"times": [TIMES[1] | {"again": 0.5}], "imports": {"sordino": 0.1}}
    both = speed.merge(MEASURED, newer)
    assert len(both["times"]) == len(TIMES)
    assert speed.seconds(both, "median", 10**6, "sordino") == 0.5
    assert speed.seconds(both, "median", 10**6, "opendp") == 0.11
    assert both["imports"] == {"sordino": 0.1, "numpy": 0.1}
    assert speed.merge(None, newer) is newer


def test_the_summary_is_made_from_the_numbers():
    told = summary.lines(FOUND, None, MEASURED)
    assert "**0.814** of the best peer's in the geometric mean of 3 cells" in told
    assert "A peer is better in 2 of them, by more than 1.7 in 2 (1 of these by grid luck)" in told
    assert "**0.5** of the better of Tumult and PyDP over 1 cells" in told
    assert "**5.5** times less CPU" in told


def test_peers_with_the_hint_as_bounds_do_better_and_we_are_compared_with_them():
    hard = row("mean", "pareto", {"none": 9.0, "rough": 1.0, "hinted": 0.5}, {"opendp grid": 1e4})
    soft = row("mean", "unif", {"none": 0.02, "rough": 0.01}, {"opendp grid": 1.0})
    made = informed.informed([hard, soft, FOUND[3]])
    assert len(made) == 2  # add/remove is left out
    assert made[0].hinted[10].rmse < 1e-3 * made[0].plain.rmse
    assert made[0].hinted[2].rmse < made[0].hinted[20].rmse
    assert made[1].hinted[10].rmse == pytest.approx(
        made[1].plain.rmse
    )  # the hint says nothing new about unif
    same = informed.widths(made, "hinted")[10]
    assert same[0].value == pytest.approx(0.5 / made[0].hinted[10].rmse)
    assert same[1].value == pytest.approx(
        0.02 / made[1].hinted[10].rmse
    )  # the same bounds: nothing else is asked
    assert "**centre ± 10 spreads**" in informed_tables.by_width(made)
    assert "mean, pareto" in informed_tables.better(made, "rough")


def test_a_geometric_grid_helps_where_an_even_one_has_no_candidate():
    found = row("median", "pareto", {"none": 1.0, "rough": 1.0}, {"opendp grid": 5e5}, rows=1001)
    (one,) = informed.informed([found])
    even = cell_laws.of_cell("opendp", "grid", found.cell, found.cell.values())
    assert one.geometric.rmse < 1e-3 * even.rmse(found.truth)
    assert "| median, pareto |" in informed_tables.by_grid([one])


def test_many_p_values_are_judged_together():
    assert law_checks.together([0.1, 0.35, 0.6, 0.9])[0] > 0.5
    assert law_checks.together([1e-5, 1e-4, 1e-3, 0.9])[0] < 0.05
    assert law_checks.together([1e-5, 0.3, 0.5, 0.9])[1] == pytest.approx(4e-5)


def test_the_summary_leads_with_the_width_of_the_bounds_and_counts_a_mean_once():
    rows = [
        row("mean", "unif", {"none": 2.0}, {"diffprivlib tools": 2.0}),
        row("mean_auto", "unif", {"none": 2.0}, {"diffprivlib tools": 1.0}),
        row("median", "income", {"none": 1.0}, {"opendp grid": 4.0}),
        row("median", "gauss", {"none": 1.0}, {"opendp grid": 100.0}),
        row("median", "pareto", {"none": 1.0}, {"opendp grid": 50.0}),
    ]
    found = list(summary.by_width(rows, "replace-one").values())
    assert found == [(1, 2.0), (1, 0.25), (2, pytest.approx(0.015))]
    assert summary.lines(rows).startswith("- The bounds decide.")


def test_the_written_page_says_what_its_cells_say():
    """The figures that lead on the page, computed again from the page of all cells."""
    import re
    import statistics

    from benchmarks.peers.columns import COLUMNS
    from tests.support.places import ROOT

    folder, cells = ROOT / "docs" / "measurements", {}
    part = re.split(r"^## ", (folder / "peers_cells.md").read_text(), flags=re.MULTILINE)[1]
    for block in re.split(r"^### ", part, flags=re.MULTILINE)[1:]:
        for line in block.splitlines():
            entry = [word.strip() for word in line.strip("|").split("|")]
            if len(entry) == 7 and entry[1] in COLUMNS:
                key = (block.splitlines()[0], entry[1], entry[0].removesuffix("_auto"))
                ratio = float(re.findall(r"[\d.]+(?:e-?\d+)?", entry[5].split("/")[0])[0])
                cells[key] = max(cells.get(key, 0), ratio)
    page, readme = ((folder / "peers.md").read_text(), (ROOT / "README.md").read_text())
    for least, most in ((0, 5), (5, 100), (100, 1e9)):
        middle = statistics.median(
            value for key, value in cells.items() if least < COLUMNS[key[1]].width <= most
        )
        assert f"**{middle:.3g}**" in page
    for figure in ("0.996", "0.451"):
        assert figure in page
        assert figure in readme
    assert "**22.1** times less" in page
    assert "twenty-second of the CPU" in " ".join(readme.split())
