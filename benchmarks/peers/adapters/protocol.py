"""How the benchmark talks to a library in another environment: one JSON task a line in, one JSON line of answers out.

Runs inside the library's own environment, so it imports numpy and the standard library only. A library is a function
`prepare(task, column)` that returns a function of no arguments which draws one private answer.
"""

import json
import sys
import time
import warnings


class Unsupported(Exception):
    """The library has no such question."""


def text(error):
    """One short line of an exception: its class and the start of its message."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:120]}"


def answer(prepare, task, column):
    """Draw the repetitions of one task, at most `seconds` CPU seconds of them, but three at least."""
    reply = {"id": task["id"], "values": [], "raised": {}, "seconds": 0.0}
    try:
        ask = prepare(task, column)
    except Unsupported:
        reply["unsupported"] = True
        return reply
    except Exception as error:  # noqa: BLE001 - whatever a library raises is its answer
        reply["raised"][text(error)] = task["repeats"]
        return reply
    for count in range(task["repeats"]):
        started = time.process_time()
        try:
            reply["values"].append(float(ask()))
        except Exception as error:  # noqa: BLE001
            reply["raised"][text(error)] = reply["raised"].get(text(error), 0) + 1
        reply["seconds"] += time.process_time() - started
        if count >= 2 and reply["seconds"] > task.get("seconds", 1e9):
            break
    return reply


def serve(prepare, tasks=sys.stdin, replies=sys.stdout):
    """Answer tasks until there are no more."""
    import numpy as np

    warnings.simplefilter("ignore")
    columns = {}
    for line in tasks:
        task = json.loads(line)
        path = task["column"]
        if path not in columns:
            columns = {path: np.load(path)}
        replies.write(json.dumps(answer(prepare, task, columns[path])) + "\n")
        replies.flush()
