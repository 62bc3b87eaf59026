"""The architecture page describes the tree that is there, and the layers that are enforced."""

import re
import tomllib
from pathlib import Path

import sordino

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = Path(sordino.__file__).parent


def rooms():
    """Every module and folder of the package, as the page writes it."""
    for path in PACKAGE.iterdir():
        if path.is_dir() and (path / "__init__.py").exists():
            yield f"sordino/{path.name}/"
        elif path.suffix == ".py" and path.stem != "__init__":
            yield f"sordino/{path.name}"


def test_the_page_lists_every_room_and_no_other():
    listed = re.findall(r"^\| `(sordino/[\w./]+)`", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(rooms())


def test_the_page_names_every_family_of_mechanisms_and_every_part_of_a_session():
    families = [path.name for path in (PACKAGE / "mechanisms").iterdir() if (path / "__init__.py").exists()]
    assert all(f"`{name}/`" in PAGE for name in families)
    parts = [path.stem for path in (PACKAGE / "session").glob("*.py") if path.stem != "__init__"]
    assert all(f"`{name}`" in PAGE for name in parts)


def test_every_room_is_on_a_line_and_every_line_has_a_room():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    lined = {name for layer in layers for name in re.findall(r"\w+", layer)}
    assert lined == {re.sub(r"\.py$|/$", "", room).split("/")[-1] for room in rooms()}
    drawn = set(re.findall(r"\b\w+\b", PAGE.split("```")[1]))
    assert lined <= drawn
