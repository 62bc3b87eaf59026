"""All cells scored: ours in every variant beside every peer, with the best peer and the ratio. Reads the cache only."""

import csv
import math
from dataclasses import dataclass, replace

from benchmarks.peers import cell_laws, laws, scores
from benchmarks.peers.answers import Answers
from benchmarks.peers.cells import Cell, truth, useful
from benchmarks.peers.libraries import OURS, PEERS, QUANTILES
from benchmarks.peers.running import LAW
from benchmarks.peers.scores import Score

GRID = "opendp grid"
RIGHT = (
    1e-6  # of the error beyond which an answer is useless: with less than this it is right, and no two differ
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One statistic of one column under one relation; the peers' two ways of asking for a mean are both among `peers`.

    Attributes:
        cell: What was asked.
        relation: Under which relation.
        truth: The statistic of the sample.
        useful: An error beyond this tells nothing.
        ours: Our scores by variant.
        peers: The peers' scores by library and variant.
        shifted: OpenDP's score when its candidates lie anywhere, where that matters.
    """

    cell: Cell
    relation: str
    truth: float
    useful: float
    ours: dict[str, Score]
    peers: dict[str, Score]
    shifted: dict[str, Score]

    @property
    def best(self):
        """The best peer that answers, or None."""
        return scores.best(self.peers.values())

    @property
    def fairest(self):
        """The best peer when no candidate happens to lie on the answer."""
        return scores.best((self.peers | self.shifted).values())

    def ratio(self, variant="none", *, shifted=False):
        """Our error over the best peer's, or None where either is missing."""
        mine, peer = self.ours.get(variant), self.fairest if shifted else self.best
        if mine is None or peer is None or not mine.usable:
            return None
        least = RIGHT * self.useful if math.isfinite(self.useful) else 0.0
        return scores.ratio(*(replace(one, rmse=max(one.rmse, least)) for one in (mine, peer)))

    @property
    def hopeless(self):
        """Whether our default tells nothing here although a peer's answer does."""
        mine, peer = self.ours.get("none"), self.fairest
        return bool(mine and peer and mine.rmse > self.useful >= peer.rmse)


def rows(cache, environments, chosen, relations):
    """Score every statistic that somebody has answered, with the luck of candidates taken out where it matters."""
    kept = {
        name: Answers(cache, OURS if name == OURS.name else PEERS[name], place.version)
        for name, place in environments.items()
    }
    found, columns = {}, {}
    for cell in chosen:
        where = (cell.column, cell.rows)
        if where not in columns:
            columns = {where: cell.values()}
        values = columns[where]
        if values is None:
            continue
        for relation in relations:
            ours, peers = scored(kept, cell, relation, values)
            key = (relation, replace(cell, query=cell.statistic))
            if key in found:  # the other way of asking for a mean
                searched = {f"{who}, searched": one for who, one in peers.items()}
                found[key].peers.update({who: replace(one, who=who) for who, one in searched.items()})
            elif ours or peers:
                fact = truth(cell.query, values, cell.public.threshold)
                found[key] = Row(
                    cell=key[1], relation=relation, truth=fact, useful=useful(cell.query, values),
                    ours=ours, peers=peers, shifted={},
                )  # fmt: skip
    return with_shifts(found.values())


def scored(kept, cell, relation, values):
    """Our scores and the peers' of one cell."""
    fact = truth(cell.query, values, cell.public.threshold)
    ours, peers = {}, {}
    for name, answers in kept.items():
        library = OURS if name == OURS.name else PEERS[name]
        if cell.query not in library.queries:
            continue
        for variant, relations in library.variants.items():
            if relation not in relations:
                continue
            asked = replace(cell, regime="fit") if cell.query in library.boundless else cell
            one = _scored(answers, asked.name(name, variant, relation), f"{name} {variant}", fact)
            if cell_laws.known(name, cell) and (one is None or one.usable):
                one = by_law(one, name, variant, cell, values, fact)
            if one is not None and name == OURS.name:
                ours[variant] = one
            elif one is not None:
                peers[one.who] = one
    return ours, peers


def by_law(one, name, variant, cell, values, fact):
    """The score with errors of the law, where there is one; answers and exceptions stay those that were counted."""
    law = cell_laws.of_cell(name, variant, cell, values)
    if law is None:
        return one
    one = one or Score(who=f"{name} {variant}", rmse=0, median=0, doubt=0, answered=1, raised=0)
    return replace(one, rmse=law.rmse(fact), median=law.median_error(fact), doubt=law.doubt)


def with_shifts(found):
    """OpenDP's error over shifted candidates added, where it is the best peer and we are behind it."""
    made, columns = [], {}
    for row in found:
        cell = row.cell
        behind = (one := row.ratio()) is not None and one.value > 1.01
        if not behind or cell.query not in QUANTILES or row.best.who != GRID:
            made.append(row)
            continue
        where = (cell.column, cell.rows)
        if where not in columns:
            columns = {where: cell.values()}
        points, q = cell_laws.candidates(cell), QUANTILES[cell.query]
        error = laws.shifted_rmse(columns[where], points, q, cell.epsilon, row.truth)
        made.append(replace(row, shifted={GRID: replace(row.peers[GRID], rmse=error)}))
    return made


def _scored(answers, name, who, fact):
    """The score of one question, by its exact law where there is one; None where nobody answered."""
    got, law = answers.get(name), answers.get(name + LAW)
    exact = law["values"] if law else []
    if not exact and (not got or got["unsupported"]):
        return None
    got = got or {"values": [], "raised": {}}
    one = scores.score(who, got["values"], fact, sum(got["raised"].values()))
    if not exact:
        return one
    rmse, median, doubt = exact
    return replace(one, rmse=rmse, median=median, doubt=doubt, answered=max(one.answered, 1))


VARIANTS = tuple(OURS.variants)
FIELDS = ("relation", "bounds", "query", "column", "n", "epsilon", "truth", "useful", "best peer", "its RMSE",
          "over shifts", "best over shifts", *(f"ours {variant}" for variant in VARIANTS))  # fmt: skip


def write_csv(path, found):
    """The cells as a table for spreadsheets."""
    with open(path, "w", newline="", encoding="utf-8") as file:  # noqa: PTH123 - a path or a name
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for row in found:
            peer, fair, cell = row.best, row.fairest, row.cell
            mine = (row.ours.get(variant) for variant in VARIANTS)
            writer.writerow([
                row.relation, cell.regime, cell.query, cell.column, cell.rows, cell.epsilon,
                f"{row.truth:.4g}", f"{row.useful:.3g}",
                peer.who if peer else "", f"{peer.rmse:.3g}" if peer else "",
                f"{fair.rmse:.3g}" if fair else "", fair.who if fair else "",
                *(f"{one.rmse:.3g}" if one else "" for one in mine),
            ])  # fmt: skip
