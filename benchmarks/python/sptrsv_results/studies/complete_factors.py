"""The tables of the comparison on complete factors, from the results of sptrsv_complete_factors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sptrsv_results.fit.times import Vector, fit, predict
from sptrsv_results.format import Results, Row, geometric_mean
from sptrsv_results.page import Section, Table
from sptrsv_results.tables import NONE, significant, slower, times

OWN = "supernodal"
SAME_ORDER = "cudss_same_order"
DIRECTIONS = {"lower": "forward", "upper": "backward"}
NAMES = {"cusparse": "cuSPARSE", "cudss": "cuDSS", SAME_ORDER: "cuDSS, same order", "cublas": "cuBLAS"}


def solver_name(solver: str) -> str:
    return NAMES.get(solver, solver)


@dataclass(frozen=True)
class Solves:
    """The rows by matrix, direction and number of right-hand sides, each by solver."""

    results: Results

    @property
    def solvers(self) -> list[str]:
        """Returns the solvers, ours first."""
        order = [OWN, "automatic_supernodal", "dataflow", "cudss", SAME_ORDER, "cusparse", "cublas"]
        known = {row.policy for row in self.results.rows}
        return [solver for solver in order if solver in known] + sorted(known - set(order))

    @property
    def problems(self) -> list[dict[str, Row]]:
        """Returns the solvers of each problem, forward before backward, few right-hand sides first."""
        matrices = list(dict.fromkeys(row.matrix for row in self.results.rows))

        def key(rows: dict[str, Row]) -> tuple[int, str, int]:
            row = any_row(rows)
            return matrices.index(row.matrix), row.part, row.rhs

        return sorted(self.results.by_problem.values(), key=key)

    def of_factor(self) -> list[dict[str, Row]]:
        """Returns one problem of each matrix."""
        first: dict[str, dict[str, Row]] = {}
        for rows in self.problems:
            first.setdefault(any_row(rows).matrix, rows)
        return list(first.values())


def any_row(rows: dict[str, Row]) -> Row:
    return next(iter(rows.values()))


def triangle_row(rows: dict[str, Row]) -> Row | None:
    """Returns a row whose entries are those of the factor that our policies solve with."""
    return next((row for solver, row in rows.items() if not solver.startswith("cudss")), None)


def bytes_floor(results: Results, row: Row) -> float | None:
    """Returns the milliseconds in which the values of the factor, b and x move through memory once.

    A panel of a supernode has no index per entry.
    """
    bandwidth = results.context.copy_bandwidth_gb_s
    return (8 * row.nnz + 24 * row.n * row.rhs) / bandwidth * 1e-6 if bandwidth else None


def tree_floor(results: Results, row: Row) -> float | None:
    """Returns the milliseconds of one hop for each level of the tree of supernodes."""
    levels = (row.kernel_levels or [0])[0]
    return levels * results.context.hop_ns * 1e-6 if results.context.hop_ns and levels else None


def over(rows: dict[str, Row], slow: str, fast: str) -> float | None:
    """Returns the time of one solver over that of another."""
    a, b = rows.get(slow), rows.get(fast)
    return a.ms / b.ms if a and b and a.ms and b.ms else None


def complete_factors(results: Results) -> list[Section]:
    solves = Solves(results)
    return [
        Section(f"{OWN} against the others", "", summary(solves)),
        Section(
            "Times",
            "Milliseconds. The floor is the larger of two: the values of the factor, b and x through memory once; and "
            f"a hop for each level of the tree of supernodes of {OWN}.",
            all_times(solves),
        ),
        Section(
            "Factors",
            "Entries in millions, with the diagonal; cuDSS counts full diagonal blocks. Analysis and values "
            "(update_values; the factorisation by cuDSS) of the forward solve with the fewest right-hand sides, in "
            "milliseconds. Bytes that the solver holds, over the entries of L.",
            factors(solves),
        ),
        *models(solves),
    ]


def summary(solves: Solves) -> Table:
    """Returns the speed-up of our policy over each other solver, by direction and right-hand sides."""
    header = ["direction", "rhs", "over", "systems", "mean", "worst", "worst system", "slower"]
    made = []
    groups = dict.fromkeys((row.part, row.rhs) for row in solves.results.rows)
    for part, rhs in sorted(groups):
        of_group = [rows for rows in solves.problems if (any_row(rows).part, any_row(rows).rhs) == (part, rhs)]
        for other in solves.solvers:
            ratios = {any_row(rows).matrix: r for rows in of_group if (r := over(rows, other, OWN))}
            if other == OWN or not ratios:
                continue
            worst = min(ratios, key=lambda matrix: ratios[matrix])
            mean = times(geometric_mean(ratios.values()))
            found = [str(len(ratios)), mean, times(ratios[worst]), worst, slower(list(ratios.values()))]
            made.append([DIRECTIONS[part], str(rhs), solver_name(other), *found])
    return Table(header, made, names=3)


def all_times(solves: Solves) -> Table:
    baseline = solves.results.baselines[0]
    shown = solves.solvers
    header = ["system", "direction", "rhs", *map(solver_name, shown), f"{solver_name(baseline)} / {OWN}"]
    made = []
    for rows in solves.problems:
        row = any_row(rows)
        cells = [significant(rows[s].ms) if s in rows else NONE for s in shown]
        made.append([row.matrix, DIRECTIONS[row.part], str(row.rhs), *cells, times(over(rows, baseline, OWN))])
        own = rows.get(OWN)
        floors = [bytes_floor(solves.results, own), tree_floor(solves.results, own)] if own else []
        made[-1].append(significant(max((f for f in floors if f), default=None)))
    return Table([*header, "floor"], made, names=2)


def factors(solves: Solves) -> Table:
    header = ["system", "n", "entries of L", "cuDSS", "cuDSS, same order", f"levels of {OWN}", "bytes per entry"]
    shown = [s for s in solves.solvers if s not in (SAME_ORDER, "cublas")]
    header += [f"{solver_name(s)}: analysis, values" for s in shown]
    made = []
    for rows in solves.of_factor():
        own, triangle = rows.get(OWN), triangle_row(rows)
        made.append(
            [
                any_row(rows).matrix,
                f"{any_row(rows).n:,}",
                *(millions(row) for row in (triangle, rows.get("cudss"), rows.get(SAME_ORDER))),
                str((own.kernel_levels or [0])[0]) if own else NONE,
                significant(own.solver_bytes / own.nnz) if own and own.solver_bytes else NONE,
                *(", ".join(of(rows, s, lambda row: [row.analysis_ms, row.update_ms])) for s in shown),
            ]
        )
    return Table(header, made)


def millions(row: Row | None) -> str:
    return significant(row.nnz / 1e6) if row else NONE


def models(solves: Solves) -> list[Section]:
    """Returns the model of our solves with the fewest right-hand sides, one section for each direction."""
    made = []
    for part in sorted({row.part for row in solves.results.rows}):
        known = [rows[OWN] for rows in solves.problems if OWN in rows and any_row(rows).part == part]
        rows = [row for row in known if row.ms and row.kernel_levels and row.kernel_partitions]
        rows = [row for row in rows if row.rhs == min(r.rhs for r in rows)]
        if len(rows) > len(TERMS):
            made.append(model(DIRECTIONS[part], rows))
    return made


def model(direction: str, rows: Sequence[Row]) -> Section:
    """Returns the times that a model predicts: a system's constants are fitted to the others."""
    xs = [terms(row) for row in rows]
    nanoseconds = [(row.ms or 0) * 1e6 for row in rows]
    constants = fit(xs, nanoseconds)
    header = ["system", "levels", "supernodes", "measured", "predicted", "predicted / measured", "on the path"]
    made = []
    for i, row in enumerate(rows):
        others = fit(xs[:i] + xs[i + 1 :], nanoseconds[:i] + nanoseconds[i + 1 :])
        time = predict(others, xs[i])
        path = others[0] * xs[i][0] / time
        cells = [significant(nanoseconds[i] * 1e-6), significant(time * 1e-6), times(time / nanoseconds[i])]
        made.append([row.matrix, f"{xs[i][0]:.0f}", f"{xs[i][2]:,.0f}", *cells, f"{100 * path:.0f} %"])
    level, byte, supernode = constants
    text = (
        f"A level of the tree takes {significant(level)} ns, the values of the factor and the vectors pass at "
        f"{significant(1 / byte) if byte else NONE} GB/s, and a supernode takes {significant(supernode)} ns "
        "(constants fitted to all systems, none negative). Predicted: with constants fitted to the other systems. On "
        "the path: the share of the levels. Milliseconds."
    )
    return Section(f"Model of the {direction} solve", text, Table(header, made))


TERMS = ("level", "byte", "supernode")


def terms(row: Row) -> Vector:
    levels, supernodes = (row.kernel_levels or [0])[0], (row.kernel_partitions or [0])[0]
    return float(levels), 8.0 * row.nnz + 24.0 * row.n * row.rhs, float(supernodes)


def of(rows: dict[str, Row], solver: str, values: Callable[[Row], Iterable[float | None]]) -> Sequence[str]:
    return [significant(value) for value in values(rows[solver])] if solver in rows else [NONE]
