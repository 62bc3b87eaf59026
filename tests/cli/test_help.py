"""Help says something: every option of every verb is described, and what a verb needs is found before it works."""

import dataclasses
import shlex
import sys

import click
import pytest

from sordino.cli import main, program
from sordino.docstrings import written

EMPTY = (
    "Rule.",
    "Shift.",
    "The data.",
    "Do not ask.",
    "Public.",
    "With --epsilon.",
    "See x_low.",
    "Its key.",
)


def options(command, path, context):
    """All options of a command and of the commands below it."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from options(command.get_command(context, name), (*path, name), context)
    yield from ((path, one) for one in command.params if isinstance(one, click.Option))


ALL = list(options(program, (), click.Context(program)))


def test_every_option_is_described():
    for path, option in ALL:
        said = option.help or ""
        line = f"{' '.join(path)} {option.opts[0]}: {said!r}"
        assert len(said.split()) >= 3, line
        assert said not in EMPTY, line
        assert "Public hint for choosing" not in said, line


def test_every_command_is_described():
    def commands(command, path, context):
        yield path, command
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                yield from commands(command.get_command(context, name), (*path, name), context)

    for path, command in commands(program, (), click.Context(program)):
        assert len((command.help or "").split()) >= 3, path


WORK = {
    "plan": "plan median --low 0 --high 9 --epsilon 1 --rows 100",
    "plan budget": "plan budget --epsilon 1 --rows 100 --ask 'count age'",
    "noise": "noise polyplace --epsilon 1 --smoothing 0.1",
    "smoothed": "smoothed sampling yes=520 no=480 --held-back 10 --epsilon 1",
    "precincts": "smoothed precincts precincts.csv --held-back 10% --epsilon 1",
    "release": "release median age --low 0 --high 9 --epsilon 1 --data people.csv --ledger people.ledger --yes",
    "gauge": "ledger show people.ledger",
}


@pytest.mark.parametrize("line", WORK.values(), ids=WORK)
@pytest.mark.parametrize(
    ("file", "rule"), [("picture.gif", "must end in"), ("nowhere/picture.svg", "folder of the file")]
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_the_work(
    line, file, rule, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precincts.csv").write_text("precinct,a,b\n1,2,3\n")
    with pytest.raises(SystemExit) as left:
        main([*shlex.split(line), "--plot", file])
    out, err = capsys.readouterr()
    assert left.value.code == 2
    assert rule in err
    assert out == ""  # neither a plan nor a missing file was met before


@pytest.mark.parametrize("line", WORK.values(), ids=WORK)
def test_a_missing_extra_is_found_before_the_work(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precincts.csv").write_text("precinct,a,b\n1,2,3\n")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit) as left:
        main([*shlex.split(line), "--plot", "picture.svg"])
    out, err = capsys.readouterr()
    assert left.value.code == 2
    assert "pip install 'sordino[plots]'" in err
    assert out == ""
    assert not list(tmp_path.glob("picture*"))


def test_the_tab_key_completes_statistics_and_options(monkeypatch, capsys):
    for typed, wanted in (
        ("sordino release med", "median"),
        ("sordino release median income --mi", "--missing"),
    ):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        monkeypatch.setenv("_SORDINO_COMPLETE", "bash_complete")
        with pytest.raises(SystemExit):
            program.main(args=[], prog_name="sordino")
        assert f"plain,{wanted}" in capsys.readouterr().out


def public_classes():
    """Classes that a user makes: statistics, noise, guarantees, mechanisms, questions about points, tallies."""
    import sordino as sd
    from sordino import geo, smoothed

    for module in (sd, geo, smoothed):
        for name in sorted({*getattr(module, "__all__", ()), *dir(module)}):
            found = getattr(module, name)
            if isinstance(found, type) and dataclasses.is_dataclass(found) and not name.startswith("_"):
                yield found


def test_help_describes_every_argument_of_every_public_class():
    kinds = list(public_classes())
    assert len(kinds) > 80
    for kind in kinds:
        told = [one.name for one in dataclasses.fields(kind) if one.init and not one.name.startswith("_")]
        missing = set(told) - set(written(kind.__doc__))
        assert not missing, f"help({kind.__name__}) says nothing of {sorted(missing)}"
