#!/usr/bin/env python3
"""Thresholds of block_tuning, by which the block policies choose kernels, from `sptrsv_block_kernels --csv`.

Each part of a cut triangle was measured with every kernel that can take it. Of all combinations of round
thresholds this takes the one with which the geometric mean of the chosen kernel's time over the best one's is
least, and says what it loses on systems that it was not fitted to (each left out in turn), and what the present
constants and the paper's decision tree (Lu, Niu, Liu 2020, Algorithm 7) lose. Prints the constants as they
stand in include/sptrsv/detail/block/tuning.hpp and which kernel is fastest where, like the heat maps of the
paper's Figure 5; --figure draws them.
"""

from __future__ import annotations

import argparse
import collections
import csv
import dataclasses
import itertools
import math
import pathlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

COLUMNS = "matrix,depth,part,shape,rows,rows_with_entries,entries,levels,kernel,microseconds".split(",")
SQUARES = ("scalar_csr", "vector_csr", "scalar_dcsr", "vector_dcsr")
TRIANGLES = ("level_set", "sync_free", "serial")
VENDOR = "cusparse_spmv"  # is measured, but cannot be chosen


class TableError(Exception):
    """The file is not what the program writes."""


@dataclasses.dataclass
class Part:
    is_triangle: bool
    rows: int
    rows_with_entries: int
    entries: int
    levels: int
    times: dict[str, float]  # microseconds by kernel
    matrix: str = ""

    @property
    def entries_per_row(self) -> float:
        """Of the rows that have any; of a triangle with its diagonal."""
        return self.entries / self.rows + 1 if self.is_triangle else self.entries / self.rows_with_entries

    @property
    def empty(self) -> float:
        """Rows without entries in all rows."""
        return (self.rows - self.rows_with_entries) / self.rows

    @property
    def best(self) -> str:
        return min(self.times, key=lambda kernel: self.times[kernel])

    def loss(self, kernel: str) -> float:
        """Logarithm of the time over the best; a kernel that was too slow to be measured loses a factor of 10."""
        return math.log(self.times[kernel] / self.times[self.best]) if kernel in self.times else math.log(10)


def load(path: pathlib.Path) -> list[Part]:
    parts: dict[tuple[str, ...], Part] = {}
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise TableError(f"{path}: not written by sptrsv_block_kernels --csv")
        for row in reader:
            if row["kernel"] == VENDOR:
                continue
            key = tuple(row[name] for name in ("matrix", "depth", "part"))
            numbers = [int(row[name]) for name in ("rows", "rows_with_entries", "entries", "levels")]
            part = parts.setdefault(key, Part(row["shape"] == "triangle", *numbers, {}, row["matrix"]))
            part.times[row["kernel"]] = float(row["microseconds"])
    return list(parts.values())


@dataclasses.dataclass(frozen=True)
class SquareTree:
    scalar_entries: float = 12
    scalar_empty_ratio: float = 0.5
    vector_empty_ratio: float = 0.15

    def choose(self, part: Part) -> str:
        if part.entries <= self.scalar_entries * part.rows:
            return "scalar_dcsr" if part.empty > self.scalar_empty_ratio else "scalar_csr"
        return "vector_dcsr" if part.empty > self.vector_empty_ratio else "vector_csr"


@dataclasses.dataclass(frozen=True)
class TriangleTree:
    level_set_levels: int = 1
    level_set_rows: int = 0
    serial_levels: int = 2
    serial_rows: float = 0

    def choose(self, part: Part) -> str:
        width = part.rows / part.levels
        if part.levels == 1 or (part.levels <= self.level_set_levels and width >= self.level_set_rows):
            return "level_set"
        return (
            "serial" if part.levels >= self.serial_levels and width <= self.serial_rows else "sync_free"
        )


def paper_square(part: Part) -> str:
    is_scalar = part.entries <= 12 * part.rows
    return SQUARES[(0 if is_scalar else 1) + (2 if part.empty > (0.5 if is_scalar else 0.15) else 0)]


def paper_triangle(part: Part) -> str:
    length = part.entries // part.rows + 1
    if part.levels > 20000:
        return "serial"
    short = (length == 1 and part.levels <= 100) or (length <= 15 and part.levels <= 20)
    return "level_set" if part.levels == 1 or short else "sync_free"


def loss(parts: Iterable[Part], choose: Callable[[Part], str]) -> float:
    """Geometric mean of the chosen kernel's time over the best one's."""
    logs = [part.loss(choose(part)) for part in parts]
    return math.exp(math.fsum(logs) / len(logs)) if logs else 1.0


Tree = TypeVar("Tree", SquareTree, TriangleTree)


def fit(parts: Sequence[Part], trees: Sequence[Tree]) -> tuple[Tree, float | None]:
    """The tree that loses least, and what trees lose on the parts of each matrix that are fitted to the others'."""
    logs: list[dict[str, float]] = []
    for tree in trees:
        of_matrix: dict[str, float] = collections.defaultdict(float)
        for part in parts:
            of_matrix[part.matrix] += part.loss(tree.choose(part))
        logs.append(of_matrix)
    totals = [sum(of_matrix.values()) for of_matrix in logs]
    matrices = {part.matrix for part in parts}
    held_out = 0.0
    for matrix in matrices:
        chosen = min(range(len(trees)), key=lambda i: totals[i] - logs[i][matrix])
        held_out += logs[chosen][matrix]
    best = min(range(len(trees)), key=totals.__getitem__)
    return trees[best], math.exp(held_out / len(parts)) if len(matrices) > 1 else None


def square_trees() -> list[SquareTree]:
    ratios = (0.0, 0.05, 0.15, 0.25, 0.5, 0.75, 0.9, 0.97)
    candidates = itertools.product((0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64), ratios, ratios)
    return [SquareTree(), *(SquareTree(*values) for values in candidates)]


def triangle_trees() -> list[TriangleTree]:
    wide = itertools.product((1, 2, 3, 4, 6, 8, 12, 20, 30, 50, 100), (0, 300, 1000, 3000, 10000, 30000))
    narrow = itertools.product((2, 100, 300, 1000, 3000, 10000, 20000), (0, 1, 2, 4, 8, 16, 32, 64, 128))
    return [TriangleTree(), *(TriangleTree(*a, *b) for a, b in itertools.product(wide, narrow))]


def best_where(
    parts: Sequence[Part], across: tuple[str, Callable[[Part], int]], down: tuple[str, Callable[[Part], int]]
) -> list[str]:
    """Which kernel is fastest how often, by two properties in powers of two."""
    cells: dict[tuple[int, int], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for part in parts:
        cells[down[1](part), across[1](part)][part.best] += 1
    lines = [f"{down[0]:>14} {across[0]:>10}  fastest"]
    for y, x in sorted(cells):
        counts = ", ".join(f"{kernel} {count}" for kernel, count in cells[y, x].most_common())
        lines.append(f"{y:>14} {x:>10}  {counts}")
    return lines


def power_below(value: float) -> int:
    return 2 ** math.floor(math.log2(value)) if value >= 1 else 0


def report(parts: Sequence[Part]) -> list[str]:
    squares = [part for part in parts if not part.is_triangle]
    triangles = [part for part in parts if part.is_triangle and part.levels > 1]
    lines: list[str] = []
    for name, chosen, trees, paper in (
        ("triangles", triangles, triangle_trees(), paper_triangle),
        ("squares", squares, square_trees(), paper_square),
    ):
        tree, held_out = fit(chosen, trees)
        lines.append(f"// {len(chosen)} {name}: {loss(chosen, tree.choose):.3f} times the best; ")
        lines[-1] += f"held out {held_out:.3f}; " if held_out is not None else ""
        lines[-1] += f"present constants {loss(chosen, trees[0].choose):.3f}; "
        lines[-1] += f"the paper's tree {loss(chosen, paper):.3f}"
        for field in dataclasses.fields(tree):
            kind = "double" if field.type == "float" else "int"
            lines.append(f"static constexpr {kind} {field.name} = {getattr(tree, field.name):g};")
    lines += ["", "triangles by levels and entries per row, the diagonal included"]
    lines += best_where(
        triangles,
        ("nnz/row", lambda part: power_below(part.entries_per_row)),
        ("levels", lambda part: power_below(part.levels)),
    )
    lines += ["", "squares by per cent of empty rows and entries per row that has any"]
    lines += best_where(
        squares,
        ("nnz/row", lambda part: power_below(part.entries_per_row)),
        ("empty %", lambda part: 10 * (10 * (part.rows - part.rows_with_entries) // part.rows)),
    )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=pathlib.Path, metavar="PARTS.csv")
    parser.add_argument("--figure", type=pathlib.Path, metavar="FILE.svg", help="needs matplotlib")
    parser.add_argument("--caption", default="", help="where the times come from, below the figure")
    options = parser.parse_args(arguments)
    try:
        parts = load(options.table)
    except (TableError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(report(parts)))
    if options.figure:
        from block_figures import draw_fastest

        draw_fastest(parts, options.caption, options.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
