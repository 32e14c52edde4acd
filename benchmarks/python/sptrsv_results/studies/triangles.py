"""The tables of two studies of papers, from the rows of sptrsv_bench.

Li and Zhang, Efficient Parallel Implementations of Sparse Triangular Solves for GPU Architectures, 2020: a lower
solve followed by an upper solve of the same matrix, on grids and other matrices.

Liu et al., A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves, Euro-Par 2016: preprocessing and
solve of one lower triangle.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence

from sptrsv_results.format import FormatError, Results, Row, geometric_mean
from sptrsv_results.page import Section, Table
from sptrsv_results.tables import NONE, not_solved, significant, times

PRECISIONS = {"f32": "single precision", "f64": "double precision"}
# The order of the papers; other policies come after these, the baseline comes last.
FIRST = (
    "level_set_separate",
    "level_set_columns_separate",
    "self_scheduled_rows",
    "self_scheduled",
    "level_set",
    "level_set_columns",
)
COLUMN_FORMS = "sync_free_column"  # the names of the forms of Liu et al. begin with it
STENCILS = {5: "2-D, 5-point", 9: "2-D, 9-point", 7: "3-D, 7-point", 27: "3-D, 27-point"}
GRID = re.compile(r"laplace(\d+)_(\d+)x(\d+)(?:x(\d+))?")


@dataclasses.dataclass(frozen=True)
class Grid:
    stencil: int
    size: str
    aspect_ratio: float  # last dimension over first dimension: rho of Table 5.1

    @staticmethod
    def of(matrix: str) -> Grid | None:
        """Returns the grid that the name of a generated Laplacian tells; None for other matrices."""
        match = GRID.fullmatch(matrix)
        if not match or int(match[1]) not in STENCILS:
            return None
        sides = [int(side) for side in match.groups()[1:] if side]
        return Grid(int(match[1]), " x ".join(map(str, sides)), sides[-1] / sides[0])


@dataclasses.dataclass(frozen=True)
class Pair:
    """The two correct solves of one policy with one matrix."""

    lower: Row
    upper: Row

    @property
    def ms(self) -> float:
        return (self.lower.ms or 0) + (self.upper.ms or 0)

    @property
    def setup_ms(self) -> float:
        return (self.lower.analysis_ms or 0) + (self.upper.analysis_ms or 0)

    @property
    def gflops(self) -> float:
        """2 nnz / t, with the entries of the whole matrix, whose diagonal is in both triangles (5.3 of the paper)."""
        return 2 * (self.lower.nnz + self.upper.nnz - self.lower.n) / self.ms / 1e6


def policies_in_order(results: Results) -> list[str]:
    def place(policy: str) -> tuple[bool, int, str]:
        return policy in results.baselines, FIRST.index(policy) if policy in FIRST else len(FIRST), policy

    return sorted(results.policies, key=place)


class Pairs:
    """The pairs of solves of a file of results."""

    def __init__(self, results: Results):
        self.results = results
        self.policies = policies_in_order(results)
        self._pairs: dict[tuple[str, str, str], Pair] = {}
        rows = {
            (row.matrix, row.value, row.policy, row.part): row
            for row in results.rows
            if row.ms and (row.index, row.operation, row.rhs) == ("i32", "none", 1)
        }
        for (matrix, value, policy, part), lower in rows.items():
            upper = rows.get((matrix, value, policy, "upper"))
            if part == "lower" and upper:
                self._pairs[matrix, value, policy] = Pair(lower, upper)
        if not self._pairs:
            raise FormatError("no policy has solved both triangles of a matrix: run sptrsv_bench --study li_zhang")

    @functools.cached_property
    def matrices(self) -> list[str]:
        """Grids by their aspect ratio, then the other matrices by their name."""

        def place(matrix: str) -> tuple[bool, float, str]:
            grid = Grid.of(matrix)
            return not grid, grid.aspect_ratio if grid else 0, matrix

        return sorted({matrix for matrix, *_ in self._pairs}, key=place)

    @property
    def values(self) -> list[str]:
        known = {value for _, value, _ in self._pairs}
        return [value for value in PRECISIONS if value in known]

    def of_stencil(self, stencil: int | None) -> list[str]:
        """Returns the matrices of that stencil; None: the matrices that are not grids."""
        grids = {matrix: Grid.of(matrix) for matrix in self.matrices}
        return [name for name, grid in grids.items() if (grid.stencil if grid else None) == stencil]

    def get(self, matrix: str, value: str, policy: str) -> Pair | None:
        return self._pairs.get((matrix, value, policy))

    def baseline(self, pair: Pair) -> Pair | None:
        return self.get(pair.lower.matrix, pair.lower.value, pair.lower.baseline)

    def any_of(self, matrix: str, value: str) -> Pair | None:
        known = (self.get(matrix, value, policy) for policy in self.policies)
        return next((pair for pair in known if pair), None)


def li_zhang(results: Results) -> list[Section]:
    pairs = Pairs(results)
    made = [
        Section(
            "Speed-up over the baseline",
            "Geometric means of the baseline's time over the policy's time, each of a lower and an upper solve "
            "together. LEVR and LEVC of the paper are `level_set_separate` and `level_set_columns_separate`; SLFR and "
            "SLFC are `self_scheduled_rows` and `self_scheduled`.",
            _speedups(pairs),
        )
    ]
    for stencil, name in [*STENCILS.items(), (None, "general matrices")]:
        matrices = pairs.of_stencil(stencil)
        if not matrices:
            continue
        figure = "5.3" if stencil is None else "5.1" if stencil in (5, 9) else "5.2"
        setup = "Table 5.5" if stencil is None else "Tables 5.3 and 5.4"
        for value in pairs.values:
            made.append(
                Section(
                    f"GFLOPS, {name}, {PRECISIONS[value]} (Figure {figure})",
                    "GFLOPS are 2 nnz / t, with the entries of the whole matrix and the time of both solves.",
                    _by_matrix(pairs, matrices, value, lambda pair: significant(pair.gflops)),
                )
            )
        value = pairs.values[-1]
        made.append(
            Section(
                f"Set-up, {name}, {PRECISIONS[value]} ({setup})",
                "Milliseconds of both analyses; in parentheses, this time over the time of a pair of solves.",
                _by_matrix(
                    pairs,
                    matrices,
                    value,
                    lambda pair: f"{significant(pair.setup_ms)} ({significant(pair.setup_ms / pair.ms)})",
                ),
            )
        )
        made.append(
            Section(
                f"Break-even, {name}, {PRECISIONS[value]} (Table 5.6)",
                "The smallest number of pairs of solves from which on set-up and solves together take less time than "
                "the baseline's. `until n`: the set-up takes less time and the solves take more, so that both together "
                "take less time for at most n pairs.",
                _by_matrix(pairs, matrices, value, functools.partial(_break_even, pairs)),
            )
        )
    return [*made, *not_solved_section(results, pairs.policies)]


def not_solved_section(results: Results, policies: Sequence[str]) -> list[Section]:
    table = not_solved(results, policies)
    return [Section("Not solved", "The other tables do not contain these.", table)] if table.rows else []


def _speedups(pairs: Pairs) -> Table:
    groups = [(stencil, value) for stencil in (*STENCILS, None) for value in pairs.values if pairs.of_stencil(stencil)]
    rows = []
    for policy in pairs.policies:
        if policy in pairs.results.baselines:
            continue
        cells = []
        for stencil, value in groups:
            known = (pairs.get(matrix, value, policy) for matrix in pairs.of_stencil(stencil))
            both = ((pair, pairs.baseline(pair)) for pair in known if pair)
            cells.append(times(geometric_mean(base.ms / pair.ms for pair, base in both if base)))
        rows.append([policy, *cells])
    header = [f"{STENCILS[stencil] if stencil else 'general'}, {value}" for stencil, value in groups]
    return Table(["policy", *header], rows)


def _by_matrix(pairs: Pairs, matrices: Iterable[str], value: str, cell: Callable[[Pair], str]) -> Table:
    rows = []
    for matrix in matrices:
        grid, one = Grid.of(matrix), pairs.any_of(matrix, value)
        if not one:
            continue
        name = [grid.size, f"{grid.aspect_ratio:g}"] if grid else [matrix, NONE]
        known = (pairs.get(matrix, value, policy) for policy in pairs.policies)
        levels = f"{one.lower.levels:,} / {one.upper.levels:,}"
        rows.append([*name, levels, *(cell(pair) if pair else NONE for pair in known)])
    return Table(["matrix", "aspect ratio", "levels", *pairs.policies], rows)


def _break_even(pairs: Pairs, pair: Pair) -> str:
    other = pairs.baseline(pair)
    if pair.lower.is_baseline or not other:
        return NONE
    return break_even(pair.setup_ms, pair.ms, other.setup_ms, other.ms)


def break_even(setup: float, solve: float, other_setup: float, other_solve: float) -> str:
    """Returns the number of solves from which on set-up and solves take less time than the other's."""
    extra, gain = setup - other_setup, other_solve - solve
    if gain > 0:
        return "0" if extra < 0 else f"{math.floor(extra / gain) + 1:,}"
    if extra < 0:
        return f"until {math.ceil(extra / gain) - 1:,}" if gain < 0 else "0"
    return "never"


def gflops(row: Row) -> float | None:
    """Returns 2 nnz / t of one triangle."""
    return 2 * row.nnz / row.ms / 1e6 if row.ms else None


def harmonic_mean(values: Iterable[float]) -> float | None:
    """Returns None without values, or if one is not positive."""
    known = list(values)
    return len(known) / sum(1 / value for value in known) if known and min(known) > 0 else None


class LowerSolves:
    """The lower triangles of a file of results."""

    def __init__(self, results: Results, forms: str = COLUMN_FORMS, study: str = "liu"):
        """`forms`: how the names of the policies of the study begin."""
        self.results = results
        self.policies = policies_in_order(results)
        usual = ("i32", "lower", "none", 1)
        self._rows = {
            (row.matrix, row.value, row.policy): row
            for row in results.rows
            if (row.index, row.part, row.operation, row.rhs) == usual and row.value in PRECISIONS
        }
        if not any(row.ms and row.policy.startswith(forms) for row in self._rows.values()):
            raise FormatError(f"no policy {forms}* has solved a lower triangle: run sptrsv_bench --study {study}")
        levels = {matrix: row.levels for (matrix, *_), row in self._rows.items()}
        self.matrices = sorted(levels, key=lambda matrix: (levels[matrix], matrix))
        known = {value for _, value, _ in self._rows}
        self.values = [value for value in PRECISIONS if value in known]

    def get(self, matrix: str, value: str, policy: str) -> Row | None:
        row = self._rows.get((matrix, value, policy))
        return row if row and row.ms else None

    def any_of(self, matrix: str, value: str) -> Row | None:
        known = (self._rows.get((matrix, value, policy)) for policy in self.policies)
        return next((row for row in known if row), None)


def liu(results: Results) -> list[Section]:
    solves = LowerSolves(results)
    made = [
        Section(
            "Speed-up of sync_free_column",
            "Time of the policy in column `over` over the time of the form. The matrix is stored by columns for "
            "policies that work on columns, and by rows for the others.",
            lower_speedups(solves, [name for name in solves.policies if name.startswith(COLUMN_FORMS)]),
        )
    ]
    for value in solves.values:
        made.append(
            Section(
                f"GFLOPS, {PRECISIONS[value]} (Figure 4)",
                "GFLOPS are 2 nnz / t.",
                by_lower_matrix(solves, value, gflops, None),
            )
        )
    for value in solves.values:
        made.append(
            Section(
                f"Preprocessing, {PRECISIONS[value]} (Table 4)",
                "Milliseconds of the analysis.",
                by_lower_matrix(solves, value, lambda row: row.analysis_ms, ("harmonic mean", harmonic_mean)),
            )
        )
        made.append(
            Section(
                f"Solve times, {PRECISIONS[value]}",
                "Milliseconds.",
                by_lower_matrix(solves, value, lambda row: row.ms, ("geometric mean", geometric_mean)),
            )
        )
    return [*made, *not_solved_section(results, solves.policies)]


def by_lower_matrix(
    solves: LowerSolves,
    value: str,
    number: Callable[[Row], float | None],
    mean: tuple[str, Callable[[Iterable[float]], float | None]] | None,
) -> Table:
    rows = []
    columns: dict[str, list[float]] = {policy: [] for policy in solves.policies}
    for matrix in solves.matrices:
        one = solves.any_of(matrix, value)
        if not one:
            continue
        cells = []
        for policy in solves.policies:
            row = solves.get(matrix, value, policy)
            shown = number(row) if row else None
            columns[policy] += [] if shown is None else [shown]
            cells.append(significant(shown))
        structure = [f"{one.n:,}", f"{one.nnz:,}", f"{one.levels:,}", significant(one.rows_per_level)]
        rows.append([matrix, *structure, *cells])
    if mean:
        name, of = mean
        rows.append([name, *[NONE] * 4, *(significant(of(known)) for known in columns.values())])
    return Table(["matrix", "rows", "nnz", "level sets", "parallelism", *solves.policies], rows)


def lower_speedups(solves: LowerSolves, own: Sequence[str]) -> Table:
    """Returns the speed-ups of the policies `own` over each policy that is not among them."""
    rows = []
    for value in solves.values:
        for policy in own:
            for other in (name for name in solves.policies if name not in own):
                known = [
                    (solves.get(matrix, value, policy), solves.get(matrix, value, other)) for matrix in solves.matrices
                ]
                both = [(row, theirs) for row, theirs in known if row and theirs]
                solve = [theirs.ms / row.ms for row, theirs in both if row.ms and theirs.ms]
                setup = [
                    theirs.analysis_ms / row.analysis_ms
                    for row, theirs in both
                    if row.analysis_ms and theirs.analysis_ms
                ]
                rows.append([PRECISIONS[value], policy, other, str(len(both)), *_means(solve), *_means(setup)])
    means = [f"{what}, {kind}" for what in ("solve", "preprocessing") for kind in ("average", "geometric mean", "most")]
    return Table(["precision", "form", "over", "matrices", *means], rows, names=3)


def _means(ratios: Sequence[float]) -> list[str]:
    average = sum(ratios) / len(ratios) if ratios else None
    return [times(average), times(geometric_mean(ratios)), times(max(ratios, default=None))]
