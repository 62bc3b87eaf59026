"""Run a release file: check it, plan its errors, or publish all of its tables as one batch that may be resumed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.address import pasted
from sordino.cli import render
from sordino.errors import ParameterError
from sordino.labels import name
from sordino.privacy import compose

if TYPE_CHECKING:
    from sordino.ledger import Ledger
    from sordino.privacy import Neighbors, Unit
    from sordino.session import Session
    from sordino.session.quote import Question
    from sordino.session.release_file import Job, ReleaseFile


@click.command(
    name="run", epilog="Example: sordino run tables.toml --plan, then: sordino run tables.toml --yes"
)
@click.argument("file", metavar="FILE")
@click.option("--check", is_flag=True, help="Read and check the file; reads no data and spends nothing.")
@click.option(
    "--plan", is_flag=True, help="Predict every error and show how the price is split; spends nothing."
)
@click.option("--rows", type=int, metavar="N", help="For --plan: how many rows the data have, roughly.")
@click.option("--out", metavar="FILE", help="The report; by default as the file says.")
@click.option("--user", metavar="NAME", help="Who asks, for the ledger; by default the login name.")
@click.option("--yes", is_flag=True, help="Release without asking for confirmation.")
def command(
    file: str, check: bool, plan: bool, rows: int | None, out: str | None, user: str | None, yes: bool
) -> None:
    """Publish the tables of FILE: all are paid at once or none, and a run that was stopped goes on where it was.

    Run again in the same period it costs nothing and gives the same answers.
    """
    from sordino.session.release_file import ReleaseFile

    asked = ReleaseFile.read(file)
    page = out or asked.report
    if page is not None:
        from sordino.cli.report import check_page

        check_page(page, asked.ledger, file)
    if check:
        _checked(asked)
    elif plan:
        _planned(asked, rows)
    else:
        _run(asked, page, user, yes=yes)


def _whom(asked: ReleaseFile) -> tuple[Unit, Neighbors]:
    """The privacy unit and the relation: as the file says, as its ledger says, or one row and replace-one."""
    from sordino.ledger import Ledger
    from sordino.privacy import Neighbors, Unit

    unit, neighbors = asked.unit, asked.neighbors
    if (unit is None or neighbors is None) and Ledger.exists(asked.ledger):
        with Ledger(asked.ledger) as ledger:
            return unit or ledger.unit, neighbors or ledger.neighbors
    return unit or Unit(), neighbors or Neighbors.REPLACE_ONE


def _questions(asked: ReleaseFile, rows: int | None) -> list[tuple[Job, Question]]:
    """The questions without data: as the file says, with a rough number of rows."""
    from sordino.session.quote import prepare

    unit, neighbors = _whom(asked)
    return [
        (
            job,
            prepare(
                job.statistics, job.prices, neighbors=neighbors, unit=unit, rows=rows, where=job.where,
                by=job.by, interval=job.interval,
            ),
        )
        for job in asked.jobs
    ]  # fmt: skip


def _checked(asked: ReleaseFile) -> None:
    from sordino.explain import whom
    from sordino.labels import statistics

    questions = _questions(asked, asked.rows or 10_000)
    total = compose([question.event.guarantee for _, question in questions])
    render.block(
        [
            ("file", str(asked.path)),
            ("title", asked.title),
            ("period", asked.period),
            ("data", asked.data),
            ("ledger", asked.ledger),
            ("protects", whom(*_whom(asked))),
            ("price", f"{asked.price!r}, of which {total!r} is used"),
        ],
        title="the file is right; no data were touched and nothing was spent",
    )
    rows = [
        [
            job.name,
            ", ".join(statistics(question.event)),
            _groups(job),
            _interval(job),
            repr(question.event.guarantee),
        ]
        for job, question in questions
    ]
    render.table(["table", "statistics", "groups", "interval", "price"], rows)
    render.note(f"next: sordino run {pasted(str(asked.path))} --plan")


def _interval(job: Job) -> str:
    return "none" if job.interval is None else f"{100 * job.interval:g} %"


def _without_interval(asked: ReleaseFile) -> None:
    """Say which statistics have no interval, where one was asked for."""
    barred = {job.name for job in asked.jobs if job.interval is not None}
    bare = [
        name(one.to_dict())
        for job in asked.jobs
        if job.interval is None and job.name in barred
        for one in job.statistics
    ]
    if bare:
        render.note(f"  interval    none is known for {', '.join(dict.fromkeys(bare))}: asked without")


def _groups(job: Job) -> str:
    where = [f"{one.column} {one.op} {one.value}" for one in job.where]
    by = [f"{len(job.by[1])} of {job.by[0]}"] if job.by else []
    return ", ".join([*by, *where]) or "-"


def _planned(asked: ReleaseFile, rows: int | None) -> None:
    """Expected errors, with the number of rows that was told or is public."""
    from sordino.labels import statistics
    from sordino.planner.expected import expected
    from sordino.planner.report import short

    count = rows or asked.rows or _counted(asked)
    if count is None:
        raise ParameterError(
            "run", "--plan needs the number of rows",
            why="It is private here, or the data are not there: a rough public number does.", hint="--rows 20000",
        )  # fmt: skip
    questions = _questions(asked, count)
    lines = []
    with render.progress("planning", len(questions)) as advance:
        for job, question in questions:
            found = expected(question, count)
            for called, option, part in zip(statistics(question.event), found, question.parts, strict=True):
                figures = ["-", "-"] if option is None else [short(option.rms), short(option.most)]
                bar = "-" if option is None or option.width is None else short(option.width)
                lines.append([job.name, called, _groups(job), repr(part.mechanism.guarantee), *figures, bar])
            advance(1)
    render.table(
        ["table", "statistic", "groups", "price per row", "rms error", "9 in 10 within", "interval width"], lines,
        title=f"{asked.title}, {asked.period}: {asked.price!r} in all, {count:,} rows",
        note="errors are of each group, on generated columns that suit the bounds, not on these data",
    )  # fmt: skip
    render.note(f"next: sordino run {pasted(str(asked.path))}")


def _counted(asked: ReleaseFile) -> int | None:
    from sordino.session.opening import counting, rows_for, source_for

    unit, neighbors = _whom(asked)
    if not counting(neighbors, unit) or not Path(asked.data).is_file():
        return None
    told = {key: value for key, value in asked.opening.items() if key != "data_name"}
    _, counted = source_for(asked.data, unit, counting=True, **told)
    return rows_for(None, counted, neighbors)


def _ledger(asked: ReleaseFile, user: str | None) -> Ledger:
    """The ledger of the file; a new one when it is not there and the file says its budget."""
    from sordino.ledger import Ledger

    if Ledger.exists(asked.ledger):
        return Ledger(asked.ledger, user=user)
    if asked.budget is None:
        raise ParameterError(
            "run", "the ledger is not there", got={"ledger": asked.ledger},
            why="A file that says its budget begins the ledger itself.",
            hint="budget = { epsilon = 3 }, or: sordino ledger create LEDGER --epsilon 3 --reason 'why'",
        )  # fmt: skip
    unit, neighbors = _whom(asked)
    render.note(f"  ledger      {asked.ledger} is started with {asked.budget!r}")
    return Ledger.create(
        asked.ledger, asked.budget, reason=asked.reason, neighbors=neighbors, unit=unit, user=user
    )


def _run(asked: ReleaseFile, page: str | None, user: str | None, *, yes: bool) -> None:
    from sordino import session
    from sordino.session.door import Session

    if not yes:
        click.confirm(
            f"publish {asked.title}, {asked.period}, for {asked.price!r} at most?", abort=True, err=True
        )
    with _ledger(asked, user) as ledger:
        people = session.open(
            asked.data,
            ledger=ledger,
            unit=asked.unit,
            neighbors=asked.neighbors,
            rows=asked.rows,
            **asked.opening,
        )
        jobs = [_job(people, job) for job in asked.jobs]
        _without_interval(asked)
        _preview(ledger, jobs)
        with render.progress("releasing", 100) as advance:
            answers = Session.release_all(jobs, purpose=asked.purpose, progress=render.percent(advance))
        for job, answer in zip(asked.jobs, answers, strict=True):
            click.echo(click.style(f"{job.name} (release {answer.ledger_id})", bold=True))
            click.echo(answer.text(render.width()) + "\n")
        if page is not None:
            from sordino.session.report import report

            numbers = ",".join(str(answer.ledger_id) for answer in answers)
            text = report(ledger, title=f"{asked.title}, {asked.period}", releases=numbers)
            Path(page).write_text(text, encoding="utf-8")
            render.note(f"wrote {page}")
        else:
            render.note(f"next: sordino report {pasted(ledger.name)} --out report.html")


def _job(people: Session, job: Job) -> tuple[Session, Question, str]:
    some = people.where(*job.where) if job.where else people
    return some, some.question(list(job.statistics), list(job.prices), **job.options), job.token


def _preview(ledger: Ledger, jobs: list[tuple[Any, Any, str]]) -> None:
    """What is still to be paid, and what it leaves."""
    new = [question.event for _, question, token in jobs if ledger.paid(token) is None]
    if not new:
        render.note("  costs       nothing: every table of this period has been paid")
        return
    cost = compose([ledger.cost(event) for event in new])
    known = (
        f" ({len(jobs) - len(new)} of {len(jobs)} tables have been paid before)"
        if len(new) < len(jobs)
        else ""
    )
    render.note(f"  costs       {cost!r}{known}")
    from sordino.ledger.account import left

    if cost.within(ledger.remaining):
        render.note(f"  leaves      {left(ledger.remaining, cost)!r} of {ledger.budget!r}")
