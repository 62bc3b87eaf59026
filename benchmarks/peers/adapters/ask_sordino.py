"""Sordino through its public door: a session, a statistic, a price; the variant says what else the caller may know.

A task with `law` is answered by the root mean square and the median error of the exact output law instead of by draws,
where the chosen mechanism has one; rare far answers then count in full.
"""

from dataclasses import replace
from fractions import Fraction

from protocol import Unsupported, serve

import sordino as sd

RELATIONS = {"replace-one": sd.Neighbors.REPLACE_ONE, "add/remove": sd.Neighbors.ADD_REMOVE_ONE}


def statistic(task):
    """The statistic that is asked."""
    query = task["query"]
    bounds = {"low": task["low"], "high": task["high"]}
    if task.get("step"):
        bounds["step"] = task["step"]
    if query == "count":
        return sd.CountAbove("x", threshold=task["threshold"])
    if query in ("mean", "mean_auto"):
        return sd.Mean("x", **bounds)
    kinds = {"variance": sd.Variance, "median": sd.Median, "min": sd.Minimum, "max": sd.Maximum}
    if query in kinds:
        return kinds[query]("x", **bounds)
    if "q" in task:
        return sd.Quantile("x", q=task["q"], **bounds)
    raise Unsupported(query)


def hints(task):
    """What the caller says beyond the bounds."""
    if task["variant"] == "rough":
        return {"centre": task["centre"], "spread": task["spread"]}
    if task["variant"] == "tight":
        if task["query"] == "mean_auto":
            raise Unsupported("a mean without tight bounds")
        return {"tight": True}
    return {}


def exact(task, column):
    """The root mean square and the median error of what would be released, from its law."""
    from sordino.data.memory import Memory
    from sordino.mechanisms.choose import choose
    from sordino.mechanisms.parts.error_law import ErrorLaw
    from sordino.planner.spread import summarise
    from sordino.reading.profile import Reading

    private = task["relation"] == "add/remove"
    asked = replace(statistic(task), neighbors=RELATIONS[task["relation"]])
    rows = task["magnitude"] if private else len(column)
    chosen = choose(asked, sd.Pure(task["epsilon"]), rows=rows, **hints(task))
    aimed = asked if getattr(chosen, "shift", None) is None else replace(asked, shift=chosen.shift)
    source = Memory({"x": column})
    (summary,) = source.summary(replace(aimed.request(depth=chosen.depth), cuts=getattr(chosen, "cuts", ())))
    reading = Reading(replace(aimed.read(summary).open(), below=summary.below))
    (plain,) = source.summary(asked.request(depth=1))
    opened = asked.read(plain).open()
    truth = opened.units.real(opened.value)
    if task["variant"] == "hinted":  # narrower bounds may cut the column
        truth = task["truth"]
    try:
        law = chosen.law(reading)
    except sd.Unsupported as error:
        raise Unsupported("a composition has no law in closed form") from error
    # Answers with noise are cut to the range of the statistic; lattice laws live inside it.
    cut = getattr(chosen, "clip", False) or chosen.name == "geometric"
    ends = (opened.bottom, opened.top) if cut and None not in (opened.bottom, opened.top) else ()
    bounds = dict(zip(("low", "high"), (float(opened.units.real(end)) for end in ends), strict=False))
    errors = ErrorLaw(law, truth=Fraction(truth), step=None, **bounds)
    found = summarise([errors])
    return found.rms, found.median


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
    rows = len(column)
    unbiased = rows / (rows - 1) if task["query"] == "variance" and not private else 1
    return lambda: people.release(asked, price, **known).value * unbiased


if __name__ == "__main__":
    serve(prepare)
