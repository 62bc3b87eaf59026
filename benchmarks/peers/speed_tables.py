"""The speed and behaviour parts of the report as Markdown."""

from benchmarks.peers.accuracy_tables import number, said, table
from benchmarks.peers.speed import CAN, SAFE, SIZES, seconds

QUESTIONS = {"median": "median", "q99": "99 % quantile", "mean": "mean", "groupby": "median of 1,000 groups"}


def verdicts(found):
    """The bars of speed and what was measured."""
    lines, million = [], 1_000_000
    for query, bar, words in (("median", 5.0, "at least 5"), ("mean", 1.0, "at least 1 (not slower)")):
        shares = {}
        for kind in ("fresh", "again"):
            safe = {name: cost for name in SAFE if (cost := seconds(found, query, million, name, kind))}
            mine = seconds(found, query, million, "sordino", kind)
            if safe and mine:
                fastest = min(safe, key=safe.get)
                shares[kind] = (safe[fastest] / mine, fastest)
        if len(shares) == 2:
            text = (
                f"{query} of a million floats: fastest float-safe peer over ours; array to answer, one more"
            )
            told = " and ".join(f"{number(share)} ({name})" for share, name in shares.values())
            lines.append((text, words, told, said(min(share for share, _ in shares.values()) >= bar)))
    cost = found["imports"].get("sordino")
    if cost:
        lines.append(("CPU seconds of `import sordino`", "at most 0.3", number(cost), said(cost <= 0.3)))
    return lines


def times(found):
    """CPU seconds from the array to an answer, of one more, of the first; ratios to ours; peak memory."""
    text = []
    for query, title in QUESTIONS.items():
        lines = []
        for rows in (*SIZES["smoke"], *SIZES["full"]):
            mine = seconds(found, query, rows, "sordino", "fresh")
            for name in CAN[query]:
                kept = [
                    r for r in found["times"] if (r["query"], r["rows"], r["library"]) == (query, rows, name)
                ]
                if not kept:
                    continue
                row = kept[0]
                if "estimate" in row:
                    lines.append(
                        (f"{rows:,}", name, f"about {number(row['estimate'])}, not run", "", "", "", "")
                    )
                elif "failed" in row:
                    lines.append((f"{rows:,}", name, f"failed: {row['failed']}", "", "", "", ""))
                else:
                    share = number(row["fresh"] / mine) if mine else "–"
                    lines.append((
                        f"{rows:,}", name, number(row["fresh"]), number(row["again"]), number(row["first"]), share,
                        f"{row['peak_mb']:.0f}",
                    ))  # fmt: skip
        if lines:
            names = (
                "rows",
                "library",
                "array to answer",
                "one more",
                "first of the process",
                "times ours",
                "peak MB",
            )
            text += [f"## {title}", "", table(names, lines), ""]
    return "\n".join(text)


def imports(found):
    """CPU seconds of importing."""
    lines = [
        (name, number(cost)) for name, cost in sorted(found["imports"].items(), key=lambda i: i[1] or 9e9)
    ]
    return table(("library", "CPU s, whole process"), lines) + "\n"


def samplers(found):
    """Noise samples per CPU second."""
    lines = [
        (name, what, f"{round(rate):,}")
        for name, kinds in found["samplers"].items()
        for what, rate in kinds.items()
    ]
    lines.sort(key=lambda line: -int(line[2].replace(",", "")))
    return table(("library", "sampler", "per CPU second"), lines) + "\n"


def behaviour(found):
    """Bad input: what each library does."""
    cases = list(next(one for one in found.values() if "stopped" not in one))
    pairs = [
        (name, kind)
        for name, cases_of in found.items()
        for kind in ("mean", "quantile")
        if any((got or {}).get(kind) for got in cases_of.values() if isinstance(got, dict))
    ]
    pairs.sort(key=lambda pair: pair[0] != "sordino")
    lines = []
    for case in cases:
        got = [(found[name].get(case) or {}).get(kind) or "" for name, kind in pairs]
        lines.append(
            (case, *(one.replace("A ", "**A** ", 1) if one.startswith("A ") else one for one in got))
        )
    return table(("input", *(f"{name} {kind}" for name, kind in pairs)), lines) + "\n"
