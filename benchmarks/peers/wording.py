"""The sentences of the report, so that the module that assembles pages holds no prose. No numbers here."""

HOW = """\
How everybody was asked, and what the comparison cannot say, is in {doc}`peers_rules`; every single cell is in
{doc}`peers_cells`.
"""
BETTER = """\
Cells in which the best peer's error is smaller than ours by more than 1 % and twice the simulation error, the worst
first. `tight` is judged here on the columns whose bounds fit (unif, bimodal, bimodal50); of the others it would be
untrue, and what it costs there is on the page of all cells. *Grid luck*: OpenDP's error is below the rounding error of
its own candidates, because one of them happens to lie on the answer.
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
*one more* leaves out what a library builds once and keeps; *first of the process* has late imports in it. Peak memory
is of the whole process, the column included.
"""
NOISE = "Vectors where a library has them, else one call a sample; numpy is the floor and is not private.\n"
INPUT = """\
Data 1..7 in [0, 10], ε = 1, with one thing wrong. R: refused, with the exception; **A**: answered. Not every answer is
a fault: clipping an infinity is sound, where the number of rows is private an empty table must be answered, and a value
that is no number must not show itself by a refusal. `tmlt` is its quantile alone; its sessions check more.
"""
AGAIN = """\
```
python -m benchmarks.peers environments      # one virtual environment per library, outside the repository
python -m benchmarks.peers accuracy          # resumes; answers are kept by library, version and adapter
python -m benchmarks.peers speed behaviour   # best on a quiet machine
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
For {count} of our answers (quantiles, counts, means with tight bounds) the error is that of the exact output law. So it
is for the quantiles of OpenDP, diffprivlib and Tumult, whose laws were checked against their draws: a simulation misses
rare far answers. All else is simulated.
"""
SHARED = """\
The machine was shared (load {load:.1f} at the start of the timings), so times are CPU seconds, and ratios say more than
seconds.
"""
