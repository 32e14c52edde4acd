"""The tables of the report, made from the rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sptrsv_results.format import (
    Distribution,
    Factorisation,
    Results,
    Row,
    describe,
    geometric_mean,
    measured,
    quantile,
)
from sptrsv_results.page import Section, Table

NONE = "-"
MAIN_POLICY = "dataflow"  # the default of the library
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
BATCH = "solves back to back"
# The report compares these times with those of the baseline. A measure has a name, and a function that returns its
# milliseconds for a correct row.
MEASURES: tuple[tuple[str, Callable[[Row], float | None]], ...] = (
    (BATCH, lambda row: row.ms),
    ("single calls", lambda row: row.single_ms),
    ("first analysis", lambda row: row.first_analysis_ms),
    ("repeated analysis", lambda row: row.analysis_ms),
)
FACTORS = {"ilu0": "ILU(0)", "ic0": "IC(0)"}
CLEARLY = 1.05  # how much faster a peer must be to be listed
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


@dataclass(frozen=True)
class Comparison:
    """A time of this library and that of a peer in the same run, for one system."""

    system: str
    rows_per_level: float
    source: str
    configuration: str
    policy: str
    what: str
    than: str
    own_ms: float
    other_ms: float
    path: str = NONE
    predicted_ms: float | None = None

    @property
    def speedup(self) -> float:
        return self.other_ms / self.own_ms


def compared(row: Row, what: str, than: str, own_ms: float | None, other_ms: float | None) -> Iterator[Comparison]:
    """Returns the comparison, or none if a time is missing."""
    if row.status == "ok" and own_ms and other_ms:
        place = (describe(row), row.rows_per_level, row.source, configuration(row))
        predicted = row.predicted_ms if "analysis" not in what else None
        yield Comparison(*place, row.policy, what, than, own_ms, other_ms, row.path or NONE, predicted)


def against_baseline(results: Results, policies: Iterable[str]) -> list[Comparison]:
    """Returns all measures of these policies, each against the baseline."""
    made: list[Comparison] = []
    for policy in policies:
        for row in of_policy(results, policy):
            baseline = results.baseline_row(row)
            if baseline and baseline.status == "ok":
                for what, ms in MEASURES:
                    made += compared(row, what, display_name(row.baseline), ms(row), ms(baseline))
    return made


def against_own(results: Results, policies: Sequence[str]) -> list[Comparison]:
    """Returns the default against the fastest other policy of the library, and against exact order if it gives it up.

    Returns those only in which the other one is clearly faster.
    """
    made: list[Comparison] = []
    for known in results.by_problem.values():
        rows = {policy: row for policy, row in known.items() if policy in policies and row.ms}
        if exact := rows.get(MAIN_POLICY):
            others = [row for policy, row in rows.items() if policy not in (*FORMS, row.baseline)]
            if fastest := min(others, key=lambda row: row.ms or 0, default=None):
                made += compared(exact, BATCH, fastest.policy, exact.ms, fastest.ms)
            for row in (rows[policy] for policy in FORMS[1:] if policy in rows):
                made += compared(row, BATCH, exact.policy, row.ms, exact.ms)
    limits = {MAIN_POLICY: CLEARLY_OVER_EXACT}
    return [one for one in made if one.speedup * limits.get(one.than, CLEARLY) <= 1]


def of_factorisations(factorisations: Iterable[Factorisation]) -> list[Comparison]:
    """Returns what is compared of the factorisations.

    A factorisation, alone and with its analysis, is compared with the form of cuSPARSE that takes less time; an
    analysis with the one by level, since without levels there is none to speak of.
    """
    made = []
    for one in factorisations:
        forms = {"cuSPARSE by level": one.by_level, "cuSPARSE without levels": one.without_levels}
        for what, of, peers in (
            ("factorisation", lambda times: times.factor_ms, forms),
            ("first analysis and factorisation", lambda times: times.first_ms, forms),
            ("first analysis", lambda times: times.first_analysis_ms, {"cuSPARSE by level": one.by_level}),
            ("repeated analysis", lambda times: times.analysis_ms, {"cuSPARSE by level": one.by_level}),
        ):
            measured = {than: ms for than, times in peers.items() if (ms := of(times))}
            if measured and (own_ms := of(one.ours)):
                than, other_ms = min(measured.items(), key=lambda form: form[1])
                place = (one.matrix, one.rows_per_level, "", "")
                made.append(Comparison(*place, FACTORS[one.factors], what, than, own_ms, other_ms))
    return made


def chosen_forms(results: Results, policies: Sequence[str]) -> list[str]:
    """Returns the forms of the default that were measured; without them, all policies with a speed-up."""
    return [policy for policy in FORMS if policy in policies] or contenders(results, policies)


def slower_section(results: Results, policies: Sequence[str], factorisations: Sequence[Factorisation] = ()) -> Section:
    """Returns every comparison that the library loses, the worst first."""
    forms = chosen_forms(results, policies)
    peers = [*against_baseline(results, forms), *of_factorisations(factorisations)]
    lost = [one for one in peers if one.speedup * CLEARLY <= 1]
    inside = against_own(results, policies)
    rows = [
        [
            one.system,
            rows_per_level_class(one),
            one.policy,
            one.path,
            one.what,
            one.than,
            times(1 / one.speedup),
            significant(one.own_ms),
            significant(one.other_ms),
            significant(one.predicted_ms),
        ]
        for one in sorted([*lost, *inside], key=lambda one: one.speedup)
    ]
    return Section(
        "Slower than the peer",
        f"Everything in which {' and '.join(forms)} or a factorisation take longer than {vendor(results)}, or longer "
        f"than another policy of the library, by {100 * (CLEARLY - 1):.0f} % or more, or longer out of order than in "
        f"exact order by {100 * (CLEARLY_OVER_EXACT - 1):.0f} % or more; the worst first: {len(lost)} of "
        f"{len(peers)} comparisons with {vendor(results)}, {len(inside)} inside the library. `path`: the chosen one; "
        "`predicted`: the time of a solve by that path according to the library's model. A factorisation is compared "
        "with the form of cuSPARSE that takes less time, an analysis with the one by level.",
        Table(
            [
                "system",
                "rows per level",
                "policy",
                "path",
                "what",
                "than",
                "ratio",
                "ms",
                "ms of the other",
                "predicted ms",
            ],
            rows,
            names=6,
        ),
    )


def sections(results: Results, policies: Sequence[str], factorisations: Sequence[Factorisation] = ()) -> list[Section]:
    name = vendor(results)
    made = [
        Section(
            "Summary",
            f"Speed-ups are over {name} in the same run, with a warm L2 cache; means are geometric. `fastest on`: "
            "share of the problems that the policy solves fastest. `time / model`: time over the time of a model. "
            f"{MODEL} {WARM}",
            summary(results, policies),
        ),
    ]
    forms = chosen_forms(results, policies)
    of_forms = against_baseline(results, forms)
    with_factors = [*of_forms, *of_factorisations(factorisations)]
    others = [policy for policy in contenders(results, policies) if policy not in forms]
    of_others = [one for one in against_baseline(results, others) if one.what == BATCH]
    groupings: list[tuple[str, list[Comparison], Callable[[Comparison], str]]] = [
        ("Speed-up by rows per level", with_factors, rows_per_level_class),
        ("Speed-up of the other policies by rows per level", of_others, rows_per_level_class),
        ("Speed-up by source", of_forms, lambda one: one.source),
    ]
    if len({one.configuration for one in of_forms}) > 1:
        groupings.append(("Speed-up by configuration", of_forms, lambda one: one.configuration))
    for title, compared_ones, group_of in groupings:
        if compared_ones:
            table = by_group(compared_ones, title.partition(" by ")[2], group_of)
            made.append(Section(title, "", table))
    made += [
        Section(
            "Analysis",
            "`in solves`: the time of the analysis over the time of one solve. `break-even`: the number of solves from "
            f"which on analysis and solves together take less time than {name}'s. `never`: problems on which they "
            "never do.",
            analysis(results, policies),
        ),
        Section(
            "Break-even by rows per level",
            f"The number of solves from which on the first analysis and the solves together take less time than "
            f"{name}'s; 0: at once. `never`: systems on which they never do.",
            break_even_by_class(results, forms),
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
    return made + not_solved_section("Not solved", results, policies, ("wrong", "failed"))


def not_solved_section(title: str, results: Results, policies: Sequence[str], statuses: Sequence[str]) -> list[Section]:
    table = not_solved(results, policies, statuses)
    text = "The performance profile counts these as never solved; no mean contains them."
    return [Section(title, text, table)] if table.rows else []


def system_sections(results: Results, policies: Sequence[str]) -> list[Section]:
    """Returns the sections with a line for each system; those of the report itself summarise them."""
    text = (
        "Milliseconds of one solve, with a warm L2 cache, in a batch of solves. Of the lengths of rows, without the "
        "diagonal, and of the rows of levels: the least, the median, the 90th percentile and the most."
    )
    return [
        *(
            Section(f"Ten worst cases of {policy}", "", worst(results, policy))
            for policy in contenders(results, policies)
        ),
        Section("All times", text, everything(results, policies)),
        *not_solved_section("Refused", results, policies, ("unsupported",)),
    ]


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


def rows_per_level_class(of: Row | Comparison) -> str:
    return next(name for name, low, high in ROWS_PER_LEVEL if low <= of.rows_per_level < high)


def configuration(row: Row) -> str:
    return f"{row.value}, {row.index}, {row.part}, {row.operation}, {row.rhs} rhs"


def by_group(comparisons: Sequence[Comparison], title: str, group_of: Callable[[Comparison], str]) -> Table:
    """Returns the mean of the speed-ups beside the worst: a line for each group, policy and measure."""
    order = [name for name, *_ in ROWS_PER_LEVEL]
    groups = sorted(
        {group_of(one) for one in comparisons},
        key=lambda group: (order.index(group) if group in order else 0, group),
    )
    rows = []
    for group in groups:
        lines: dict[tuple[str, str], list[Comparison]] = {}
        for one in comparisons:
            if group_of(one) == group:
                lines.setdefault((one.policy, one.what), []).append(one)
        for (policy, what), of_line in lines.items():
            worst_one = min(of_line, key=lambda one: one.speedup)
            mean = geometric_mean(one.speedup for one in of_line)
            cells = [str(len(of_line)), times(mean), times(worst_one.speedup), worst_one.system]
            rows.append([group, policy, what, *cells])
    return Table([title, "policy", "what", "systems", "mean", "worst", "worst system"], rows, names=3)


def break_evens(rows: Iterable[Row]) -> list[float]:
    """Returns the break-even of each correct row with a baseline; infinite where the policy never takes less time."""
    return [
        float("inf") if row.break_even_solves is None else row.break_even_solves
        for row in rows
        if row.status == "ok" and row.speedup is not None
    ]


def break_even_by_class(results: Results, policies: Sequence[str]) -> Table:
    """Returns a line for each class of rows per level and policy, and for all classes together."""
    rows = []
    for name, low, high in [*ROWS_PER_LEVEL, ("all", 0, float("inf"))]:
        for policy in policies:
            own = [row for row in of_policy(results, policy) if low <= row.rows_per_level < high]
            even = {describe(row): value for row in own for value in break_evens([row])}
            finite = {system: value for system, value in even.items() if value != float("inf")}
            worst_one = max(finite, key=lambda system: finite[system], default=None)
            if even:
                cells = [never_or(quantile(even.values(), 0.5)), significant(worst_one and finite[worst_one])]
                never = f"{len(even) - len(finite)} of {len(even)}"
                rows.append([name, policy, *cells, worst_one or NONE, never])
    return Table(["rows per level", "policy", "median", "worst", "worst system", "never"], rows, names=2)


def never_or(solves: float | None) -> str:
    return "never" if solves == float("inf") else significant(solves)


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
        rows.append(
            [
                policy,
                significant(geometric_mean(in_solves)),
                significant(max(in_solves, default=None)),
                NONE if policy in results.baselines else times(geometric_mean(gain)),
                never_or(quantile(even, 0.5)),
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


def not_solved(results: Results, policies: Sequence[str], statuses: Sequence[str] = tuple(STATUS)) -> Table:
    rows = [
        [describe(row), row.policy, STATUS[row.status], row.message]
        for row in results.rows
        if row.status in statuses and row.policy in policies
    ]
    return Table(["matrix", "policy", "what", "why"], rows, names=4)


def statistics(counts: Distribution | None) -> str:
    return f"{counts.min:,} / {counts.median:,} / {counts.p90:,} / {counts.max:,}" if counts else NONE


def everything(results: Results, policies: Sequence[str]) -> Table:
    rows = []
    for known in sorted(results.by_problem.values(), key=lambda known: _structure(known)):
        one = next(iter(known.values()))
        cells = [significant(known[p].ms) if p in known else NONE for p in policies]
        shape = [statistics(one.row_lengths), statistics(one.level_rows)]
        sizes = [significant(one.rows_per_level), f"{one.nnz:,}", f"{one.levels:,}", *shape]
        rows.append([describe(one), *sizes, *cells])
    return Table(["matrix", "rows per level", "nnz", "levels", "lengths of rows", "rows of levels", *policies], rows)


def _structure(known: dict[str, Row]) -> tuple[float, str]:
    one = next(iter(known.values()))
    return one.rows_per_level, str(one.problem)
