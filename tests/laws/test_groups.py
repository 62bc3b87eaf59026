"""Many groups at once: they make the choices of single answers, and joint draws have the laws of single ones."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino import catalogue
from sordino.data import open_source
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.clip.cut_talk import CutTalk
from sordino.mechanisms.clip.cutting import Cutting
from sordino.mechanisms.parts.draws import Draws, ForcedBits
from sordino.privacy import Neighbors, Pure
from sordino.reading.split import Split
from sordino.session.form import rehearse
from sordino.session.groups import answers_by_group
from sordino.session.quote import Part
from sordino.testing.draw_laws import Made
from sordino.testing.group_laws import KeyedDraws, content, grouped_as_alone, joint
from sordino.testing.joint_draws import deviations, drawn_together
from sordino.testing.runs import Side

JOINT = [name for name, kind in catalogue.mechanisms().items() if joint(kind)]
LONG = (
    "plain-or-cut",
    "plain-or-cut-squares",
)  # whose joint draws mechanisms/test_cut_groups.py looks at in every run


def test_the_mechanisms_that_draw_together_are_found():
    assert {"geometric", "additive-vector", "plain-or-cut", "quantile", "extreme"} <= set(JOINT)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", JOINT)
def test_groups_make_the_choices_of_single_answers(name):
    assert list(grouped_as_alone(catalogue.mechanisms()[name])) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", JOINT)
def test_groups_make_the_choices_of_single_answers_in_every_case(name):
    assert list(grouped_as_alone(catalogue.mechanisms()[name], thorough=True)) == []


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in JOINT]
)
def test_joint_draws_have_the_laws_of_single_ones(name):
    assert list(drawn_together(catalogue.mechanisms()[name])) == []


# What must be noticed -------------------------------------------------------------------------------------------------


def worst(made):
    return {about: found for about, found in deviations(made) if found > 1}


@pytest.mark.statistical
def test_half_the_noise_and_shared_noise_are_noticed(monkeypatch):
    made = Made("geometrics", ([5, 90, 7],), {"scale": Fraction(3), "price": Pure(1)})
    assert worst(made) == {}
    honest = Draws.geometrics
    monkeypatch.setattr(
        Draws,
        "geometrics",
        lambda self, values, *, scale, price: honest(self, values, scale=scale / 2, price=price),
    )
    assert worst(made)["another law"] > 2

    def shared(self, values, *, scale, price):
        """Right for every group alone, and the same noise for three groups in a row."""
        noise = honest(self, [0] * (len(values) // 3), scale=scale, price=price)
        return [value + noise[place // 3] for place, value in enumerate(values)]

    monkeypatch.setattr(Draws, "geometrics", shared)
    assert set(worst(made)) == {"shared noise"}


def test_the_count_of_another_group_is_noticed(monkeypatch):
    def wrong(self, values, **named):
        return [self.noisy(one, **named)[0] for one in [*values[1:], values[0]]]

    monkeypatch.setattr(KeyedDraws, "noisy_each", wrong, raising=False)
    assert any("told something else" in one for one in grouped_as_alone(catalogue.mechanisms()["counted"]))


def test_a_forgotten_contribution_is_noticed(monkeypatch):
    honest = CutTalk.__init__

    def forgets(self, mechanism, codes, grid, *, contribution, bits):
        honest(self, mechanism, codes, grid, contribution=contribution, bits=bits)
        if forgets.together:
            self.contribution = 1

    forgets.together = False
    mechanism = catalogue.mechanisms()["plain-or-cut"]
    together = Cutting.answers

    def answers(self, *given, **named):
        forgets.together = True
        try:
            return together(self, *given, **named)
        finally:
            forgets.together = False

    monkeypatch.setattr(CutTalk, "__init__", forgets)
    monkeypatch.setattr(Cutting, "answers", answers)
    assert any("3 rows per person: together other choices" in one for one in grouped_as_alone(mechanism))


# From a session -------------------------------------------------------------------------------------------------------

KEYS = ("a", "b", "c", "none")
ADD = Neighbors.ADD_REMOVE_ONE
ASKED = [
    sd.Median("x", low=0, high=100, step=1, neighbors=ADD),
    sd.Mean("x", low=0, high=100, neighbors=ADD),
    sd.Maximum("x", low=0, high=100, step=1, neighbors=ADD),
    sd.Count("x", neighbors=ADD),
    sd.Histogram("x", edges=(0, 50, 100), neighbors=ADD),
    sd.Variance("x", low=0, high=100, neighbors=ADD),
]


def table():
    rng = np.random.default_rng(4)
    sizes = {"a": 300, "b": 40, "c": 3}
    return {
        "x": np.concatenate(
            [rng.integers(0, 30 + 20 * place, size) for place, size in enumerate(sizes.values())]
        )
        * 1.0,
        "g": np.repeat(list(sizes), list(sizes.values())),
    }


def elsewhere(columns):
    """A source whose rows are asked for together, as in a database."""
    import polars as pl

    source = open_source(pl.DataFrame(columns).lazy())
    source._nearby = False
    return source


@pytest.mark.parametrize("kind", [open_source, elsewhere], ids=["memory", "elsewhere"])
def test_a_session_makes_for_groups_the_choices_of_single_answers(kind, monkeypatch):
    """All that stands between a release by group and its mechanism: pages of groups, first and further questions."""
    columns, split, grouped = table(), Split.of("g", KEYS), {}
    monkeypatch.setattr("sordino.session.groups.CODES", 300)  # a page holds a group or two
    monkeypatch.setattr("sordino.session.groups.TALKS", 2)
    parts, mean = [], next(one for one in ASKED if one.name == "mean")
    chosen = [(one, choose(one, Pure(1), rows=100)) for one in ASKED]
    for statistic, mechanism in [*chosen, (mean, choose(mean, Pure(1), rows=100, loose=True))]:
        grid = output_grid(statistic)
        parts.append(Part(statistic, mechanism, grid, rehearse(statistic, mechanism, grid, 2)[0], 2, {}))
    outcomes, run = {}, None
    monkeypatch.setattr(Draws, "of", lambda bits: bits.draws if isinstance(bits, ForcedBits) else run)
    for part in parts:
        statistic, mechanism, grid = part.statistic, part.mechanism, part.grid
        made, alone = Counter(), []
        for key in KEYS:
            run = KeyedDraws(outcomes, 5)
            rows = Side({"x": columns["x"][columns["g"] == key]})
            alone.append(mechanism.answer(statistic, rows.ask, grid, contribution=2))
            made += run.made
        run = KeyedDraws(outcomes, 5)
        (found,) = answers_by_group(kind(columns), split, (part,))
        grouped[statistic.name, mechanism.name] = run.made == made
        assert [one.value for one in found] == [one.value for one in alone], statistic.name
        assert [content(dict(one.public)) for one in found] == [content(dict(one.public)) for one in alone], (
            statistic.name
        )
    assert all(grouped.values()), grouped
    assert any(part.mechanism.asks_again for part in parts)
