"""Answers on disk: JSON lines by library, version and adapter.

So a run resumes, and a change of ours reruns ours alone.
"""

import ast
import hashlib
import json
from pathlib import Path


def meaning(path):
    """What a script does, without its layout and comments: a reformatted adapter keeps its answers."""
    return ast.dump(ast.parse(path.read_text()))


class Answers:
    """The answers of one library in one version through one adapter.

    Args:
        cache: The cache folder.
        library: Which library.
        version: What is installed, as a line of text.
    """

    def __init__(self, cache, library, version):
        key = hashlib.sha256(
            (version + meaning(library.adapter.with_name("protocol.py")) + meaning(library.adapter)).encode()
        )
        self.path = Path(cache) / "answers" / f"{library.name}-{key.hexdigest()[:12]}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._found = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    self._keep(json.loads(line))
                except json.JSONDecodeError:  # the last line of a run that was stopped
                    continue

    def _keep(self, reply):
        kept = self._found.setdefault(
            reply["id"], {"values": [], "raised": {}, "seconds": 0.0, "unsupported": False}
        )
        kept["values"] += reply["values"]
        kept["seconds"] += reply["seconds"]
        kept["unsupported"] |= reply.get("unsupported", False)
        for message, count in reply["raised"].items():
            kept["raised"][message] = kept["raised"].get(message, 0) + count

    def add(self, reply):
        """Keep one reply, on disk first."""
        with self.path.open("a") as file:
            file.write(json.dumps(reply) + "\n")
        self._keep(reply)

    def get(self, name):
        """All answers to one question, or None."""
        return self._found.get(name)

    def missing(self, name, wanted):
        """How many repetitions are still wanted."""
        kept = self._found.get(name)
        if kept is None:
            return wanted
        if kept["unsupported"]:
            return 0
        return max(0, wanted - len(kept["values"]) - sum(kept["raised"].values()))
