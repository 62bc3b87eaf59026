"""The architecture page describes the tree that is there, and the layers that are enforced."""

import ast
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


def test_a_class_name_stands_for_one_class():
    homes = {}
    for path in PACKAGE.parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path.relative_to(PACKAGE.parent).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_no_file_grows_past_400_lines():
    long = {
        str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_no_example_leaves_a_file_in_the_repository():
    assert [
        path.name for path in ROOT.iterdir() if path.suffix in {".json", ".csv", ".parquet", ".sqlite"}
    ] == []
