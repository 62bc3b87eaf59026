"""The shape of the tables, version by version: a list of functions, each taking a ledger from one version to the next.

Every later version reads old ledgers: one is brought up to date when it is next written to, never by reading.
Version 1 is the first; append to the list, never change an entry: texts of triggers are compared to the letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class Runs(Protocol):
    """What a migration may do: run statements in the transaction that it is given."""

    dialect: str

    def run(self, statement: str) -> None:
        """Run one statement."""


ROWS = """CREATE TABLE entries (
    number INTEGER NOT NULL PRIMARY KEY,
    paid INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('open', 'spend', 'record', 'raise')),
    token TEXT NOT NULL,
    body TEXT NOT NULL,
    spent TEXT NOT NULL,
    ceiling TEXT NOT NULL,
    at TEXT NOT NULL,
    before TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (kind, token)
)"""

PAID = "CREATE UNIQUE INDEX entries_paid ON entries (paid) WHERE kind = 'spend'"

HEAD = """CREATE TABLE head (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
)"""

#: Triggers are compared with those of ledgers that exist, so their texts keep the word of the first version.
SQLITE = (
    ROWS + " STRICT",
    PAID,
    HEAD + " STRICT",
    """CREATE TRIGGER entries_keep BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'the book is append-only'); END""",
    """CREATE TRIGGER entries_stay BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'the book is append-only'); END""",
    """CREATE TRIGGER entries_follow BEFORE INSERT ON entries
WHEN NEW.number <> 1 + (SELECT coalesce(max(number), 0) FROM entries)
BEGIN SELECT RAISE(ABORT, 'rows follow each other'); END""",
    """CREATE TRIGGER head_forward BEFORE UPDATE ON head WHEN NEW.number <> OLD.number + 1
BEGIN SELECT RAISE(ABORT, 'the book is append-only'); END""",
    """CREATE TRIGGER head_stays BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the book is append-only'); END""",
)

POSTGRES = (
    ROWS,
    PAID,
    HEAD,
    """CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the book is append-only'; END $$""",
    """CREATE TRIGGER entries_keep BEFORE UPDATE OR DELETE ON entries
FOR EACH ROW EXECUTE FUNCTION append_only()""",
    """CREATE TRIGGER entries_stay BEFORE TRUNCATE ON entries
FOR EACH STATEMENT EXECUTE FUNCTION append_only()""",
    """CREATE TRIGGER head_forward BEFORE UPDATE ON head
FOR EACH ROW WHEN (NEW.number <> OLD.number + 1) EXECUTE FUNCTION append_only()""",
    """CREATE TRIGGER head_stays BEFORE DELETE ON head
FOR EACH ROW EXECUTE FUNCTION append_only()""",
    """CREATE TRIGGER head_whole BEFORE TRUNCATE ON head
FOR EACH STATEMENT EXECUTE FUNCTION append_only()""",
    "CREATE TABLE version (version INTEGER NOT NULL)",
    "INSERT INTO version VALUES (0)",
)


KINDS = "('open', 'spend', 'record', 'raise', 'lower', 'freeze', 'unfreeze', 'close')"
STATES = "('open', 'frozen', 'closed')"

SQLITE_STATES = (
    # SQLite cannot change what a column may hold: the rows move to a new table.
    ROWS.replace("TABLE entries", "TABLE entries_2")
    .replace("('open', 'spend', 'record', 'raise')", KINDS)
    .replace("hash TEXT NOT NULL,", f"hash TEXT NOT NULL,\n    state TEXT CHECK (state IN {STATES}),")
    + " STRICT",
    "INSERT INTO entries_2 SELECT *, NULL FROM entries ORDER BY number",
    "DROP TABLE entries",
    "ALTER TABLE entries_2 RENAME TO entries",
    PAID,
    *(statement for statement in SQLITE if statement.startswith("CREATE TRIGGER entries")),
)

POSTGRES_STATES = (
    "ALTER TABLE entries DROP CONSTRAINT entries_kind_check",
    f"ALTER TABLE entries ADD CONSTRAINT entries_kind_check CHECK (kind IN {KINDS})",
    f"ALTER TABLE entries ADD COLUMN state TEXT CHECK (state IN {STATES})",
)


def rows_and_head(ledger: Runs) -> None:
    """Version 1: the rows, the mark of the last one, and triggers that let both only grow."""
    for statement in SQLITE if ledger.dialect == "sqlite" else POSTGRES:
        ledger.run(statement)


def states(ledger: Runs) -> None:
    """Version 2: a row says whether the ledger is open, frozen or closed; rows that freeze, close or lower it."""
    for statement in SQLITE_STATES if ledger.dialect == "sqlite" else POSTGRES_STATES:
        ledger.run(statement)


MIGRATIONS: list[Callable[[Runs], None]] = [rows_and_head, states]

STATES_SINCE = 2
"""The version whose rows have a state."""
