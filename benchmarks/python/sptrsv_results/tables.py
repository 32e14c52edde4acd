"""The tables of the report, made from the rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sptrsv_results.format import Results, Row, describe, geometric_mean, measured, quantile
from sptrsv_results.page import Section, Table

NONE = "-"
MAIN_POLICY = "dataflow"  # the default of the library: its worst cases are in the report itself
WARM = (
    "Warm: only solves of one policy run, and the first ones are not timed; on a GPU the L2 cache is emptied before "
    "those."
)
MODEL = (
    "The model is the larger of two times: the bandwidth floor (the time to move each byte of matrix, b and x once) "
    "and the inter-block latency model (the levels times the hop, in which one thread block hands a value to another "
    "through L2). The second is not a lower bound: a solve that keeps levels inside one thread block can be faster."
)
ROWS_PER_LEVEL = [
    ("fewer than 4", 0, 4),
    ("4 to 100", 4, 100),
    ("100 to 10,000", 100, 10_000),
    ("10,000 or more", 10_000, float("inf")),
]
FORMS = (MAIN_POLICY, "dataflow_inverses")  # of the default: in exact order, and not
CLEARLY = 1.05  # how much faster another policy must be to be listed
CLEARLY_OVER_EXACT = 1.03  # the same for exact order over what gives it up
STATUS = {"wrong": "wrong solution", "unsupported": "refused", "failed": "failed"}


def significant(value: float | None) -> str:
    """Returns three digits, with an exponent only for very small numbers."""
    if value is None:
        return NONE
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 1e-4 or not value else f"{value:.2e}"


def times(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}x" if value < 100 else f"{value:,.0f}x"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else NONE


def display_name(policy: str) -> str:
    return "cuSPARSE" if policy == "cusparse" else policy


def vendor(results: Results) -> str:
    """Returns the name of what the speed-ups are over."""
    return " / ".join(map(display_name, results.baselines))


def contenders(results: Results, policies: Iterable[str]) -> list[str]:
    """Returns the policies that have a speed-up: all but the baselines."""
    return [policy for policy in policies if policy not in results.baselines]


def of_policy(results: Results, policy: str) -> list[Row]:
    return [row for row in results.rows if row.policy == policy]


def count_fastest(results: Results, policies: Sequence[str]) -> dict[str, int]:
    """Counts the problems that each policy solves fastest of `policies`; equal times count for both."""
    count = dict.fromkeys(policies, 0)
    for rows in results.by_problem.values():
        known = {policy: ms for policy in policies if policy in rows and (ms := rows[policy].ms)}
        for policy, ms in known.items():
            count[policy] += ms == min(known.values())
    return count


def sections(results: Results, policies: Sequence[str]) -> list[Section]:
    name = vendor(results)
    made = []
    if MAIN_POLICY in contenders(results, policies):
        made.append(
            Section(
                "What is slower",
                f"Everything in which {' and '.join(p for p in FORMS if p in policies)} take longer than {name}, than "
                f"another policy ({100 * (CLEARLY - 1):.0f} % or more) or, out of order, than in exact order "
                f"({100 * (CLEARLY_OVER_EXACT - 1):.0f} % or more), on the same problem; the worst first.",
                slower_cases(results, policies),
            )
        )
    made += [
        Section(
            "Summary",
            f"Speed-ups are over {name} in the same run, with a warm L2 cache; means are geometric. `fastest on`: "
            "share of the problems that the policy solves fastest. `time / model`: time over the time of a model. "
            f"{MODEL} {WARM}",
            summary(results, policies),
        ),
    ]
    groupings: dict[str, Callable[[Row], str]] = {
        "rows per level": rows_per_level_class,
        "source": lambda row: row.source,
    }
    if len({configuration(row) for row in results.rows}) > 1:
        groupings["configuration"] = configuration
    for title, group_of in groupings.items():
        made += [
            Section(f"Mean speed-up by {title}", "", by_group(results, policies, title, group_of)),
            Section(f"Worst speed-up by {title}", "", by_group(results, policies, title, group_of, least)),
        ]
    made += [
        Section(
            "Analysis",
            "`in solves`: the time of the analysis over the time of one solve. `break-even`: the number of solves from "
            f"which on analysis and solves together take less time than {name}'s. `never`: problems on which they "
            "never do.",
            analysis(results, policies),
        ),
        Section(
            "Solves until an analysis has paid, by rows per level",
            f"The number of solves from which on analysis and solves together take less time than {name}'s: the median "
            "and the most of a class, and how often there is no such number.",
            break_even_by_class(results, [policy for policy in FORMS if policy in policies]),
        ),
        Section(
            "Warm, cold and as a graph",
            "All numbers are geometric means. `cold`: the L2 cache is flushed between solves, which are single calls. "
            "`cold / warm` compares single calls. `alone`: a warm call on an idle stream, which is not measured for "
            "long solves. `as a graph`: the solves are replayed as a CUDA graph.",
            cache(results, policies),
        ),
        Section(
            "Memory",
            "Device memory that a solver holds, and that one more workspace holds, over the size of the matrix.",
            memory(results, policies),
        ),
    ]
    if MAIN_POLICY in contenders(results, policies):
        made.append(worst_section(results, MAIN_POLICY))
    if any(row.status != "ok" for row in results.rows if row.policy in policies):
        made.append(
            Section(
                "Not solved",
                "The performance profile counts these as never solved; no mean contains them.",
                not_solved(results, policies),
            )
        )
    return made


def system_sections(results: Results, policies: Sequence[str]) -> list[Section]:
    """Returns the sections with a line for each system; those of the report itself summarise them."""
    others = [policy for policy in contenders(results, policies) if policy != MAIN_POLICY]
    text = "Milliseconds of one solve, with a warm L2 cache, in a batch of solves."
    return [
        *(worst_section(results, policy) for policy in others),
        Section("All times", text, everything(results, policies)),
    ]


def worst_section(results: Results, policy: str) -> Section:
    return Section(f"Ten worst cases of {policy}", "", worst(results, policy))


def summary(results: Results, policies: Sequence[str]) -> Table:
    fastest = count_fastest(results, policies)
    rows = []
    for policy in policies:
        own = of_policy(results, policy)
        speedup = [] if policy in results.baselines else list(measured(own, "speedup"))
        floor = list(measured(own, "ratio_to_floor"))
        count = {status: str(sum(row.status == status for row in own)) for status in ("ok", *STATUS)}
        rows.append(
            [
                policy,
                count["ok"],
                count["wrong"],
                count["unsupported"],
                count["failed"],
                times(geometric_mean(speedup)),
                times(min(speedup, default=None)),
                slower(speedup),
                percent(fastest[policy], len(results.by_problem)),
                times(geometric_mean(floor)),
                times(max(floor, default=None)),
            ]
        )
    return Table(
        [
            "policy",
            "correct",
            "wrong",
            "refused",
            "failed",
            "mean speed-up",
            "worst",
            "slower",
            "fastest on",
            "mean time / model",
            "worst time / model",
        ],
        rows,
    )


def slower(speedup: Sequence[float]) -> str:
    return f"{sum(value < 1 for value in speedup)} of {len(speedup)}" if speedup else NONE


def rows_per_level_class(row: Row) -> str:
    return next(name for name, low, high in ROWS_PER_LEVEL if low <= row.rows_per_level < high)


def configuration(row: Row) -> str:
    return f"{row.value}, {row.index}, {row.part}, {row.operation}, {row.rhs} rhs"


def by_group(
    results: Results,
    policies: Sequence[str],
    title: str,
    group_of: Callable[[Row], str],
    statistic: Callable[[list[float]], float | None] = geometric_mean,
) -> Table:
    """Returns a statistic of the speed-ups, the mean by default: a line for each group, a column for each policy."""
    order = [name for name, *_ in ROWS_PER_LEVEL]
    groups = sorted(
        {group_of(row) for row in results.rows},
        key=lambda group: (order.index(group) if group in order else 0, group),
    )
    names = contenders(results, policies)
    rows = []
    for group in groups:
        problems = sum(any(group_of(row) == group for row in of.values()) for of in results.by_problem.values())
        of_group = [[row for row in of_policy(results, policy) if group_of(row) == group] for policy in names]
        speedups = (times(statistic(list(measured(rows_of, "speedup")))) for rows_of in of_group)
        rows.append([group, str(problems), *speedups])
    return Table([title, "problems", *names], rows)


def least(values: list[float]) -> float | None:
    return min(values, default=None)


def break_evens(rows: Iterable[Row]) -> list[float]:
    """Returns the break-even of each correct row with a baseline; infinite where the policy never takes less time."""
    return [
        float("inf") if row.break_even_solves is None else row.break_even_solves
        for row in rows
        if row.status == "ok" and row.speedup is not None
    ]


def break_even_by_class(results: Results, policies: Sequence[str]) -> Table:
    """Returns a line for each class of rows per level; three columns for each policy."""
    rows = []
    for name, *_ in ROWS_PER_LEVEL:
        cells = []
        for policy in policies:
            even = break_evens(row for row in of_policy(results, policy) if rows_per_level_class(row) == name)
            middle = quantile(even, 0.5)
            most = max((value for value in even if value != float("inf")), default=None)
            never = sum(value == float("inf") for value in even)
            cells += [
                "never" if middle == float("inf") else significant(middle),
                significant(most),
                f"{never} of {len(even)}" if even else NONE,
            ]
        rows.append([name, *cells])
    columns = (f"{policy}: {what}" for policy in policies for what in ("median", "most", "never"))
    return Table(["rows per level", *columns], rows)


def slower_cases(results: Results, policies: Sequence[str]) -> Table:
    """Returns every comparison that a form of the default loses, the largest ratio first."""
    found: list[tuple[float, list[str]]] = []

    def compare(row: Row, what: str, other: str, own_ms: float | None, other_ms: float | None, limit: float) -> None:
        if own_ms and other_ms and own_ms >= limit * other_ms and own_ms > other_ms:
            cells = [describe(row), row.policy, what, other, significant(own_ms), significant(other_ms)]
            found.append((own_ms / other_ms, cells))

    for known in results.by_problem.values():
        for row in (known[policy] for policy in FORMS if policy in policies and policy in known):
            if row.status != "ok":
                continue
            if (baseline := results.baseline_row(row)) and baseline.status == "ok":
                name = display_name(row.baseline)
                compare(row, "solves in a batch", name, row.ms, baseline.ms, 1)
                compare(row, "single calls", name, single_ms(row), single_ms(baseline), 1)
                compare(row, "analysis", name, row.analysis_ms, baseline.analysis_ms, 1)
            if row.policy != MAIN_POLICY:
                if exact := known.get(MAIN_POLICY):
                    compare(row, "solves in a batch", exact.policy, row.ms, exact.ms, CLEARLY_OVER_EXACT)
                continue
            others = [known[p] for p in policies if p in known and p not in FORMS and p != row.baseline]
            if fastest := min((other for other in others if other.ms), key=lambda other: other.ms or 0, default=None):
                compare(row, "solves in a batch", fastest.policy, row.ms, fastest.ms, CLEARLY)
    found.sort(key=lambda case: -case[0])
    return Table(
        ["matrix", "policy", "what", "than", "ratio", "ms", "ms of the other"],
        [[*cells[:4], times(ratio), *cells[4:]] for ratio, cells in found],
        names=4,
    )


def single_ms(row: Row) -> float | None:
    """Returns the time of a call on an idle machine, or, of a long solve, in a queue of calls."""
    return (row.warm.alone_ms or row.warm.median_ms) if row.warm else None


def analysis_in_solves(row: Row) -> float | None:
    return row.analysis_ms / row.ms if row.ms and row.analysis_ms else None


def analysis_speedup(results: Results, row: Row) -> float | None:
    """Returns the time of the baseline's analysis over that of the policy."""
    baseline = results.baseline_row(row)
    theirs = baseline.analysis_ms if baseline and baseline.status == "ok" else None
    return theirs / row.analysis_ms if row.status == "ok" and row.analysis_ms and theirs else None


def analysis(results: Results, policies: Sequence[str]) -> Table:
    rows = []
    for policy in policies:
        own = of_policy(results, policy)
        in_solves = [value for row in own if (value := analysis_in_solves(row))]
        gain = [value for row in own if (value := analysis_speedup(results, row))]
        even = [] if policy in results.baselines else break_evens(own)
        never = sum(value == float("inf") for value in even)
        middle = quantile(even, 0.5)
        rows.append(
            [
                policy,
                significant(geometric_mean(in_solves)),
                significant(max(in_solves, default=None)),
                NONE if policy in results.baselines else times(geometric_mean(gain)),
                "never" if middle == float("inf") else significant(middle),
                f"{never} of {len(even)}" if even else NONE,
                significant(geometric_mean(value for value in measured(own, "update_ms") if value)),
            ]
        )
    return Table(
        [
            "policy",
            "mean in solves",
            "most",
            f"faster than {vendor(results)}'s",
            "median break-even",
            "never",
            "mean update of values (ms)",
        ],
        rows,
    )


def cold_over_warm(row: Row) -> float | None:
    return row.cold.median_ms / row.warm.median_ms if row.status == "ok" and row.cold and row.warm else None


def cache(results: Results, policies: Sequence[str]) -> Table:
    rows = []
    for policy in policies:
        own = of_policy(results, policy)
        warm = [row.warm for row in own if row.status == "ok" and row.warm]
        compared = policy not in results.baselines
        rows.append(
            [
                policy,
                times(geometric_mean(measured(own, "speedup"))) if compared else NONE,
                times(geometric_mean(measured(own, "speedup_cold"))) if compared else NONE,
                times(geometric_mean(ratio for row in own if (ratio := cold_over_warm(row)))),
                times(geometric_mean(t.median_ms / t.batch_ms for t in warm)),
                times(geometric_mean(t.alone_ms / t.batch_ms for t in warm if t.alone_ms)),
                times(geometric_mean(t.graph_ms / t.batch_ms for t in warm if t.graph_ms)),
            ]
        )
    return Table(
        [
            "policy",
            "speed-up warm",
            "speed-up cold",
            "cold / warm",
            "single call / in a batch",
            "alone / in a batch",
            "as a graph / in a batch",
        ],
        rows,
    )


def memory(results: Results, policies: Sequence[str]) -> Table:
    rows = []
    for policy in policies:
        own = [(row, size) for row in of_policy(results, policy) if row.status == "ok" and (size := row.matrix_bytes)]
        held = {describe(row): (row.solver_bytes or 0) / size for row, size in own}
        extra = [(row.workspace_bytes or 0) / size for row, size in own]
        most = max(held, key=lambda name: held[name], default=None)
        rows.append(
            [
                policy,
                times(quantile(held.values(), 0.5)),
                times(held[most]) if most else NONE,
                most or NONE,
                times(quantile(extra, 0.5)),
            ]
        )
    return Table(["policy", "solver, median", "most", "for", "one more workspace, median"], rows)


def worst(results: Results, policy: str, count: int = 10) -> Table:
    own = [row for row in of_policy(results, policy) if row.status == "ok" and row.speedup is not None]
    rows = []
    for row in sorted(own, key=lambda row: (row.speedup, row.problem))[:count]:
        baseline = results.baseline_row(row)
        rows.append(
            [
                describe(row),
                row.source,
                times(row.speedup),
                significant(row.ms),
                significant(baseline.ms if baseline else None),
                times(row.ratio_to_floor),
                significant(row.rows_per_level),
                f"{row.n:,}",
                f"{row.nnz:,}",
                f"{row.longest_row:,}",
                f"{row.longest_column:,}",
            ]
        )
    return Table(
        [
            "matrix",
            "source",
            "speed-up",
            "ms",
            f"{vendor(results)} ms",
            "time / model",
            "rows per level",
            "n",
            "nnz",
            "longest row",
            "longest column",
        ],
        rows,
        names=2,
    )


def not_solved(results: Results, policies: Sequence[str]) -> Table:
    rows = [
        [describe(row), row.policy, STATUS[row.status], row.message]
        for row in results.rows
        if row.status != "ok" and row.policy in policies
    ]
    return Table(["matrix", "policy", "what", "why"], rows, names=4)


def everything(results: Results, policies: Sequence[str]) -> Table:
    rows = []
    for known in sorted(results.by_problem.values(), key=lambda known: _structure(known)):
        one = next(iter(known.values()))
        cells = [significant(known[p].ms) if p in known else NONE for p in policies]
        rows.append([describe(one), significant(one.rows_per_level), f"{one.nnz:,}", f"{one.levels:,}", *cells])
    return Table(["matrix", "rows per level", "nnz", "levels", *policies], rows)


def _structure(known: dict[str, Row]) -> tuple[float, str]:
    one = next(iter(known.values()))
    return one.rows_per_level, str(one.problem)
