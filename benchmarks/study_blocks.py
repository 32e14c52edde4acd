"""The tables of the study of the block algorithms, from the rows of sptrsv_bench.

Lu, Niu, Liu, Efficient Block Algorithms for Parallel Sparse Triangular Solve, ICPP 2020: one lower triangle,
cut into 4, 16 and 64 triangles by columns, by rows and recursively, and as the policies do by themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from report_tables import NONE, Section, Table, significant
from results_format import Results, Row, geometric_mean, quantile
from study_tables import (
    PRECISIONS,
    LowerSolves,
    by_lower_matrix,
    gflops,
    lower_speedups,
    not_solved_section,
)

OWN = "recursive_block"
SCHEMES = ("column_block", "row_block", "recursive_block")
TRAFFIC = re.compile(r"([\d.]+) n sums updated, ([\d.]+) n of x read")
# Tables 1 and 2, in n, with 2^x triangles.
UPDATED: dict[str, Callable[[int], float]] = {
    "column_block": lambda x: 2 ** (x - 1) + 0.5,
    "row_block": lambda x: 2 - 2**-x,
    "recursive_block": lambda x: 0.5 * x + 1,
}
READ: dict[str, Callable[[int], float]] = {
    "column_block": lambda x: 1 - 2**-x,
    "row_block": lambda x: 2 ** (x - 1) - 0.5,
    "recursive_block": lambda x: 0.5 * x,
}


def traffic(row: Row) -> tuple[float, float] | None:
    """Sums updated and components of x read, in n, as the solver counts them."""
    for kernel in row.kernels or ():
        found = TRAFFIC.search(kernel)
        if found:
            return float(found[1]), float(found[2])
    return None


def lu_niu_liu(results: Results) -> list[Section]:
    solves = LowerSolves(results, OWN, "lu_niu_liu")
    made = [
        Section(
            f"Speed-up of {OWN}",
            "The time of the other policy over that of the form.",
            lower_speedups(solves, [name for name in solves.policies if name.startswith(OWN)]),
        ),
        Section(
            "Traffic (Tables 1 and 2)",
            "Items of b updated and of x read in a solve, in n: by the formulas for dense blocks, and counted, "
            "where rows of squares without entries are left out. Means over the matrices.",
            _traffic(solves),
        ),
    ]
    for value in solves.values:
        name = PRECISIONS[value]
        made += [
            Section(
                f"GFLOPS, {name} (Table 4)",
                "2 nnz / t, nnz of the triangle.",
                by_lower_matrix(solves, value, gflops, None),
            ),
            Section(
                f"Solve times, {name} (Figure 4)",
                "Milliseconds.",
                by_lower_matrix(solves, value, lambda row: row.ms, ("geometric mean", geometric_mean)),
            ),
            Section(
                f"Preprocessing, {name} (Table 5)",
                "Average milliseconds of the analysis, of a solve, and of both with 100, 500 and 1000 solves, "
                "over the matrices that all policies solve; the analysis in solves as geometric mean over all.",
                _preprocessing(solves, value),
            ),
        ]
    if len(solves.values) == len(PRECISIONS):
        made.append(
            Section(
                "Performance in double over single precision (Figure 7)",
                "The time in single over that in double precision.",
                _precision_ratios(solves),
            )
        )
    return [*made, *not_solved_section(results, solves.policies)]


def _rows(solves: LowerSolves, value: str, policy: str) -> dict[str, Row]:
    known = {matrix: solves.get(matrix, value, policy) for matrix in solves.matrices}
    return {matrix: row for matrix, row in known.items() if row}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _traffic(solves: LowerSolves) -> Table:
    rows = []
    for scheme in SCHEMES:
        for blocks in (4, 16, 64):
            counted = [
                found
                for row in _rows(solves, solves.values[0], f"{scheme}_{blocks}").values()
                if (found := traffic(row))
            ]
            x = round(math.log2(blocks))
            cells = (
                UPDATED[scheme](x),
                _mean([updated for updated, _ in counted]),
                READ[scheme](x),
                _mean([read for _, read in counted]),
            )
            rows.append([scheme, str(blocks), str(len(counted)), *map(significant, cells)])
    return Table(
        ["algorithm", "triangles", "matrices", "b, formula", "b, counted", "x, formula", "x, counted"], rows
    )


def _preprocessing(solves: LowerSolves, value: str) -> Table:
    known = {policy: _rows(solves, value, policy) for policy in solves.policies}
    common = set.intersection(*(set(rows) for rows in known.values())) if known else set()
    table = []
    for policy, rows in known.items():
        analysis = _mean([rows[matrix].analysis_ms or 0 for matrix in common])
        solve = _mean([rows[matrix].ms or 0 for matrix in common])
        overall = [
            significant(analysis + count * solve) if analysis is not None and solve is not None else NONE
            for count in (100, 500, 1000)
        ]
        in_solves = [row.analysis_ms / row.ms for row in rows.values() if row.analysis_ms and row.ms]
        table.append(
            [
                policy,
                str(len(common)),
                significant(analysis),
                significant(solve),
                *overall,
                significant(geometric_mean(in_solves)),
            ]
        )
    overall_names = [f"with {count} solves" for count in (100, 500, 1000)]
    return Table(["policy", "matrices", "analysis", "solve", *overall_names, "analysis in solves"], table)


def _precision_ratios(solves: LowerSolves) -> Table:
    table = []
    for policy in solves.policies:
        single, double = (_rows(solves, value, policy) for value in ("f32", "f64"))
        ratios = [
            row.ms / double[matrix].ms
            for matrix, row in single.items()
            if matrix in double and row.ms and double[matrix].ms
        ]
        quartiles = [quantile(ratios, share) for share in (0, 0.25, 0.5, 0.75, 1)]
        table.append([policy, str(len(ratios)), *map(significant, quartiles)])
    names = ("least", "first quartile", "median", "third quartile", "most")
    return Table(["policy", "matrices", *names], table)
