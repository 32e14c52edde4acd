#!/usr/bin/env python3
"""Thresholds of block_tuning, by which the block policies choose kernels, from `sptrsv_block_kernels --csv`.

Each part of a cut triangle was measured with every kernel that can take it. Of all combinations of round
thresholds this takes the one with which the geometric mean of the chosen kernel's time over the best one's is
least, and says what the paper's decision tree (Lu, Niu, Liu 2020, Algorithm 7) would lose. Prints the
constants as they stand in include/sptrsv/detail/block/tuning.hpp and which kernel is fastest where, like the
heat maps of the paper's Figure 5.
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

COLUMNS = "matrix,depth,part,shape,rows,rows_with_entries,entries,levels,kernel,microseconds".split(",")
SQUARES = ("scalar_csr", "vector_csr", "scalar_dcsr", "vector_dcsr")
TRIANGLES = ("level_set", "sync_free", "serial")


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
            key = tuple(row[name] for name in ("matrix", "depth", "part"))
            numbers = [int(row[name]) for name in ("rows", "rows_with_entries", "entries", "levels")]
            part = parts.setdefault(key, Part(row["shape"] == "triangle", *numbers, {}))
            part.times[row["kernel"]] = float(row["microseconds"])
    return list(parts.values())


@dataclasses.dataclass(frozen=True)
class SquareTree:
    scalar_entries: float = 8
    scalar_empty_ratio: float = 0.5
    vector_empty_ratio: float = 0.15

    def choose(self, part: Part) -> str:
        is_scalar = part.entries <= self.scalar_entries * part.rows_with_entries
        empty = (part.rows - part.rows_with_entries) / part.rows
        if is_scalar:
            return "scalar_dcsr" if empty > self.scalar_empty_ratio else "scalar_csr"
        return "vector_dcsr" if empty > self.vector_empty_ratio else "vector_csr"


@dataclasses.dataclass(frozen=True)
class TriangleTree:
    level_set_levels: int = 6
    level_set_rows: int = 20000
    serial_levels: int = 20000
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
    empty = (part.rows - part.rows_with_entries) / part.rows
    return SQUARES[(0 if is_scalar else 1) + (2 if empty > (0.5 if is_scalar else 0.15) else 0)]


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


def fit_squares(parts: Sequence[Part]) -> SquareTree:
    ratios = (0.0, 0.05, 0.15, 0.25, 0.5, 0.75, 0.9, 0.97)
    candidates = itertools.product((0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64), ratios, ratios)
    trees = [SquareTree(), *(SquareTree(*values) for values in candidates)]
    return min(trees, key=lambda tree: loss(parts, tree.choose))


def fit_triangles(parts: Sequence[Part]) -> TriangleTree:
    wide = itertools.product((1, 2, 3, 4, 6, 8, 12, 20, 30, 50, 100), (0, 300, 1000, 3000, 10000, 30000))
    narrow = itertools.product((2, 100, 300, 1000, 3000, 10000, 20000), (0, 1, 2, 4, 8, 16, 32, 64, 128))
    trees = [TriangleTree(*a, *b) for a, b in itertools.product(wide, narrow)]
    return min([TriangleTree(), *trees], key=lambda tree: loss(parts, tree.choose))


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
    square, triangle = fit_squares(squares), fit_triangles(triangles)
    for name, chosen, tree, paper in (
        ("triangles", triangles, triangle, paper_triangle),
        ("squares", squares, square, paper_square),
    ):
        lines.append(f"// {len(chosen)} {name}: {loss(chosen, tree.choose):.3f} times the best; ")
        lines[-1] += f"by the paper's tree {loss(chosen, paper):.3f} times"
        for field in dataclasses.fields(tree):
            kind = "double" if field.type == "float" else "int"
            lines.append(f"static constexpr {kind} {field.name} = {getattr(tree, field.name):g};")
    lines += ["", "triangles by levels and entries per row, the diagonal included"]
    lines += best_where(
        triangles,
        ("nnz/row", lambda part: power_below(part.entries / part.rows + 1)),
        ("levels", lambda part: power_below(part.levels)),
    )
    lines += ["", "squares by per cent of empty rows and entries per row that has any"]
    lines += best_where(
        squares,
        ("nnz/row", lambda part: power_below(part.entries / part.rows_with_entries)),
        ("empty %", lambda part: 10 * (10 * (part.rows - part.rows_with_entries) // part.rows)),
    )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=pathlib.Path, metavar="PARTS.csv")
    options = parser.parse_args(arguments)
    try:
        parts = load(options.table)
    except (TableError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(report(parts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
