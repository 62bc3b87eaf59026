"""Which of our functions a command runs: what the files that it makes depend on.

    python docs/traced.py FILE python -m benchmarks.noise.figures docs/_static

runs the command in this process and writes into FILE a digest of every function of ours that was called, and of what
stands outside functions in its module. Nothing else can have changed the result; who reads docs/generated.json asks
whether all of it is still there.
"""

from __future__ import annotations

import runpy
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self


class Trace:
    """Collects the functions that are called while it is entered, in every thread."""

    def __init__(self) -> None:
        self._seen: dict[int, CodeType] = {}

    def __enter__(self) -> Self:
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        return self

    def __exit__(self, *problem: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ARG002
        if event == "call":
            self._seen.setdefault(id(frame.f_code), frame.f_code)

    def digests(self) -> list[str]:
        """Digests of what was called, and of the constants beside it."""
        from reproductions.dependencies import pieces, source

        found: set[str] = set()
        for code in self._seen.values():
            name = code.co_qualname.partition(".<")[
                0
            ]  # a function within a function belongs to the outer one
            if name.startswith("<") or (path := source(code.co_filename)) is None:
                continue
            known = pieces(path)
            found |= {known[one] for one in (name, "") if one in known}
        return sorted(found)


def main(file: str, program: str, *words: str) -> None:
    """Run a command as it is typed: ``python -m MODULE ...`` or ``sordino ...``."""
    module, *rest = words[1:] if program == "python" else ("sordino", *words)
    sys.argv = [module, *rest]
    trace = Trace()
    with trace:
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            if ended.code:
                raise
    Path(file).write_text(" ".join(trace.digests()), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
