"""Laws for authors: run over the catalogue, and they notice what is wrong."""

import dataclasses
from fractions import Fraction

import pytest
from click.testing import CliRunner

from sordino.cli import program
from sordino.errors import ParameterError
from sordino.exact.recipe import Fast
from sordino.noise.laplace import Laplace
from sordino.noise.laplace.sampler import LaplaceRecipe
from sordino.statistics.count import Count
from sordino.statistics.median import Median
from sordino.testing import check
from sordino.testing.check import find
from sordino.testing.recipe_laws import recipes, tolerance


@pytest.mark.parametrize("recipe", list(recipes()), ids=repr)
def test_every_recipe_keeps_its_tolerance(recipe):
    assert list(tolerance(recipe, 120)) == []


@pytest.mark.parametrize(
    "name", ["median", "mode", "laplace", "selection", "sordino.exact.exponential.ExponentialRecipe"]
)
def test_our_own_classes_keep_their_laws(name):
    assert [verdict.problems for verdict in check(name) if not verdict.holds] == []


class Hasty(LaplaceRecipe):
    """A recipe that claims to be exact in floats."""

    def fast(self, f, *x):
        return Fast(LaplaceRecipe.fast(self, f, *x).value, 0.0)


class Narrow(Median):
    """A median that hides half of its sensitivity."""

    name = ""

    def open(self, summary):
        opened = Median.open(self, summary)
        profile = opened.profile
        less = dataclasses.replace(
            profile, bound=tuple(b // 2 for b in profile.bound), ceiling=profile.ceiling
        )
        return dataclasses.replace(opened, profile=less)

    @classmethod
    def cases(cls):
        for case in Median.cases():
            fields = {f.name: getattr(case.statistic, f.name) for f in dataclasses.fields(case.statistic)}
            yield dataclasses.replace(case, statistic=cls(**fields))


class Loud(Laplace):
    """Laplace noise that promises twice what it keeps."""

    name = ""

    @classmethod
    def cases(cls):
        yield cls()

    @classmethod
    def _calibrate_pure(cls, target, smoothing, method):
        found = Laplace._calibrate_pure.__func__(cls, target, smoothing, method)
        return dataclasses.replace(found, scale=found.scale / Fraction(2))


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Hasty, "the tolerance holds for every completion"),
        (Narrow, "envelopes of every dataset"),
        (Loud, "calibrations keep their promise"),
    ],
)
def test_a_wrong_plug_in_is_told(kind, law):
    assert law in {verdict.law for verdict in check(kind) if not verdict.holds}


def test_the_verb_has_exit_codes():
    run = CliRunner()
    good = run.invoke(program, ["check", "sordino.statistics.count.Count"])
    assert good.exit_code == 0, good.output
    assert "holds" in good.output
    assert find("count") is Count
    for name in ("no.such.Class", "median-of-nothing"):
        with pytest.raises(ParameterError):
            find(name)
