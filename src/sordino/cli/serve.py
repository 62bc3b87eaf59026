"""Serve the datasets of a folder to an organisation: analysts ask, officers approve, programs have an interface."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sordino.errors import MissingExtra, ParameterError, without_secrets

PORT = 8443


@click.command(
    name="serve", epilog="Example: sordino serve office/ --host dp.example.org --behind-tls-proxy --owner ana"
)
@click.argument("folder", type=click.Path(file_okay=False, exists=True))
@click.option("--host", default="127.0.0.1", show_default=True, help="The public name, as browsers say it.")
@click.option("--bind", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=int, default=PORT, show_default=True, help="The port to listen on.")
@click.option(
    "--tls-cert", type=click.Path(dir_okay=False), help="The certificate for HTTPS (PEM); with --tls-key."
)
@click.option("--tls-key", type=click.Path(dir_okay=False), help="The private key of the certificate (PEM).")
@click.option(
    "--behind-tls-proxy", is_flag=True, help="A proxy in front ends TLS, and the public port is 443."
)
@click.option(
    "--auth",
    type=click.Choice(["local", "proxy"]),
    default="local",
    show_default=True,
    help="local: people sign in here; proxy: a proxy in front says who they are.",
)
@click.option(
    "--proxy-address", help="With --auth proxy: from where the proxy comes. Its secret: SORDINO_PROXY_SECRET."
)
@click.option("--desk", help="A file or a postgresql:// address; desk.db in FOLDER by default.")
@click.option("--owner", metavar="NAME", help="Invite NAME as the first owner, and print the link.")
@click.option(
    "--strict-time", is_flag=True, help="A dataset takes the next turn only when its answers are handed out."
)
@click.option(
    "--calibrate", is_flag=True, help="Measure on generated data when answers are to be handed out; then end."
)
@click.option("--declare", is_flag=True, help="Write new or changed declarations into their ledgers.")
def command(
    folder: str,
    host: str,
    bind: str,
    port: int,
    tls_cert: str | None,
    tls_key: str | None,
    behind_tls_proxy: bool,
    auth: str,
    proxy_address: str | None,
    desk: str | None,
    owner: str | None,
    strict_time: bool,
    calibrate: bool,
    declare: bool,
) -> None:
    """Serve the datasets that are declared in FOLDER (NAME.dataset.toml).

    Beyond this machine it starts only with TLS of its own or behind a proxy that has it. Run several on one desk and
    one ledger in PostgreSQL for several workers.
    """
    try:
        from sordino.web import application
        from sordino.web.desk import Desk
        from sordino.web.office import Office
        from sordino.web.server import listen
        from sordino.web.server import serve as run
    except ImportError as error:
        raise MissingExtra.named("serve", str(error.name), "web") from None

    if desk is not None and desk != without_secrets(desk):
        raise ParameterError(
            "serve", "passwords are not taken from the command line", got={"option": "--desk"},
            why="Whoever lists the processes of this machine reads it; consider it known and change it.",
            hint="the same address without it, and PGPASSFILE or ~/.pgpass",
        )  # fmt: skip
    secure = bool(tls_cert and tls_key) or behind_tls_proxy
    if not secure and (bind not in ("127.0.0.1", "::1") or host not in ("127.0.0.1", "localhost")):
        raise ParameterError(
            "serve", "beyond this machine TLS is needed", got={"bind": bind, "host": host},
            why="Passwords, tokens and answers would be sent in the clear.",
            hint="--tls-cert and --tls-key, or --behind-tls-proxy",
        )  # fmt: skip
    office = Office(folder, Desk(desk or Path(folder) / "desk.db"), shared=True)
    for problem in office.problems():
        raise problem
    if calibrate:
        timed(office)
        return
    if declare:
        declared(office)
    undeclared(office)
    door = entrance(office, auth, proxy_address, secure=secure)
    public = host if behind_tls_proxy else f"{host}:{port}"
    scheme = "https" if secure else "http"
    if owner is not None:
        from sordino.web.accounts import Accounts

        key = Accounts(office.desk).add(owner, ("owner",))
        click.echo(f"{owner} comes in at {scheme}://{public}/invite/{key} (once, within a day)")
    origin = f"{scheme}://{public}"
    app = application(
        office, hosts=(public,), origins=(origin,), entry=door, secure=secure, strict=strict_time
    )
    number = len(office.datasets())
    click.echo(f"sordino serves {number} dataset{'' if number == 1 else 's'} at {scheme}://{public}")
    options: dict[str, Any] = {} if not tls_cert else {"ssl_certfile": tls_cert, "ssl_keyfile": tls_key}
    run(app, listen(port, bind), **options)


def entrance(office: Any, auth: str, proxy_address: str | None, *, secure: bool) -> Any:
    """How people come in."""
    from sordino.web.signin import Proxy, SignIn

    if auth == "local":
        return SignIn(office, secure=secure)
    secret = os.environ.get("SORDINO_PROXY_SECRET", "")
    if not proxy_address or len(secret) < 16:
        raise ParameterError(
            "serve", "a proxy is believed only from its address and with a secret of at least 16 characters",
            hint="SORDINO_PROXY_SECRET=... sordino serve ... --auth proxy --proxy-address 127.0.0.1",
        )  # fmt: skip
    return Proxy(office, address=proxy_address, secret=secret, secure=secure)


def timed(office: Any) -> None:
    """Measure and write the public time of every dataset."""
    from sordino.web.calibrate import calibrated, write

    for file, dataset in office.declared_in().items():
        seconds = calibrated(dataset, office.session(dataset).rows)
        write(file, seconds)
        click.echo(f"{dataset.name}: answers are handed out after {seconds:g} s, written into {file.name}")


def declared(office: Any) -> None:
    """Write the rules of each dataset into its ledger, where they are new or changed."""
    for dataset in office.datasets().values():
        ledger = office.ledger_of(dataset)
        rules = office.rules(dataset)
        if rules not in ledger.datasets:
            ledger.declare(rules, reason=f"declaration of {dataset.name}")
            click.echo(f"declared {dataset.name} in {ledger.name}", err=True)


def undeclared(office: Any) -> None:
    """Refuse to serve a dataset whose rules the ledger does not hold spends to."""
    for dataset in office.datasets().values():
        held = [replace(rules, schema=None) for rules in office.ledger_of(dataset).datasets]
        if dataset.declared not in held:
            raise ParameterError(
                "serve", "the ledger does not hold this dataset to its declaration", got={"dataset": dataset.name},
                why="Rules are enforced where the price is paid.", hint="--declare writes it into the ledger",
            )  # fmt: skip
