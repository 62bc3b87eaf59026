"""Every generated picture says which command makes it, and is stale when what it depends on changes, and only then."""

import json
import re
import runpy

import pytest

from docs import generated
from docs.traced import Trace
from reproductions import dependencies
from tests.support.places import ROOT

MADE = generated.all_made()
PICTURES = [path for ending in ("svg", "png") for path in (ROOT / "docs").rglob(f"*.{ending}")]
PICTURES = [path for path in PICTURES if "_build" not in path.parts]
PAGES = [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts] + [ROOT / "README.md"]


def test_every_picture_has_one_command():
    pictures = [path for made in MADE for path in made.paths() if path.suffix != ".md"]
    assert sorted(pictures) == sorted(PICTURES)
    assert all(dependencies._file(module) for made in MADE for module in made.modules)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_how_its_pictures_are_made(page):
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"(?:\]\(|\{image\} )([^)\s]+\.(?:svg|png))", text)
    for name in shown:
        path = (page.parent / name).resolve()
        (command,) = [made.command for made in MADE if path in made.paths()]
        program = re.match(r"python -m [\w.]+|sordino \w+ \w+", command).group()
        folder = page.parent if page.parent.name == "papers" else None
        beside = (folder / "running.md").read_text(encoding="utf-8") if folder else ""
        assert program in text + beside, f"{page} shows {name} and does not say: {command}"


def test_every_command_is_recorded_with_modules_that_exist():
    record = json.loads(generated.RECORD.read_text(encoding="utf-8"))
    assert set(record) == {made.command for made in MADE}


def forget():
    for kept in (
        dependencies._file, dependencies._digest, dependencies._imported, dependencies._homes, dependencies._lines,
        dependencies.pieces,
    ):  # fmt: skip
        kept.cache_clear()


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A small tree of packages in place of ours."""
    files = {
        "sordino/__init__.py": '_HOMES = {"far": ("Far",)}\n',
        "sordino/near.py": '"""Says."""\nimport sordino as sd\nfrom sordino.noise import law\n\nx = sd.Far\n',
        "sordino/far.py": "Far = 1\n",
        "sordino/other.py": "x = 1\n",
        "sordino/noise/__init__.py": "",
        "sordino/noise/law/__init__.py": "",
        "sordino/noise/law/sampler.py": "def draw():\n    return 4  # chosen by dice\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(dependencies, "ROOTS", (tmp_path,))

    def digests():
        forget()
        return dependencies.digests("sordino.near")

    yield tmp_path / "sordino", digests
    forget()


def test_what_is_reached_counts_and_what_is_not_does_not(copied):
    folder, digests = copied
    assert {"sordino.near", "sordino.far", "sordino.noise.law.sampler"} <= set(digests())
    before = generated.digested(digests())
    (folder / "other.py").write_text("x = 2\n")
    (folder / "near.py").write_text((folder / "near.py").read_text().replace("Says.", "Says more."))
    (folder / "noise/law/sampler.py").write_text("# What it draws.\n\ndef draw():\n    return 4\n")
    assert generated.changed(digests(), before) == []
    (folder / "far.py").write_text("Far = 2\n")
    assert generated.changed(digests(), before) == ["sordino.far"]
    (folder / "noise/law/sampler.py").write_text("def draw():\n    return 5\n")
    assert generated.changed(digests(), before) == ["sordino.far", "sordino.noise.law.sampler"]


def test_a_module_that_moves_is_not_stale(copied):
    folder, digests = copied
    before = generated.digested(digests())
    (folder / "far.py").rename(folder / "near_by.py")
    (folder / "__init__.py").write_text('_HOMES = {"near_by": ("Far",)}\n')
    after = digests()
    assert "sordino.near_by" in after
    assert generated.changed(after, before) == []


def test_only_functions_that_ran_make_a_traced_file_stale(copied):
    folder, _ = copied
    law = folder / "noise/law/sampler.py"
    law.write_text("SIDES = 6\n\n\ndef draw():\n    return 4\n\n\ndef other():\n    return 5\n")
    forget()
    spoken = runpy.run_path(str(law))
    with Trace() as trace:
        spoken["draw"]()
    record = f"{generated.TRACED} {' '.join(trace.digests())}"

    def why():
        forget()
        return generated.stale(None, record)

    assert len(record.split()) == 3  # the function, and what stands outside functions
    assert why() is None
    law.write_text(law.read_text().replace("return 5", "return 6").replace("return 4", "return 4  # by dice"))
    law.rename(folder / "noise/moved.py")
    assert why() is None
    moved = folder / "noise/moved.py"
    before = moved.read_text()
    for old, new in (("return 4", "return 3"), ("SIDES = 6", "SIDES = 8")):
        moved.write_text(before.replace(old, new))
        assert why() == "1 of the 2 functions that made it have changed"


def test_stale_files_are_named_with_their_command(capsys, monkeypatch, tmp_path):
    some = [made for made in MADE if "figures docs/_static" in made.command]
    record = {made.command: generated.digested(made.code()) for made in some}
    command = next(made.command for made in some if "noise" in made.command)
    record[command] = ""
    monkeypatch.setattr(generated, "all_made", lambda: some)
    monkeypatch.setattr(generated, "RECORD", tmp_path / "generated.json")
    generated.RECORD.write_text(json.dumps(record))
    assert generated.main([]) == 1
    said = capsys.readouterr().out
    assert f"make it again: {command}" in said
    assert "1 of " in said
    generated.main(["--made", "noise.figures"])
    assert generated.main([]) == 0
    assert "all generated files are current" in capsys.readouterr().out
