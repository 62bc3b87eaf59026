"""Sordino through its public door: a session, a statistic, a price; the variant says what else the caller may know.

A task with `law` is answered by the root mean square and the median error of the exact output law instead of by draws,
and by the standard error of the logarithm of the first, where a mechanism's law holds given what it found in a search;
rare far answers then count in full.
"""

from dataclasses import replace
from fractions import Fraction

from protocol import Unsupported, serve

import sordino as sd

RELATIONS = {"replace-one": sd.Neighbors.REPLACE_ONE, "add/remove": sd.Neighbors.ADD_REMOVE_ONE}
SEARCHES = 60  # simulated searches of a mechanism whose law holds given what they find


def statistic(task):
    """The statistic that is asked."""
    query = task["query"]
    bounds = {"low": task["low"], "high": task["high"]}
    if query == "count":
        return sd.CountAbove("x", threshold=task["threshold"])
    kinds = {
        "mean": sd.Mean, "variance": sd.Variance, "median": sd.Median, "min": sd.Minimum, "max": sd.Maximum,
    }  # fmt: skip
    if query in kinds:
        return kinds[query]("x", **bounds)
    if "q" in task:
        return sd.Quantile("x", q=task["q"], **bounds)
    raise Unsupported(query)


def hints(task):
    """What the caller says beyond the bounds."""
    if task["variant"] == "rough":
        return {"centre": task["centre"], "spread": task["spread"]}
    return {task["variant"]: True} if task["variant"] in ("tight", "loose") else {}


def unbiased(task, rows):
    """By what a released variance is multiplied: the number of rows is public under replace-one."""
    return rows / (rows - 1) if task["query"] == "variance" and task["relation"] == "replace-one" else 1


def exact(task, column):
    """The root mean square and the median error of what would be released, from its law."""
    from sordino.data.memory import Memory
    from sordino.exact.bits import SeededBits
    from sordino.mechanisms.choose import choose, output_grid
    from sordino.planner.spread import summarise

    private = task["relation"] == "add/remove"
    asked = replace(statistic(task), neighbors=RELATIONS[task["relation"]])
    rows = task["magnitude"] if private else len(column)
    chosen = choose(asked, sd.Pure(task["epsilon"]), rows=rows, **hints(task))
    source, grid, bits = Memory({"x": column}), output_grid(asked), SeededBits(1)

    known = {}

    def ask(request):
        if request not in known:
            (known[request],) = source.summary(request)
        return known[request]

    factor = unbiased(task, len(column))
    truth, errors = task["truth"] / factor, []
    for _ in range(SEARCHES if chosen.searches else 1):
        laws = chosen.error_laws(asked, ask, grid, truth, bits=bits) or of_extreme(chosen, asked, ask, truth)
        if laws is None:
            raise Unsupported("a composition has no law in closed form")
        errors += laws
    found = summarise(errors, tables=len(errors))
    doubt = found.rms_error / found.rms if chosen.searches and found.rms else 0.0
    return found.rms * factor, found.median * factor, doubt


def of_extreme(chosen, asked, ask, truth):
    """The law of a minimum or maximum: its anchor is summed over, so one reading is enough."""
    from sordino.mechanisms.parts.error_law import ErrorLaw

    if chosen.name != "extreme":
        return None
    reading = asked.read(ask(asked.request(depth=chosen.depth)))
    return [ErrorLaw(chosen.law(reading), truth=Fraction(truth), step=None)]


def prepare(task, column):
    """Open the column once with a ledger in memory; every answer is a release that is debited."""
    if task.get("law"):
        return iter(exact(task, column)).__next__
    private = task["relation"] == "add/remove"
    people = sd.open(
        {"x": column},
        budget=sd.Pure(10**6),
        neighbors=RELATIONS[task["relation"]],
        rows=task["magnitude"] if private else None,
    )
    asked, price, known = statistic(task), sd.Pure(task["epsilon"]), hints(task)
    factor = unbiased(task, len(column))
    return lambda: people.release(asked, price, **known).value * factor


if __name__ == "__main__":
    serve(prepare)
