"""The pages: where we stand by regime, bars, the cells where a peer is better, what is missing, times."""

import csv
import math
import re
import statistics

import pytest

from benchmarks.peers import (
    accuracy_tables,
    board,
    comparison,
    law_checks,
    pages,
    speed,
    speed_tables,
    summary,
)
from benchmarks.peers.cells import Cell
from benchmarks.peers.libraries import label
from benchmarks.peers.scores import Score
from tests.support.places import ROOT


def score(who, rmse, *, doubt=0.01, answered=100, raised=0):
    return Score(who=who, rmse=rmse, median=rmse / 2, doubt=doubt, answered=answered, raised=raised)


def row(query, column, ours, peers, *, relation="replace-one", regime="fit", shifted=None, useful=math.inf):
    return comparison.Row(
        cell=Cell(regime, query, column, 201, 1), relation=relation, truth=1.0, useful=useful,
        ours={variant: score(f"sordino {variant}", value) for variant, value in ours.items()},
        peers={who: score(who, value) for who, value in peers.items()},
        shifted={who: score(who, value) for who, value in (shifted or {}).items()},
    )  # fmt: skip


FOUND = [
    row("median", "gauss", {"none": 0.1, "tight": 1.0}, {"opendp grid": 2.0, "diffprivlib tools": 1.0}),
    row("mean", "uniform", {"none": 3.0, "tight": 1.0}, {"diffprivlib tools": 1.0}, useful=2.0),
    row("max", "uniform", {"none": 1.8e-4}, {"opendp grid": 1e-4, "pydp half": 1.0}, shifted={"opendp grid": 2e-4}),
    row("median", "gauss", {"none": 0.1, "rough": 0.05}, {"opendp grid": 10.0}, regime="10x"),
    row("median", "gauss", {"none": 0.2}, {"tmlt core": 1.0, "pydp plain": 0.4}, relation="add/remove"),
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
    assert FOUND[0].ratio().value == pytest.approx(0.1)
    assert FOUND[1].ratio("absent") is None
    assert FOUND[2].ratio().value == pytest.approx(1.8)
    assert FOUND[2].ratio(shifted=True).value == pytest.approx(0.9)


def test_two_answers_that_are_right_do_not_differ():
    right = row("min", "wages", {"none": 1e-9}, {"pydp plain": 1e-150}, useful=1.0)
    assert right.ratio().value == 1.0
    assert row(
        "min", "wages", {"none": 1e-3}, {"pydp plain": 1e-150}, useful=1.0
    ).ratio().value == pytest.approx(1e3)


def test_luck_excuses_no_cell_in_which_another_peer_is_better():
    other = row("max", "uniform", {"none": 1.8e-4}, {"opendp grid": 1e-4, "pydp half": 1.2e-4},
                shifted={"opendp grid": 2e-4})  # fmt: skip
    assert other.ratio(shifted=True).value == pytest.approx(1.5)
    assert board.standing([other]).over == [other]


def test_an_answer_is_hopeless_where_it_tells_nothing_and_a_peer_s_does():
    assert FOUND[1].hopeless
    assert not row("mean", "gauss", {"none": 3.0}, {"pydp half": 2.5}, useful=2.0).hopeless  # nobody's tells
    assert not row("mean", "gauss", {"none": 1.9}, {"pydp half": 0.1}, useful=2.0).hopeless


def test_shifts_are_looked_at_where_opendp_is_the_best_and_we_are_behind():
    behind = row("min", "uniform", {"none": 1.0}, {"opendp grid": 1e-4, "pydp half": 1.0})
    (found,) = comparison.with_shifts([behind])
    assert found.shifted["opendp grid"].rmse > 0
    for same in (
        row("min", "uniform", {"none": 1e-5}, {"opendp grid": 1e-4}),
        row("min", "uniform", {"none": 1.0}, {"opendp grid": 1e-4, "pydp half": 1e-5}),
        row("mean", "uniform", {"none": 1.0}, {"opendp grid": 1e-4}),
    ):
        assert comparison.with_shifts([same]) == [same]


def test_bars_are_judged_by_regime_and_relation():
    verdicts = {line[0]: line[1:] for line in accuracy_tables.verdicts(FOUND)}
    fit = "replace-one, bounds that fit: "
    assert verdicts[fit + "geometric mean over 3 cells"][1:] == (
        "0.814 ± 1 %",
        "**missed**",
    )  # (0.1 · 3 · 1.8)^(1/3)
    assert verdicts[fit + "cells above 1.2"][1:] == ("1; largest ratio 3 ± 1 %", "**missed**")  # 1.8 was luck
    assert verdicts[fit + "useless where a peer is not"][1:] == ("1", "**missed**")
    wide = "replace-one, bounds 10 times too wide: "
    assert verdicts[wide + "geometric mean over 1 cells"][2] == "held"
    assert verdicts["add/remove, bounds that fit: geometric mean over 1 cells"][1].startswith("0.5")


def test_cells_where_a_peer_is_better_come_worst_first_and_bold():
    now = board.standings(FOUND)["replace-one", "fit"]
    assert [one.cell.query for one in now.better] == ["mean"]
    assert "**3 ± 1 %**" in accuracy_tables.better_table(now.better)
    assert accuracy_tables.better_table([]) == "None.\n"
    many = accuracy_tables.better_table(now.better * 12)
    assert "And 2 more" in many


def test_a_statistic_counts_once_however_the_peers_are_asked(tmp_path, monkeypatch):
    kept = {"opendp": object(), "sordino": object()}
    monkeypatch.setattr(comparison, "Answers", lambda cache, library, version: kept[library.name])

    def scored(kept, cell, relation, values):
        del kept, relation, values
        ours = {"none": score("sordino none", 1.0)} if cell.query == "mean" else {}
        return ours, {"opendp grid": score("opendp grid", 3.0 if cell.query == "mean" else 0.5)}

    monkeypatch.setattr(comparison, "scored", scored)
    asked = [Cell("fit", query, "gauss", 201, 1) for query in ("mean", "mean_auto")]
    places = dict.fromkeys(kept, type("Place", (), {"version": "1"}))
    (found,) = comparison.rows(tmp_path, places, asked, ["replace-one"])
    assert found.best.who == "opendp grid, searched"
    assert found.ratio().value == pytest.approx(2.0)
    assert label(found.best.who) == "OpenDP, searched"


def test_a_page_is_whole(tmp_path):
    files = pages.write(
        tmp_path, FOUND, MEASURED, OUTCOMES, {"opendp": "opendp 0.16.0", "sordino": "sordino 1"},
        {"tmlt": "needs java"}, checks={("opendp", "mean"): (36, 6239, 0.5, 0.9)},
    )  # fmt: skip
    assert all(path.stat().st_size > 200 for path in files)
    text = (tmp_path / pages.PAGE).read_text()
    assert (
        text.index("The bounds decide") < text.index("## The bars") < text.index("## Where a peer is better")
    )
    assert "| opendp | mean | 36 | 6239 | 0.5 | 0.9 |" in text
    assert "opendp 0.16.0" in text
    assert "**not measured**: needs java" in text
    for part in ("## Saying more", "## The columns", "## Laws and draws", "## Run it again"):
        assert part in text
    for name in (pages.PAGE, pages.CELLS, pages.SPEED):
        lines = (tmp_path / name).read_text().splitlines()
        levels = [len(line.split()[0]) for line in lines if line.startswith("#")]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    slow = (tmp_path / pages.SPEED).read_text()
    assert "load 0.5 at the start" in slow
    assert "**5.5** times less CPU" in slow
    assert "## Bad input" in slow
    assert (
        "| uniform | – | 0.9 | **3** |" in (tmp_path / pages.CELLS).read_text()
    )  # the lost cell stands out here too


def test_times_that_were_not_measured_are_left_as_they_were(tmp_path):
    assert pages.SPEED not in {
        path.name for path in pages.write(tmp_path, FOUND, None, None, {"sordino": "1"}, {})
    }


@pytest.mark.thorough
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


def test_newer_times_take_the_place_of_older_ones():
    newer = MEASURED | {"times": [TIMES[1] | {"again": 0.5}], "imports": {"sordino": 0.1}}
    both = speed.merge(MEASURED, newer)
    assert len(both["times"]) == len(TIMES)
    assert speed.seconds(both, "median", 10**6, "sordino") == 0.5
    assert speed.seconds(both, "median", 10**6, "opendp") == 0.11
    assert both["imports"] == {"sordino": 0.1, "numpy": 0.1}
    assert speed.merge(None, newer) is newer


def test_the_summary_leads_with_the_width_of_the_bounds():
    told = summary.lines(FOUND)
    assert told.startswith("- The bounds decide.")
    assert "**1.8** with bounds that fit, **0.01** with bounds 10 times too wide" in told
    assert "Replace-one: a peer is better in 1 of 4 cells, by more than 1.2 in 1" in told
    assert "Add/remove: a peer is better in 0 of 1 cells" in told


def test_many_p_values_are_judged_together():
    assert law_checks.together([0.1, 0.35, 0.6, 0.9])[0] > 0.5
    assert law_checks.together([1e-5, 1e-4, 1e-3, 0.9])[0] < 0.05
    assert law_checks.together([1e-5, 0.3, 0.5, 0.9])[1] == pytest.approx(4e-5)


def test_the_written_page_says_what_its_cells_say():
    """The figures that lead on the page, computed again from the file of all cells; the README repeats them."""
    folder = ROOT / "docs" / "measurements"
    page, readme = (" ".join(path.read_text().split()) for path in (folder / "peers.md", ROOT / "README.md"))
    ratios = {}
    with (folder / "peers_cells.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            if line["ours none"] and line["its RMSE"]:
                least = 0.0 if line["useful"] == "inf" else comparison.RIGHT * float(line["useful"])
                mine, peer = (max(float(line[name]), least) for name in ("ours none", "its RMSE"))
                ratios.setdefault((line["relation"], line["bounds"]), []).append(mine / peer if peer else 1.0)
    told = re.search(r"in the middle cell (.*?) of the best peer", page)[1]
    said = [float(one) for one in re.findall(r"\*\*([\d.e-]+)\*\*", told)]
    for regime, figure in zip(("fit", "10x", "1000x"), said, strict=True):
        assert figure == pytest.approx(statistics.median(ratios["replace-one", regime]), rel=0.02)
        assert f"{figure:g}" in readme
    assert "**22.1** times less" in " ".join((folder / "peers_speed.md").read_text().split())
    assert "twenty-second of the CPU" in readme
