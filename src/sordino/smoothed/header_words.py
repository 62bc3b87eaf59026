"""The words of headers: which columns name a precinct, a contest or a mode, and which are totals rather than votes.

English words decide how a file is read. Words of other languages are known only in order to say, in a refusal, what a
column probably is.
"""

from __future__ import annotations

import re

UNITS = (
    "state", "county", "parish", "jurisdiction", "municipality", "city", "town", "division", "district", "ward",
    "precinct", "unit", "station", "area", "polling",
)  # fmt: skip
"""Words in the names of columns that say where a ballot was cast, the widest first."""
IDENTIFIERS = ("fips", "id", "code", "geoid", "zip", "year", "date", "ansi", "gnis")
"""Words in the names of columns of numbers that count nothing."""

CANDIDATE = ("candidate", "choice", "candidate_name")
VOTES = ("votes", "votecount", "vote_count", "total_votes")
OFFICE = ("office", "contest", "race", "question")
DISTRICT = ("district", "seat")
PARTY = ("party", "party_detailed", "party_simplified", "party_code")
MODE = ("mode", "vote_mode", "vote_type", "vote_channel", "method", "counting_group")
MODE_COLUMNS = (
    "election_day", "absentee", "early_voting", "early", "mail", "mail_in", "vote_by_mail", "advance", "provisional",
    "absentee_by_mail", "one_stop", "in_person", "polls", "machine", "military", "federal", "hand", "day", "postal",
)  # fmt: skip

_TOTAL = (
    "total", "totals", "sum", "subtotal", "turnout", "registered", "registration", "ballots", "electorate", "voters",
    "valid", "invalid", "cast",
)  # fmt: skip
_SHARE = ("share", "pct", "percent", "percentage", "two_party", "rate")
_ELSEWHERE = (
    "gesamt", "insgesamt", "summe", "wahlberechtigte", "wähler", "waehler", "gültige", "ungültige", "gueltige",
    "ungueltige", "wahlbeteiligung", "somme", "ensemble", "inscrits", "votants", "exprimés", "exprimes", "nuls",
    "blancs", "abstentions", "participation", "suma", "electores", "censo", "válidos", "validos", "nulos", "blancos",
    "emitidos", "totale", "iscritti", "votanti", "bianche", "nulle", "totaal", "kiesgerechtigden", "eleitores",
    "inscritos", "votantes", "razem", "uprawnionych", "totalt", "röstberättigade", "yhteensä",
)  # fmt: skip
NOT_VOTES = (
    "over votes",
    "under votes",
    "overvotes",
    "undervotes",
    "over vote",
    "under vote",
    "overvote",
    "undervote",
)
"""Lines of the long form that are votes for nobody."""

ALL_TOGETHER = (
    "total", "totals", "grand total", "sum", "all", "all precincts", "overall", "county total", "county totals",
    "state total", "statewide", "subtotal", "gesamt", "insgesamt", "summe", "somme", "ensemble", "suma", "totale",
    "totaal", "razem", "totalt", "yhteensä",
)  # fmt: skip
_FOREIGN_UNIT = (
    "wahlbezirk", "stimmbezirk", "gemeinde", "wahlkreis", "bureau", "commune", "circonscription", "canton", "mesa",
    "sección", "seccion", "distrito", "municipio", "sezione", "comune", "seggio", "stembureau", "gemeente", "zona",
    "seção", "secao", "obwód", "obwod", "gmina", "valkrets", "valdistrikt", "äänestysalue", "kunta", "kommune",
)  # fmt: skip
_FOREIGN_CANDIDATE = (
    "kandidat", "kandidatin", "partei", "candidat", "liste", "candidato", "partido", "partito", "lista",
    "kandidaat", "partij", "kandydat", "parti", "ehdokas",
)  # fmt: skip
_FOREIGN_VOTES = (
    "stimmen",
    "voix",
    "votos",
    "voti",
    "stemmen",
    "głosy",
    "glosy",
    "röster",
    "äänet",
    "stemmer",
)


def words(name: str) -> list[str]:
    """Split a column's name into words.

    Example:
        >>> words("Dem_Votes (2020)"), words("dem two-party")
        (['dem', 'votes', '2020'], ['dem', 'two', 'party'])
    """
    return [part for part in re.split(r"[\W_]+", name.lower()) if part]


def plain(name: str) -> str:
    """Write a column's name with underscores and small letters, to look it up."""
    return "_".join(words(name))


def is_total(name: str) -> bool:
    """Say whether a column's name says that it is a total or a number of voters, in one of some languages.

    Example:
        >>> is_total("Registered voters"), is_total("Wahlberechtigte"), is_total("Total"), is_total("Tottenham")
        (True, True, True, False)
    """
    return any(word in _TOTAL or word in _ELSEWHERE for word in words(name))


def is_unit(name: str) -> bool:
    """Say whether a column's name says where a ballot was cast, or how.

    Example:
        >>> is_unit("Precinct Name"), is_unit("county"), is_unit("mode"), is_unit("Birchwood")
        (True, True, True, False)
    """
    return plain(name) in MODE or any(word in UNITS for word in words(name))


def is_identifier(name: str) -> bool:
    """Say whether a column's name says that its numbers count nothing."""
    return any(word in IDENTIFIERS for word in words(name))


def is_share(name: str) -> bool:
    """Say whether a column's name says that it is a share."""
    joined = plain(name)
    return any(word in joined.split("_") for word in _SHARE) or "two_party" in joined


def probably(name: str) -> str | None:
    """Guess from a word of another language what a column is: unit, candidate-column or votes-column.

    Example:
        >>> probably("Wahlbezirk"), probably("voix"), probably("CDU")
        ('unit', 'votes-column', None)
    """
    for word in words(name):
        for role, known in (
            ("unit", _FOREIGN_UNIT),
            ("votes-column", _FOREIGN_VOTES),
            ("candidate-column", _FOREIGN_CANDIDATE),
        ):
            if word in known:
                return role
    return None
