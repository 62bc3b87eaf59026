"""Shares of a ledger's budget on the command line: what a person or a dataset may cost, frozen or not."""

from __future__ import annotations

import click

from sordino.cli import render
from sordino.cli.options import json_option, price_options
from sordino.fields import guarantee


@click.command(
    epilog='Example: sordino ledger limit survey.ledger --who ana --epsilon 2 --reason "a fair part"'
)
@click.argument("location", metavar="LEDGER")
@price_options
@click.option("--who", metavar="NAME", help="The user whose questions are limited.")
@click.option("--data", metavar="NAME", help="Questions about which dataset, by its public name.")
@click.option("--freeze", is_flag=True, help="Refuse them all for now; without it a frozen share is thawed.")
@click.option("--reason", required=True, help="Why; it stays in the ledger.")
@click.option("--user", metavar="NAME", help="Who does it; by default the login name.")
@json_option
def limit(
    location: str,
    who: str | None,
    data: str | None,
    freeze: bool,
    reason: str,
    user: str | None,
    as_json: bool,
    **price: str | None,
) -> None:
    """Give a person or a dataset a share of the budget of LEDGER, or freeze it. Checked in every debit."""
    from sordino.ledger import Ledger, account

    ceiling = guarantee(dict(price)) if any(value is not None for value in price.values()) else None
    with Ledger(location) as ledger:
        ledger.limit(ceiling, who_asks=who, data=data, frozen=freeze, reason=reason, user=user)
        shares = ledger.shares
    if as_json:
        render.as_json(
            [
                {
                    "user": share.subject.user,
                    "data": share.subject.data,
                    "ceiling": None if share.ceiling is None else share.ceiling.to_dict(),
                    "spent": spent.to_dict(),
                    "frozen": share.frozen,
                    "reason": share.reason,
                }
                for share, spent in shares
            ]
        )
        return
    rows = [
        (
            share.subject.words,
            repr(spent),
            "-" if share.ceiling is None else repr(account.left(share.ceiling, spent)),
            "-" if share.ceiling is None else repr(share.ceiling),
            "frozen" if share.frozen else "",
        )
        for share, spent in shares
    ]
    render.table(("whose", "spent", "left", "of", ""), rows, title="shares")
