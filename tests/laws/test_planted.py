"""The list of planted bugs fits the source, and its page says of each that a law noticed it (`make mutants`)."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLANTED = tomllib.loads((ROOT / "tests" / "mutants" / "planted.toml").read_text(encoding="utf-8"))["mutant"]
ROWS = {
    line.split(" | ")[0].removeprefix("| "): line.split(" | ")[3].strip("| `")
    for line in (ROOT / "docs" / "reference" / "mutants.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| bug", "| ---"))
}
"""What was said of every bug."""


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug["about"])
def test_a_bug_can_still_be_planted(bug):
    """Otherwise it is noticed by nobody: the law would run on the honest source."""
    source = (ROOT / "src" / "sordino" / bug["file"]).read_text(encoding="utf-8")
    assert bug["old"] in source
    assert bug["new"] != bug["old"]
    assert bug["law"].split()[0] in {"replay", "groups", "tests"}


def test_every_bug_has_its_line_and_was_noticed():
    names = [bug["about"] for bug in PLANTED]
    assert len(set(names)) == len(names)
    assert list(ROWS) == names
    for name, said in ROWS.items():
        assert said, name
        assert not said.startswith(("stale", "broken", "nothing")), name
