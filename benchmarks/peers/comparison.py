"""All cells scored: ours in every variant beside every peer, with the best peer and the ratio. Reads the cache only."""

import csv
from dataclasses import dataclass, replace

from benchmarks.peers import cell_laws, laws, scores
from benchmarks.peers.answers import Answers
from benchmarks.peers.cells import Cell, truth
from benchmarks.peers.libraries import OURS, PEERS, QUANTILES
from benchmarks.peers.running import LAW
from benchmarks.peers.scores import Score

GRID = "opendp grid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell under one relation."""

    cell: Cell
    relation: str
    truth: float
    ours: dict[str, Score]
    peers: dict[str, Score]
    shifted: float | None = None  # OpenDP's RMSE over shifted candidates, where it is the best peer

    @property
    def best(self):
        """The best peer that answers, or None."""
        return scores.best(self.peers.values())

    @property
    def best_shifted(self):
        """The best peer when OpenDP's candidates lie anywhere; the same where it was not the best."""
        peers = dict(self.peers)
        if self.shifted is not None:
            peers[GRID] = replace(peers[GRID], rmse=self.shifted)
        return scores.best(peers.values())

    def ratio(self, variant, *, shifted=False):
        """Our error over the best peer's, or None where either is missing."""
        mine, peer = self.ours.get(variant), self.best_shifted if shifted else self.best
        if mine is None or peer is None or not mine.usable:
            return None
        return scores.ratio(mine, peer)

    def lucky(self, variant, bar):
        """Grid luck: above a bar, but not with OpenDP's candidates anywhere, and no other peer is above it either."""
        if self.shifted is None or not self.ratio(variant).above(bar):
            return False
        return not self.ratio(variant, shifted=True).above(bar)


def rows(cache, environments, chosen, relations):
    """Score every cell that somebody has answered."""
    kept = {
        name: Answers(cache, OURS if name == OURS.name else PEERS[name], place.version)
        for name, place in environments.items()
    }
    found, columns = [], {}
    for relation in relations:
        for cell in chosen:
            where = (cell.table, cell.column, cell.rows)
            if where not in columns:
                columns = {where: cell.values()}
            if columns[where] is None:
                continue
            fact = truth(cell.query, columns[where], cell.public.threshold)
            ours, peers = {}, {}
            for name, answers in kept.items():
                library = OURS if name == OURS.name else PEERS[name]
                for variant, relations_kept in library.variants.items():
                    if relation not in relations_kept:
                        continue
                    asked = cell
                    if name == OURS.name and cell.query == "mean_auto":
                        if variant in ("tight", "hinted"):
                            continue  # whoever knows bounds asks for `mean`
                        asked = replace(cell, query="mean")
                    one = _scored(answers, asked.name(name, variant, relation), f"{name} {variant}", fact)
                    if cell_laws.known(name, cell) and (one is None or one.usable):
                        one = by_law(one, name, variant, cell, columns[where], fact)
                    if one is None:
                        continue
                    if name == OURS.name:
                        ours[variant] = one
                    else:
                        peers[one.who] = one
            if ours or peers:
                row = Row(cell=cell, relation=relation, truth=fact, ours=ours, peers=peers)
                found.append(with_shifts(row, columns[where]))
    return found


def by_law(one, name, variant, cell, values, fact):
    """The score with errors of the law, where there is one; answers and exceptions stay those that were counted."""
    law = cell_laws.of_cell(name, variant, cell, values)
    if law is None:
        return one
    one = one or Score(who=f"{name} {variant}", rmse=0, median=0, doubt=0, answered=1, raised=0)
    return replace(one, rmse=law.rmse(fact), median=law.median_error(fact), doubt=law.doubt)


def with_shifts(row, values):
    """OpenDP's error over shifted candidates added, where it is the best peer and we are behind it."""
    cell = row.cell
    behind = any(one is not None and one.value > 1.01 for one in map(row.ratio, row.ours))
    if cell.table != "main" or cell.query not in QUANTILES or not behind or row.best.who != GRID:
        return row
    points, q = cell_laws.candidates(cell), QUANTILES[cell.query]
    return replace(row, shifted=laws.shifted_rmse(values, points, q, cell.epsilon, row.truth))


def _scored(answers, name, who, fact):
    """The score of one question, by its exact law where there is one; None where nobody answered."""
    got, law = answers.get(name), answers.get(name + LAW)
    exact = law["values"][0] if law and law["values"] else None
    if exact is None and (not got or got["unsupported"]):
        return None
    got = got or {"values": [], "raised": {}}
    one = scores.score(who, got["values"], fact, sum(got["raised"].values()))
    if exact is None:
        return one
    median = law["values"][1] if len(law["values"]) > 1 else one.median
    return replace(one, rmse=exact, median=median, doubt=0.0, answered=max(one.answered, 1))


def write_csv(path, found):
    """The cells as a table for spreadsheets."""
    names = (
        "table",
        "relation",
        "query",
        "dataset",
        "n",
        "eps",
        "best_peer",
        "peer_rmse",
        "peer_doubt",
        "peer_rmse_shifted",
    )
    variants = tuple(OURS.variants)
    with open(path, "w", newline="") as file:  # noqa: PTH123 - a path or a name
        writer = csv.writer(file)
        writer.writerow(
            [
                *names,
                *(f"our_rmse_{v}" for v in variants),
                *(f"ratio_{v}" for v in variants),
                *(f"doubt_{v}" for v in variants),
            ]
        )
        for row in found:
            peer, cell = row.best, row.cell
            ratios = [row.ratio(v) for v in variants]
            writer.writerow([
                cell.table, row.relation, cell.query, cell.column, cell.rows, cell.epsilon,
                peer.who if peer else "", f"{peer.rmse:.4g}" if peer else "", f"{peer.doubt:.2f}" if peer else "",
                f"{row.shifted:.4g}" if row.shifted is not None else "",
                *(f"{row.ours[v].rmse:.4g}" if v in row.ours else "" for v in variants),
                *(f"{r.value:.3g}" if r else "" for r in ratios),
                *(f"{r.doubt:.2f}" if r else "" for r in ratios),
            ])  # fmt: skip
