"""Write a report of a ledger: one page with answers, pictures, the guarantee and the account, for screen and paper."""

from __future__ import annotations

from pathlib import Path

import click

from sordino.cli import render
from sordino.errors import ParameterError


@click.command(
    name="report",
    epilog='Example: sordino report people.ledger --out report.html --title "Incomes by region, 2026"',
)
@click.argument("location", metavar="LEDGER")
@click.option("--out", required=True, metavar="FILE", help="The page to write, an .html file.")
@click.option("--title", metavar="TEXT", help="What stands on top; by default what the ledger is for.")
@click.option("--releases", metavar="3-9", help="Which releases are shown; by default all.")
@click.option(
    "--for",
    "audience",
    type=click.Choice(["boss", "auditor", "public"]),
    default="auditor",
    show_default=True,
    help="Whom it is for: answers alone; everything; or everything but people's names, with a card for registries.",
)
@click.option("--no-pictures", is_flag=True, help="Leave out the pictures: tables and words alone.")
def command(
    location: str, out: str, title: str | None, releases: str | None, audience: str, no_pictures: bool
) -> None:
    """Write a report of LEDGER: one file that needs no network. Spends nothing and reads no data."""
    from sordino.ledger import Ledger
    from sordino.session.report import report

    target = check_page(out, location)
    with Ledger(location) as ledger, render.progress("writing", None):
        page = report(ledger, title=title, releases=releases, pictures=not no_pictures, audience=audience)
    target.write_text(page, encoding="utf-8")
    render.note(f"wrote {target}")


def check_page(out: str, *others: str) -> Path:
    """Refuse a page that cannot be written, or that would overwrite something else."""
    target = Path(out)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(
            "report", "the file must end in .html", got={"out": out}, hint="--out report.html",
            why="The report is a page for a browser; print it there to get a PDF.",
        )  # fmt: skip
    if not target.parent.is_dir() or any(
        target.exists() and Path(each).exists() and target.samefile(each) for each in others
    ):
        raise ParameterError(
            "report", "the file cannot be written there", got={"out": out}, hint=f"--out {target.name}"
        )
    return target
