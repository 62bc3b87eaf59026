"""How keys are asked of a library in another environment: a JSON task a line in, found keys and counts out."""

import json
import random
import sys
import time
import warnings
from collections import defaultdict


def bounded(people, keys, most):
    """At most so many different keys of each person, drawn at random, for libraries that leave it to the caller."""
    own = defaultdict(set)
    for who, key in zip(people.tolist(), keys.tolist(), strict=True):
        own[who].add(key)
    for who, some in own.items():
        for key in some if len(some) <= most else random.sample(sorted(some), most):
            yield who, key


def serve(ways, tasks=sys.stdin, replies=sys.stdout):
    """Answer tasks until there are no more."""
    import numpy as np

    warnings.simplefilter("ignore")
    told = replies
    for line in tasks:
        task = json.loads(line)
        pairs = np.load(task["pairs"])
        answers, raised, started = [], None, time.process_time()
        for _ in range(task["repeats"]):
            try:
                found = ways[task["way"]](pairs[0], pairs[1], task["epsilon"], task["delta"], task["most"])
                answers.append({"keys": list(found), "counts": list(found.values())})
            except Exception as error:  # noqa: BLE001 - whatever a library raises is its answer
                raised = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
                break
        told.write(
            json.dumps({"answers": answers, "raised": raised, "seconds": time.process_time() - started})
            + "\n"
        )
        told.flush()
