"""The sentences of the report, so that the module that assembles pages holds no prose. No numbers here."""

HOW = """\
How everybody was asked, and what the comparison cannot say, is in {doc}`peers_rules`; every single cell is in
{doc}`peers_cells`, times, memory and bad input in {doc}`peers_speed`.
"""
STANDING = """\
A ratio is our error over the best peer's, so less than 1 means that ours is smaller. *A peer is better*: by more than
1 % and twice the simulation error. OpenDP answers with one of equally spaced candidates, and one of them may happen to
lie on the answer; where it is the best, the last columns have its error averaged over 32 shifts of its candidates.
*Useless*: the error exceeds the spread of the column (for a variance, the variance itself). The bars are
below, then the cells that are lost.
"""
BETTER = """\
Cells in which the best peer's error is smaller than ours by more than 1 % and twice the simulation error, the worst
first. *With its luck* is the ratio as OpenDP was asked, where shifting its candidates changes it; *spread* is the error
beyond which an answer tells nothing. PyDP's quantiles are simulated with 30 to 100 draws: where their error is a rare
far answer, as often on tied columns, such a sample misses it and the ratio is too large.
"""
MEANS = "Geometric means of our error over the best peer's, without a hint:\n"
MORE = """\
What the caller may say beyond the bounds, where it is true: `tight=True` that they fit, `loose=True` that they are far
too wide, or a rough centre and spread, both wrong by a factor of three (n = 1001). The peers have no such options.
"""
COLUMNS = """\
Each column is declared with bounds that fit, and again with bounds 10 and 1000 times as wide. No constant of Sordino
was chosen on any of these columns: what is tuned is in `mechanisms/tuned*.py` with the shapes on which it was.
"""
TIMES = """\
Incomes in [0, 5·10⁶], ε = 1, CPU seconds. *Array to answer* is all that one release needs when the modules are loaded;
*one more* leaves out what a library builds once and keeps; *first of the process* has late imports in it. Where the
first answer takes long (5 CPU seconds, a minute on Spark) it stands for the others. Peak memory is of the whole
process, the column and the processes it starts included. `tmlt` is Tumult's quantile alone, `tmlt_spark` a session of
Tumult Analytics on Spark with one thread, its Java machine started before the clock.
"""
NOISE = "Vectors where a library has them, else one call a sample; numpy is the floor and is not private.\n"
INPUT = """\
Data 1..7 in [0, 10], ε = 1, with one thing wrong. R: refused, with the exception; **A**: answered. Not every answer is
a fault: clipping an infinity is sound, where the number of rows is private an empty table must be answered, and a value
that is not a number must not show itself by a refusal. `tmlt` is its quantile alone; its sessions check more.
"""
AGAIN = """\
```
python -m benchmarks.peers environments      # one virtual environment per library, outside the repository
python -m benchmarks.peers accuracy          # resumes; answers are kept by library, version and adapter
python -m benchmarks.peers speed behaviour   # best on a quiet machine; Tumult on Spark is timed once and kept
python -m benchmarks.peers report            # writes this page
```

After a change of ours, `python -m benchmarks.peers accuracy --only sordino` and then `report` are enough. `--scale
smoke` takes a few minutes, `--share 0.2` a fifth of the repetitions.
"""
CELLS = """\
{download}`peers_cells.csv` has a line for every cell: the relation, how wide the bounds were, the statistic, the
column, rows, ε, the truth of the sample, the error beyond which an answer is useless, the best peer and its root mean
square error, the same when OpenDP's candidates lie anywhere, and ours in every way of asking. Here are the ratios of
the default to the best peer over 32 shifts of the candidates, the median of the sizes in each place; the ratios of ε =
1 and ε = 0.1 with a slash between them. See {doc}`peers` for the summary and {doc}`peers_rules` for the rules.
"""
LAWS = """
For {count} of our {all} answers root mean square and median errors are those of the exact output law, for a simulation
misses rare far answers. So they are for the peers' answers that the table *laws and draws* names. All else is
simulated.
"""
CHECKED = """\
Each law was tested against the library's own draws in every cell (Kolmogorov and Smirnov). If the laws are right, the
p-values are uniform, which the fourth column tests; the last is the least of them times their number.
"""
SHARED = """\
The machine was shared (load {load}), so times are CPU seconds, the libraries took turns within each question, and
ratios say more than seconds.
"""
