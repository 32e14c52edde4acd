"""The tables of the study of the block algorithms, from the rows of sptrsv_bench.

Lu, Niu, Liu, Efficient Block Algorithms for Parallel Sparse Triangular Solve, ICPP 2020. One lower triangle is cut
into 4, 16 and 64 triangles by columns, by rows and recursively, and into the number that each policy chooses.
"""

from __future__ import annotations

import csv
import dataclasses
import math
import pathlib
import re
from collections.abc import Callable, Sequence

from sptrsv_results.format import FormatError, Results, Row, geometric_mean, quantile
from sptrsv_results.page import Section, Table
from sptrsv_results.studies.triangles import (
    PRECISIONS,
    LowerSolves,
    by_lower_matrix,
    gflops,
    lower_speedups,
    not_solved_section,
)
from sptrsv_results.tables import NONE, significant, times

OWN = "recursive_block"
SCHEMES = ("column_block", "row_block", "recursive_block")
TRAFFIC = re.compile(r"([\d.]+) n sums updated, ([\d.]+) n of x read")
# The formulas of Tables 1 and 2 for 2^x triangles, in multiples of n.
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


@dataclasses.dataclass(frozen=True)
class PublishedTimes:
    """Times of the code that the paper's authors published, in milliseconds; None where not known."""

    matrix: str
    solve: float | None
    preprocessing: float | None


def load_published(path: pathlib.Path) -> list[PublishedTimes]:
    """Reads a table with the columns matrix, solve_ms and preprocessing_ms; an empty cell is not known."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != ["matrix", "solve_ms", "preprocessing_ms"]:
            raise FormatError(f"{path}: the columns are not matrix, solve_ms, preprocessing_ms")
        try:
            return [
                PublishedTimes(
                    row["matrix"],
                    *(None if row[name] == "" else float(row[name]) for name in reader.fieldnames[1:]),
                )
                for row in reader
            ]
        except (TypeError, ValueError) as error:
            raise FormatError(f"{path}: {error}") from error


def against_published(results: Results, published: Sequence[PublishedTimes]) -> Section:
    """Compares double precision with the published times; also lists matrices that we did not solve."""
    solves = LowerSolves(results, OWN, "lu_niu_liu")
    rows = []
    ratios: tuple[list[float], list[float]] = ([], [])
    for one in published:
        row = solves.get(one.matrix, "f64", OWN)
        cells = [one.matrix]
        own = (row.ms, row.analysis_ms) if row else (None, None)
        for mine, theirs, known in zip(own, (one.solve, one.preprocessing), ratios, strict=True):
            ratio = theirs / mine if theirs and mine else None
            known += [ratio] if ratio else []
            cells += [significant(mine), significant(theirs), times(ratio)]
        cells.append(significant(own[1] / own[0]) if own[0] and own[1] else NONE)
        rows.append(cells)
    solve, preprocessing = (times(geometric_mean(known)) for known in ratios)
    rows.append(["geometric mean", "", "", solve, "", "", preprocessing, ""])
    return Section(
        "Against the published code",
        f"Milliseconds in double precision: {OWN}, and the code that was published with the paper, on the same model "
        "of GPU. A ratio is the published code's time over ours.",
        Table(["matrix", "solve", "published", "ratio", "analysis", "published", "ratio", "in own solves"], rows),
    )


def traffic(row: Row) -> tuple[float, float] | None:
    """Returns the sums updated and the components of x read, in multiples of n, as the solver counts them."""
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
            "Time of the policy in column `over` over the time of the form.",
            lower_speedups(solves, [name for name in solves.policies if name.startswith(OWN)]),
        ),
        Section(
            "Traffic (Tables 1 and 2)",
            "Components of b updated and components of x read in a solve, in multiples of n: by the formulas for dense "
            "blocks, and as counted by the solver, which skips the rows of squares without entries. The counts are "
            "means over the matrices.",
            _traffic(solves),
        ),
    ]
    for value in solves.values:
        name = PRECISIONS[value]
        made += [
            Section(
                f"GFLOPS, {name} (Table 4)",
                "GFLOPS are 2 nnz / t.",
                by_lower_matrix(solves, value, gflops, None),
            ),
            Section(
                f"Solve times, {name} (Figure 4)",
                "Milliseconds.",
                by_lower_matrix(solves, value, lambda row: row.ms, ("geometric mean", geometric_mean)),
            ),
            Section(
                f"Preprocessing, {name} (Table 5)",
                "Average milliseconds of the analysis, of a solve, and of an analysis with 100, 500 and 1000 solves, "
                "over the matrices that all policies solve. `analysis in solves`: geometric mean over all matrices of "
                "the policy.",
                _preprocessing(solves, value),
            ),
        ]
    if len(solves.values) == len(PRECISIONS):
        made.append(
            Section(
                "Performance in double over single precision (Figure 7)",
                "Time in single precision over time in double precision.",
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
    return Table(["algorithm", "triangles", "matrices", "b, formula", "b, counted", "x, formula", "x, counted"], rows)


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
