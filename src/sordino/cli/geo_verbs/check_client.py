"""Hold a client in any language to the test vectors."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import click

from sordino.cli import render
from sordino.cli.options import json_option
from sordino.errors import AuditFailed, DataError

KINDS = ("noise", "project", "snap", "head", "refuse")


@click.command(name="check-client", context_settings={"ignore_unknown_options": True})
@click.option(
    "--vectors",
    required=True,
    type=click.Path(dir_okay=False),
    help="The test vectors: clients/js/vectors.json of the repository.",
)
@click.argument("program", nargs=-1, required=True)
@json_option
def command(vectors: str, program: tuple[str, ...], as_json: bool) -> None:
    """Run PROGRAM, feed it one test vector per line, and compare the line it answers each with.

    A line is {"kind": ..., "in": ...}; the answer is the vector's "out". Kinds: noise, snap, head, refuse,
    and project (to a micrometre).
    """
    try:
        listed = [
            v for v in json.loads(Path(vectors).read_text(encoding="utf-8"))["vectors"] if v["kind"] in KINDS
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError("check-client", "the file holds no vectors", got={"path": vectors}) from error
    lines = "".join(json.dumps({"kind": v["kind"], "in": v["in"]}) + "\n" for v in listed)
    try:
        done = subprocess.run(  # noqa: S603
            list(program), input=lines, capture_output=True, text=True, check=False, timeout=600
        )
    except OSError as error:
        raise DataError(
            "check-client", "the program cannot be started", got={"program": program[0]}
        ) from error
    answers = done.stdout.splitlines()
    wrong: dict[str, list[int]] = {}
    for i, vector in enumerate(listed):
        answer = _parse(answers[i]) if i < len(answers) else None
        if not agrees(vector["kind"], answer, vector["out"]):
            wrong.setdefault(vector["kind"], []).append(i)
    right = {kind: sum(v["kind"] == kind for v in listed) - len(wrong.get(kind, [])) for kind in KINDS}
    if as_json:
        render.as_json({"right": right, "wrong": wrong})
    else:
        rows = [(kind, right[kind], len(wrong.get(kind, []))) for kind in KINDS]
        render.table(("vectors", "right", "wrong"), rows)
    if wrong:
        raise AuditFailed(
            "check-client",
            "the client disagrees with the vectors and must send nothing",
            got={kind: places[:5] for kind, places in wrong.items()},
        )


def agrees(kind: str, answer: Any, expected: Any) -> bool:
    """Whether an answer is the vector's: exactly, or to a micrometre for projected places."""
    if not isinstance(answer, dict):
        return False
    if kind != "project":
        return bool(answer == expected)
    try:
        return all(abs(float(answer[name]) - float(expected[name])) <= 1e-6 for name in ("east", "north"))
    except (KeyError, TypeError, ValueError):
        return False


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
