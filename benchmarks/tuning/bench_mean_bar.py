"""Constants of the bars of clipped means and variances: width with each moved, over the width as shipped."""

import sordino as sd
from benchmarks.tuning.answers import answers
from benchmarks.tuning.moved import COLUMNS, Cell, shapes, sweep
from sordino.mechanisms.tuned_means import ForMeanBar

RELEASES = 12


class Width(Cell):
    """A bar is made of what is published: the same draws, and another width."""

    def error(self):
        found = answers(self.statistic, self.price, {"x": self.column}, times=RELEASES, **dict(self.hints))
        return sum(float(bar.high - bar.low) for _, bar in found) / RELEASES


def cells():
    """Every shape at two sizes, within fitting and far too wide bounds, in both relations."""
    for rows, epsilon in ((201, 1), (1001, 0.3)):
        for name, column in shapes(rows).items():
            for kind in (sd.Mean, sd.Variance):
                for high, relation in (
                    (100, "replace-one"),
                    (10_000, "replace-one"),
                    (10_000, "add-remove-one"),
                ):
                    asked = f"{kind.name} of {name} high={high} n={rows} {relation}"
                    statistic = kind("x", low=0, high=high, neighbors=sd.Neighbors(relation))
                    yield Width(asked, statistic, sd.Pure(epsilon), column, (("interval", 0.95),))


def tables():
    """What becomes of the width."""
    yield (
        "Constants of the bars of clipped means and variances: width with each moved, over the width as shipped.",
        COLUMNS,
        sweep(ForMeanBar, list(cells())),
    )
