"""Smoothed privacy: what publishing a sample or a tally leaks, without any noise added.

For elections, lost ballots, published samples and quantised gradients. Exact figures for one database, smoothed ones
over a set of electorates, the worst case always beside them. Nothing here releases anything or spends a budget.
"""

from sordino.smoothed.anonymous import Anonymous, hockey_stick, sampled_tally
from sordino.smoothed.average import SamplingAverage, quantise
from sordino.smoothed.bounds import least_held_back, log_floor
from sordino.smoothed.composition import compose
from sordino.smoothed.designs import bernoulli, stratified
from sordino.smoothed.electorate import Electorate
from sordino.smoothed.groups import generic_group
from sordino.smoothed.hull import recode, vertices
from sordino.smoothed.leak import Leak
from sordino.smoothed.tally import Tally, sampling
from sordino.smoothed.trade_off import ErrorRates, error_rates
from sordino.smoothed.utility import utility_bound
from sordino.smoothed.voting import trained, voting

__all__ = [
    "Anonymous",
    "Electorate",
    "ErrorRates",
    "Leak",
    "SamplingAverage",
    "Tally",
    "bernoulli",
    "compose",
    "error_rates",
    "generic_group",
    "hockey_stick",
    "least_held_back",
    "log_floor",
    "quantise",
    "recode",
    "sampled_tally",
    "sampling",
    "stratified",
    "trained",
    "utility_bound",
    "vertices",
    "voting",
]
