"""All cells scored: ours in every variant beside every peer, with the best peer and the ratio. Reads the cache only."""

import csv
from dataclasses import dataclass, replace

from benchmarks.peers import laws, scores
from benchmarks.peers.answers import Answers
from benchmarks.peers.cells import Cell, truth
from benchmarks.peers.libraries import OURS, PEERS
from benchmarks.peers.running import LAW
from benchmarks.peers.scores import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell under one relation."""

    cell: Cell
    relation: str
    truth: float
    ours: dict[str, Score]
    peers: dict[str, Score]

    @property
    def best(self):
        """The best peer that answers, or None."""
        return scores.best(self.peers.values())

    def ratio(self, variant):
        """Our error over the best peer's, or None where either is missing."""
        mine, peer = self.ours.get(variant), self.best
        if mine is None or peer is None or not mine.usable:
            return None
        return scores.ratio(mine, peer)

    @property
    def lucky(self):
        """The best peer is a grid whose candidate happens to lie on the answer."""
        peer, known = self.best, self.cell.public
        if (
            peer is None
            or not peer.who.startswith("opendp")
            or self.cell.query in ("mean", "variance", "count")
        ):
            return False
        candidates = 1001 if self.cell.query in ("min", "max") or self.cell.table == "ties" else 10_001
        return scores.lucky(peer.rmse, known.low, known.high, candidates)


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
                        if variant == "tight":
                            continue  # whoever says that bounds are tight asks for `mean`
                        asked = replace(cell, query="mean")
                    one = _scored(answers, asked.name(name, variant, relation), f"{name} {variant}", fact)
                    law = laws.of_cell(name, cell, columns[where])
                    if law is not None and (one is None or one.usable):
                        one = one or Score(
                            who=f"{name} {variant}", rmse=0, median=0, doubt=0, answered=1, raised=0
                        )
                        one = replace(one, rmse=law.rmse(fact), median=law.median_error(fact), doubt=0.0)
                    if one is None:
                        continue
                    if name == OURS.name:
                        ours[variant] = one
                    else:
                        peers[one.who] = one
            if ours or peers:
                found.append(Row(cell=cell, relation=relation, truth=fact, ours=ours, peers=peers))
    return found


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
    return replace(one, rmse=exact, doubt=0.0, answered=max(one.answered, 1))


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
        "lucky_grid",
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
                int(row.lucky),
                *(f"{row.ours[v].rmse:.4g}" if v in row.ours else "" for v in variants),
                *(f"{r.value:.3g}" if r else "" for r in ratios),
                *(f"{r.doubt:.2f}" if r else "" for r in ratios),
            ])  # fmt: skip
