"""Sordino: `Keys` for keys, and with `counted` for the number of people of each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from keys_protocol import serve

import sordino as sd


def session(people, keys, most):
    """Everybody has at most so many rows, one per key."""
    table = {"who": people, "key": keys, "one": keys * 0}
    unit = sd.Unit("who", max_rows=most)
    return sd.open(table, budget=sd.Approx(1000, 0.5), unit=unit, neighbors="add-remove-one")


def select(people, keys, epsilon, delta, most):
    """Keys alone."""
    answer = session(people, keys, most).release(sd.Keys("key", max_keys=most), sd.Approx(epsilon, delta))
    return dict.fromkeys(int(key) for key in answer.public["keys"])


def ask(people, keys, epsilon, delta, most):
    """Keys and the number of people of each, in one draw."""
    asked = sd.Keys("key", max_keys=most, counted=True)
    answer = session(people, keys, most).release(asked, sd.Approx(epsilon, delta))
    return {int(key): float(value) for key, value in zip(answer.public["keys"], answer.value, strict=True)}


if __name__ == "__main__":
    serve({"counts": ask, "keys": select})
