"""Sordino through its public door: a session, a statistic, a price; the variant says what else the caller may know."""

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


def prepare(task, column):
    """Open the column once with a book in memory; every answer is a release that is debited."""
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
