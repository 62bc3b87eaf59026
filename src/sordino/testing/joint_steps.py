"""The law of many independent draws at once, held against that of a neighbour: only those that differ tell them apart.

For mechanisms that draw for every key or cell of a table. Single draws are in noise_steps.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.lattice import Lattice
from sordino.noise.gaussian import Gaussian
from sordino.testing.noise_steps import GeometricStep, NoiseStep
from sordino.testing.steps import Parts, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray


def product(factors: list[list[tuple[Any, float, float]]]) -> list[tuple[tuple[Any, ...], float, float]]:
    """Outcomes of independent draws, each with its log probability on both tables."""
    found = []
    for chosen in itertools.product(*factors):
        outcomes, here, there = zip(*chosen, strict=True) if chosen else ((), (), ())
        found.append((tuple(outcomes), math.fsum(here) if here else 0.0, math.fsum(there) if there else 0.0))
    return found


@dataclass(frozen=True, kw_only=True)
class KeysStep(Step):
    """Which keys are shown, and as what."""

    kind: ClassVar[str] = "keys"
    amounts: Mapping[Any, int]
    law: Any

    @property
    def question(self) -> Any:
        """The rule; which keys there are is private."""
        return self.law

    def parts(self, other: KeysStep) -> Parts:
        """Every outcome of the keys whose people differ; the others are shown as they most likely are."""
        union = {*self.amounts, *other.amounts}
        differ = sorted(
            (key for key in union if self.amounts.get(key, 0) != other.amounts.get(key, 0)), key=str
        )
        top = max([*self.amounts.values(), *other.amounts.values(), 0])
        usual = {}
        for key in sorted(union - set(differ), key=str):
            shown, hidden = self.law.logs(self.amounts[key], top)
            if hidden < math.log(0.5):
                usual[key] = max(shown, key=shown.__getitem__)
        factors = []
        for key in differ:
            (here, here_not), (there, there_not) = (
                self.law.logs(step.amounts.get(key, 0), top) for step in (self, other)
            )
            outcomes: list[tuple[Any, float, float]] = [((key, None), here_not, there_not)]
            outcomes += [
                ((key, value), here.get(value, -math.inf), there.get(value, -math.inf))
                for value in sorted({*here, *there})
            ]
            factors.append(outcomes)
        joint = product(factors)
        named = [
            tuple((usual | {key: value for key, value in outcome if value is not None}).items())
            for outcome, _, _ in joint
        ]
        ours, theirs = (np.array([row[place] for row in joint]) for place in (1, 2))
        with np.errstate(invalid="ignore"):
            loss = ours - theirs
        loss[np.isneginf(ours) & np.isneginf(theirs)] = 0.0
        return Parts(named, ours, theirs, loss)


@dataclass(frozen=True, kw_only=True)
class CellsStep(Step):
    """Cells of a table, each plus two-sided geometric noise."""

    kind: ClassVar[str] = "cells"
    cells: NDArray[np.int64]
    scale: Fraction

    @property
    def question(self) -> Any:
        """The shape of the table and the noise."""
        return self.cells.shape, self.scale

    def parts(self, other: CellsStep) -> Parts:
        """The cells that differ, together; all others are as they are."""
        here, there = self.cells.reshape(-1), other.cells.reshape(-1)
        factors = []
        places = np.flatnonzero(here != there).tolist()
        for place in places:
            pair = [
                GeometricStep(price=self.price, value=int(one[place]), scale=self.scale)
                for one in (here, there)
            ]
            found = pair[0].parts(pair[1])
            assert found.here is not None
            assert found.there is not None
            factors.append(list(zip(found.outcomes, found.here.tolist(), found.there.tolist(), strict=True)))
        joint = product(factors)
        outcomes = []
        for outcome, _, _ in joint:
            table = here.copy()
            table[places] = outcome
            outcomes.append(tuple(table.tolist()))
        ours, theirs = (np.array([row[side] for row in joint]) for side in (1, 2))
        return Parts(outcomes, ours, theirs, ours - theirs)


@dataclass(frozen=True, kw_only=True)
class CentredStep(Step):
    """A part of a table: noise on a margin of which only what is left without the means is used.

    The two laws are Gaussian and their centres differ along one line, so a Gaussian on that line is all there is to
    see; that rounding adds nothing to it is a theorem, whose exact laws are in tests/mechanisms/test_margins.py.
    """

    kind: ClassVar[str] = "centred"
    margin: NDArray[np.int64]
    sigma: Fraction
    factor: int

    @property
    def question(self) -> Any:
        """The shape of the margin and the noise."""
        return self.margin.shape, self.sigma, self.factor

    def gap(self, other: CentredStep) -> NDArray[np.float64]:
        """How far the two centres lie apart in what is used."""
        found = (self.margin - other.margin).astype(float)
        for axis in range(found.ndim):
            found = found - found.mean(axis=axis, keepdims=True)
        return found

    def parts(self, other: CentredStep) -> Parts:
        """The line between the two centres."""
        gap = self.gap(other)
        away = float(np.sqrt((gap**2).sum())) / float(self.sigma)
        line = [
            NoiseStep(
                price=self.price,
                noise=Gaussian(),
                location=Fraction(place),
                scale=Fraction(1),
                grid=Lattice.dyadic(-20),
            )
            for place in (0.0, away)
        ]
        found = line[0].parts(line[1])
        outcome = tuple((self.factor * self.margin).reshape(-1).tolist())
        return Parts([outcome] * len(found.loss), found.here, found.there, found.loss, found.exact)


@dataclass(frozen=True, kw_only=True)
class GaussianCellsStep(CentredStep):
    """Whole numbers, each plus Gaussian noise, all of which are used."""

    kind: ClassVar[str] = "gaussian-cells"

    def gap(self, other: CentredStep) -> NDArray[np.float64]:
        """All that moves; multiples of a whole number commute with rounding to one."""
        return (self.margin - other.margin).astype(float)


@dataclass(frozen=True, kw_only=True)
class CubeStep(Step):
    """Several numbers with noise whose density falls with the largest scaled coordinate."""

    kind: ClassVar[str] = "cube"
    cube: Any
    grid: Lattice

    @property
    def question(self) -> Any:
        """The scales and the grid; where the numbers are is private."""
        return len(self.cube.centre), self.cube.scales, self.grid

    def parts(self, other: CubeStep) -> Parts:
        """The losses far beyond each number on either side, where they are extreme, and at both centres."""
        pairs = zip(self.cube.centre, other.cube.centre, self.cube.scales, strict=True)
        shift = [float((b - a) / scale) if scale else (0.0 if a == b else math.inf) for a, b, scale in pairs]
        places: list[list[float]] = [[0.0] * len(shift), list(shift)]
        for axis in range(len(shift)):
            for side in (-1.0, 1.0):
                point = [0.0] * len(shift)
                point[axis] = side * (2 * max(map(abs, shift)) + 10)
                places.append(point)
        losses, outcomes = [], []
        for point in places:
            away = max(abs(one - gap) for one, gap in zip(point, shift, strict=True))
            losses.append(away - max(map(abs, point)))
            real = (
                value + scale * Fraction(one)
                for value, scale, one in zip(self.cube.centre, self.cube.scales, point, strict=True)
            )
            outcomes.append(tuple(math.floor(one / self.grid.step + Fraction(1, 2)) for one in real))
        return Parts(outcomes, None, None, np.array(losses))
