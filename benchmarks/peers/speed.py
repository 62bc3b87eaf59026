"""CPU seconds, memory, import time and noise throughput, measured in one run with the libraries taking turns.

Times are CPU seconds of the process and of those it starts; on a shared machine trust the ratios. What would take over
a minute is not run and is given as an estimate from a tenth of the rows. Tumult on Spark takes many minutes and is
measured by itself, once.
"""

import json
import os
import resource
import subprocess
import sys

from benchmarks.peers.libraries import ADAPTERS, ADD_REMOVE, OURS, PEERS, QUANTILES, REPLACE_ONE

SIZES = {"full": (100_000, 1_000_000, 10_000_000), "smoke": (10_000,)}
LONGEST = 60.0
CAN = {
    "median": ("numpy", "sordino", "opendp", "pydp", "diffprivlib", "pipelinedp", "tmlt", "tmlt_spark"),
    "q99": ("numpy", "sordino", "opendp", "pydp", "diffprivlib", "pipelinedp", "tmlt"),
    "mean": ("numpy", "sordino", "opendp", "pydp", "diffprivlib", "pipelinedp", "smartnoise", "tmlt_spark"),
    "groupby": ("numpy", "sordino", "opendp", "pydp", "diffprivlib", "pipelinedp", "tmlt_spark"),
}
ON_SPARK = (  # question, rows: within the limit below
    ("median", 100_000), ("mean", 100_000), ("groupby", 100_000), ("mean", 1_000_000), ("median", 1_000_000),
)  # fmt: skip
LIMIT = 900  # seconds after which a question on Spark is given up
SAFE = ("opendp", "pydp", "pipelinedp", "tmlt")  # whose noise withstands the attacks on floating point


def clocked(place, name, task, limit=None):
    """One measurement in a fresh process, so that peak memory is its own."""
    try:
        done = subprocess.run(
            place.command(ADAPTERS / "clock.py", name), input=json.dumps(task) + "\n",
            capture_output=True, text=True, check=False, env=place.variables(), timeout=limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer within {limit} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1][:160]}
    return json.loads(done.stdout.splitlines()[-1])


def task(query, rows, name):
    """A question about incomes in [0, 5e6] at epsilon 1, in the relation the library keeps."""
    kept = {"sordino": REPLACE_ONE, "opendp": REPLACE_ONE, "diffprivlib": REPLACE_ONE}
    variants = {"sordino": "tight" if query == "mean" else "none"}
    known = PEERS.get(name, OURS)
    asked = {
        "query": query, "rows": rows, "low": 0.0, "high": 5e6, "epsilon": 1.0, "threshold": 1e5, "centre": 6e4,
        "spread": 1e5, "magnitude": rows, "relation": kept.get(name, ADD_REMOVE),
        "variant": variants.get(name, next(iter(known.variants))), "repeats": 3 if rows <= 10**6 else 2,
    }  # fmt: skip
    if query in QUANTILES:
        asked["q"] = QUANTILES[query]
    return asked


def imports(place, module, repeats=3):
    """CPU seconds of a fresh process that imports a module, the least of several."""
    found = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [place.python, "-c", f"import {module}"], capture_output=True, check=False, env=place.variables()
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            return None
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def samplers(place, name):
    """Samples per CPU second of a library's noise."""
    done = subprocess.run(
        place.command(ADAPTERS / "sampling.py", name),
        capture_output=True, text=True, check=False, env=place.variables(),
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}


def measure(places, scale="full", say=print):
    """Everything, with the libraries taking turns within a question."""
    found = {"times": [], "imports": {}, "samplers": {}, "machine": machine()}
    for query, names in CAN.items():
        last = {}
        for rows in SIZES[scale]:
            for name in names:
                if name not in places and name != "numpy":
                    continue
                place = places["sordino"] if name == "numpy" else places[name]
                before = last.get(name)
                row = {"query": query, "rows": rows, "library": name}
                if before and 10 * before > LONGEST:
                    found["times"].append(row | {"estimate": 10 * before})
                    last[name] = 10 * before
                    continue
                got = clocked(place, name, task(query, rows, name))
                found["times"].append(row | got)
                last[name] = got.get("fresh")
                say(f"{query} {rows} {name}: {got}")
    for name, place in places.items():
        module = OURS.module if name == OURS.name else PEERS[name].module
        found["imports"][name] = imports(place, module)
        found["samplers"][name] = samplers(place, name)
        say(f"{name}: import {found['imports'][name]}, {found['samplers'][name]}")
    found["imports"]["numpy"] = imports(places["sordino"], "numpy")
    found["samplers"]["numpy"] = samplers(places["sordino"], "numpy")
    found["machine"]["load_after"] = os.getloadavg()[0]
    return found


def on_spark(places, scale="full", say=print):
    """Times of Tumult through Spark, in the shape of the others; one answer each, for each takes long."""
    found = []
    for query, rows in ON_SPARK if scale == "full" else (("mean", 10_000),):
        asked = task(query, rows, "tmlt") | {"patience": 60.0, "repeats": 1}
        got = clocked(places["tmlt"], "tmlt_spark", asked, LIMIT)
        found.append({"query": query, "rows": rows, "library": "tmlt_spark"} | got)
        say(f"{query} {rows} tmlt_spark: {got}")
    return found


def merge(old, new):
    """Newer measurements in the place of older ones; the machine is the newer one's."""
    if old is None:
        return new
    key = ("query", "rows", "library")
    known = {tuple(row[k] for k in key): row for row in old["times"] + new["times"]}
    return {
        "times": list(known.values()), "imports": old["imports"] | new["imports"],
        "samplers": old["samplers"] | new["samplers"], "machine": new["machine"],
    }  # fmt: skip


def machine():
    """What the reader must know to compare."""
    with open("/proc/cpuinfo") as file:  # noqa: PTH123
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return {
        "processor": names[0] if names else "unknown", "cores": os.cpu_count(),
        "python": sys.version.split()[0], "load": os.getloadavg()[0],
    }  # fmt: skip


def seconds(found, query, rows, library, kind="again"):
    """CPU seconds of one measurement, or None."""
    for row in found["times"]:
        if (row["query"], row["rows"], row["library"]) == (query, rows, library):
            return row.get(kind)
    return None
