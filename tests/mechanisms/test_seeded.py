"""Answers drawn from seeded words say that they are not private; fresh ones do not."""

import numpy as np

from sordino.data.memory import Memory
from sordino.exact import SeededBits
from sordino.mechanisms.choose import choose, output_grid
from sordino.privacy import Pure
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.trimmed_mean import TrimmedMean

QUESTIONS = (
    Median("x", low=0, high=10),
    Mean("x", low=0, high=10),
    TrimmedMean("x", low=0, high=10, trim=0.1),
)


def test_an_answer_from_seeded_words_is_marked_and_repeats():
    source = Memory({"x": np.linspace(1, 9, 501)})

    def ask(request):
        return source.summary(request)[0]

    for statistic in QUESTIONS:
        mechanism = choose(statistic, Pure(1), rows=501)
        grid = output_grid(statistic)
        seeded = [mechanism.answer(statistic, ask, grid, bits=SeededBits(7)) for _ in range(2)]
        assert seeded[0].value == seeded[1].value
        assert all(not answer.private and "NOT PRIVATE" in repr(answer) for answer in seeded)
        fresh = mechanism.answer(statistic, ask, grid)
        assert fresh.private
        assert "NOT PRIVATE" not in repr(fresh)
