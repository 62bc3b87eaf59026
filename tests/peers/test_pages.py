"""The pages: bars, the cells where a peer is better first and bold, what is missing, times."""

import pytest
from benchmarks.peers import accuracy_tables, comparison, pages, speed, speed_tables
from benchmarks.peers.cells import Cell
from benchmarks.peers.scores import Score


def score(who, rmse, *, doubt=0.01, answered=100, raised=0):
    return Score(who=who, rmse=rmse, median=rmse / 2, doubt=doubt, answered=answered, raised=raised)


def row(query, column, ours, peers, *, relation="replace-one", table="main", rows=201):
    return comparison.Row(
        cell=Cell(table, query, column, rows, 1), relation=relation, truth=1.0,
        ours={variant: score(f"sordino {variant}", value) for variant, value in ours.items()},
        peers={who: score(who, value) for who, value in peers.items()},
    )  # fmt: skip


FOUND = [
    row("median", "gauss", {"none": 0.1, "rough": 0.05, "tight": 1.0}, {"opendp grid": 2.0, "diffprivlib tools": 1.0}),
    row("mean", "unif", {"none": 3.0, "rough": 1.0, "tight": 1.0}, {"diffprivlib tools": 1.0}),
    row("max", "unif", {"none": 1.8e-4, "tight": 1.0e-4}, {"opendp grid": 1e-4, "pydp half": 1.0}),
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
    assert FOUND[2].lucky
    assert not FOUND[0].lucky


def test_bars_are_judged():
    verdicts = {line[0]: line[1:] for line in accuracy_tables.verdicts(FOUND)}
    mean = next(text for text in verdicts if "no hint: geometric mean over 3 cells" in text)
    assert verdicts[mean][1].startswith("0.814")  # (0.1 · 3 · 1.8)^(1/3)
    assert verdicts[mean][2] == "**missed**"
    over = next(text for text in verdicts if "no hint: cells above 1.7" in text)
    assert verdicts[over][1].startswith("2 of 3 (1 by grid luck)")
    assert verdicts[over][2] == "**missed**"  # one of the two is no luck
    tight = next(text for text in verdicts if "tight, of every column: cells above 1.05" in text)
    assert verdicts[tight][2] == "held"
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
    made = pages.write(
        tmp_path,
        FOUND,
        MEASURED,
        OUTCOMES,
        {"opendp": "opendp 0.16.0", "sordino": "sordino 1"},
        {"tmlt": "needs java"},
    )
    assert all(path.stat().st_size > 200 for path in made)
    text = (tmp_path / pages.PAGE).read_text()
    assert text.index("## Where a peer is better") < text.index("## Accuracy")
    assert "opendp 0.16.0" in text
    assert "**not measured**: needs java" in text
    for part in (
        "## The bars",
        "## Ties",
        "## Real columns",
        "## Time and memory",
        "## Bad input",
        "## Run it again",
    ):
        assert part in text
    assert "3 cells" in text
    cells = (tmp_path / pages.CELLS).read_text()
    assert "**3**" in cells  # the lost cell stands out here too
    assert "grid luck" in cells


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
