"""The sentences of the report, so that the module that assembles pages holds no prose. No numbers here."""

HOW = """\
How everybody was asked, and what the comparison cannot say, is in {doc}`peers_rules`; every single cell is in
{doc}`peers_cells`, times, memory and bad input in {doc}`peers_speed`.
"""
BETTER = """\
Cells in which the best peer's error is smaller than ours by more than 1 % and twice the simulation error, the worst
first. `tight` is judged here on the columns whose bounds fit (unif, bimodal, bimodal50); of the others it would be
untrue, and what it costs there is on the page of all cells. *Over shifted grids*: OpenDP answers with one of its
candidates; here is the ratio when they lie anywhere, averaged over 32 shifts of its grid. *Grid luck*: with shifted
candidates no peer is better.
"""
ACCURACY = "Error is the root mean square against the statistic of the sample itself. A dot is one cell.\n"
MEANS = "Geometric means of our error over the best peer's, with the simulation error:\n"
TIES = """\
Median of 1,001 rows, root mean square error. Sordino is told the step of the column (whole years, cents, dollars), as a
schema would; no peer has such an option.
"""
REAL = """\
5,001 rows drawn once from each, ε = 1, root mean square error; bounds are round numbers that anybody would state.
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
Three numbers with slashes are: {shown}. Ratios above 1.01 beyond twice the simulation error are bold; ± is the
simulation error of the first ratio. See {{doc}}`peers` for the summary and {{doc}}`peers_rules` for the rules.
"""
LAWS = """
For {count} of our answers (quantiles, counts, means with tight bounds) root mean square and median errors are those of
the exact output law, for a simulation misses rare far answers. So they are for the peers' answers that the table *laws
and draws* names. All else is simulated.
"""
CHECKED = """\
Each law was tested against the library's own draws in every cell (Kolmogorov and Smirnov). If the laws are right, the
p-values are uniform, which the fourth column tests; the last is the least of them times their number.
"""
HINTED = """\
No peer takes a centre and a spread, but its user can turn the same wrong hint into bounds. The table has replace-one,
quantiles and means, the best of OpenDP, diffprivlib and PyDP at ε/2 (its mean), all by exact law. Somebody who may be
wrong by a factor of three in either direction has to leave about ten spreads on either side; narrower bounds look
better here because this hint happens to be too wide, and would cut the column if it were as much too narrow.
"""
SAME = """\
With ten spreads, question by question: Sordino with the hint as a hint, and Sordino within the very bounds that the
peers get. A hint is weaker than bounds, for it may be wrong without harm: where the declared bounds reach to a million
and the hint says five, rare far answers remain possible with a hint and are cut off by bounds.
"""
GEOMETRIC = """\
A user who knows that a column is positive and skewed would space OpenDP's candidates in equal ratios (from a hundred-
millionth of the upper bound). Geometric means over sizes and prices; no part of the bars.
"""
SHARED = """\
The machine was shared (load {load}), so times are CPU seconds, the libraries took turns within each question, and
ratios say more than seconds.
"""
