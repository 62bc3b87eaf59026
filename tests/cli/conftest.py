"""Runs the command line as a person does."""

import pytest

from sordino.cli import main


@pytest.fixture
def call(capsys):
    """Call the program with words: exit code, stdout, stderr."""

    def called(*words):
        code = 0
        try:
            main(list(words))
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return called
