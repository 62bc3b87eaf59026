"""What every library does with bad input, rerun in its environment. Judging an outcome is the page's work."""

import json
import subprocess

from benchmarks.peers.libraries import ADAPTERS


def measure(places, say=print):
    """Outcomes by library, case and question; a library that stops whole says so in every case."""
    found = {}
    for name, place in places.items():
        done = subprocess.run(
            place.command(ADAPTERS / "mistakes.py", name),
            capture_output=True, text=True, check=False, env=place.variables(), timeout=600,
        )  # fmt: skip
        if done.returncode:
            found[name] = {"stopped": (done.stderr.strip().splitlines() or ["no message"])[-1][:160]}
        else:
            found[name] = json.loads(done.stdout.splitlines()[-1])
        say(f"{name}: {len(found[name])} cases")
    return found
