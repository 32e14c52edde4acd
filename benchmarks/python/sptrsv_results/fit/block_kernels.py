"""Fits thresholds by which the block policies could choose kernels.

The input is the file of `sptrsv_block_kernels --csv`: each block of a cut triangle, measured with every kernel that
can solve or multiply it. A threshold tree chooses a kernel for each block; its loss is the geometric mean of the time
of the chosen kernel over that of the fastest kernel. The command tries all combinations of round thresholds and takes
the one with the least loss. It prints

  - the thresholds: those of squares have the names of block_tuning (include/sptrsv/policy/block_tuning.hpp), and for
    triangles the library has none, as it takes the kernel level_set for one level and sync_free for more,
  - their loss, their loss on systems that were held out of the fit (each system in turn), the loss of the library's
    present choice and of the paper's decision tree (Lu, Niu, Liu 2020, Algorithm 7); with --cross-validate, also the
    loss of each block with the tree that was fitted on the other half of the systems, its mean and the worst,
  - which kernel is the fastest by two properties of a block, like the heat maps of the paper's Figure 5, which
    --figure draws.
"""

from __future__ import annotations

import collections
import csv
import dataclasses
import itertools
import math
import pathlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sptrsv_results.cli import new_parser
from sptrsv_results.fit.halves import held_out, summary

KEY_COLUMNS = ("matrix", "depth", "part")
COUNT_COLUMNS = ("rows", "rows_with_entries", "entries", "levels")
COLUMNS = [*KEY_COLUMNS, "shape", *COUNT_COLUMNS, "kernel", "microseconds"]
SQUARES = ("scalar_csr", "vector_csr", "scalar_dcsr", "vector_dcsr")
TRIANGLES = ("level_set", "sync_free", "serial")
VENDOR = "cusparse_spmv"  # measured for comparison; the policies cannot choose it


class TableError(Exception):
    """The file was not written by sptrsv_block_kernels --csv."""


@dataclasses.dataclass
class Block:
    """A triangle or a square of a cut triangle, with its measurements."""

    is_triangle: bool
    rows: int
    rows_with_entries: int
    entries: int
    levels: int
    times: dict[str, float]  # microseconds, by kernel
    matrix: str = ""

    @property
    def entries_per_row(self) -> float:
        """Entries per row that has any; those of a triangle include the diagonal."""
        return self.entries / self.rows + 1 if self.is_triangle else self.entries / self.rows_with_entries

    @property
    def empty(self) -> float:
        """The share of the rows that have no entries."""
        return (self.rows - self.rows_with_entries) / self.rows

    @property
    def best(self) -> str:
        return min(self.times, key=lambda kernel: self.times[kernel])

    def loss(self, kernel: str) -> float:
        """Returns the logarithm of the kernel's time over the best time.

        A kernel that was too slow to measure counts as 10 times the best time.
        """
        return math.log(self.times[kernel] / self.times[self.best]) if kernel in self.times else math.log(10)


def load(path: pathlib.Path) -> list[Block]:
    blocks: dict[tuple[str, ...], Block] = {}
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise TableError(f"{path}: not written by sptrsv_block_kernels --csv")
        for row in reader:
            if row["kernel"] == VENDOR:
                continue
            key = tuple(row[name] for name in KEY_COLUMNS)
            numbers = [int(row[name]) for name in COUNT_COLUMNS]
            block = blocks.setdefault(key, Block(row["shape"] == "triangle", *numbers, {}, row["matrix"]))
            block.times[row["kernel"]] = float(row["microseconds"])
    return list(blocks.values())


@dataclasses.dataclass(frozen=True)
class SquareTree:
    scalar_entries: float = 12
    scalar_empty_ratio: float = 0.5
    vector_empty_ratio: float = 0.15

    def choose(self, block: Block) -> str:
        if block.entries <= self.scalar_entries * block.rows:
            return "scalar_dcsr" if block.empty > self.scalar_empty_ratio else "scalar_csr"
        return "vector_dcsr" if block.empty > self.vector_empty_ratio else "vector_csr"


@dataclasses.dataclass(frozen=True)
class TriangleTree:
    level_set_levels: int = 1
    level_set_rows: int = 0
    serial_levels: int = 2
    serial_rows: float = 0

    def choose(self, block: Block) -> str:
        width = block.rows / block.levels
        if block.levels == 1 or (block.levels <= self.level_set_levels and width >= self.level_set_rows):
            return "level_set"
        return "serial" if block.levels >= self.serial_levels and width <= self.serial_rows else "sync_free"


def paper_square(block: Block) -> str:
    is_scalar = block.entries <= 12 * block.rows
    return SQUARES[(0 if is_scalar else 1) + (2 if block.empty > (0.5 if is_scalar else 0.15) else 0)]


def paper_triangle(block: Block) -> str:
    length = block.entries // block.rows + 1
    if block.levels > 20000:
        return "serial"
    short = (length == 1 and block.levels <= 100) or (length <= 15 and block.levels <= 20)
    return "level_set" if block.levels == 1 or short else "sync_free"


def loss(blocks: Iterable[Block], choose: Callable[[Block], str]) -> float:
    """Returns the geometric mean of the time of the chosen kernel over that of the fastest kernel."""
    logs = [block.loss(choose(block)) for block in blocks]
    return math.exp(math.fsum(logs) / len(logs)) if logs else 1.0


Tree = TypeVar("Tree", SquareTree, TriangleTree)


def fit(blocks: Sequence[Block], trees: Sequence[Tree]) -> tuple[Tree, float | None]:
    """Returns the tree with the least loss, and the loss on held-out matrices.

    For the second, the blocks of each matrix use the tree that was fitted to the blocks of the other matrices; it is
    None for a single matrix.
    """
    logs: list[dict[str, float]] = []
    for tree in trees:
        of_matrix: dict[str, float] = collections.defaultdict(float)
        for block in blocks:
            of_matrix[block.matrix] += block.loss(tree.choose(block))
        logs.append(of_matrix)
    totals = [sum(of_matrix.values()) for of_matrix in logs]
    matrices = {block.matrix for block in blocks}
    held_out = 0.0
    for matrix in matrices:
        chosen = min(range(len(trees)), key=lambda i: totals[i] - logs[i][matrix])
        held_out += logs[chosen][matrix]
    best = min(range(len(trees)), key=totals.__getitem__)
    return trees[best], math.exp(held_out / len(blocks)) if len(matrices) > 1 else None


def losses_on_other_half(blocks: Sequence[Block], trees: Sequence[Tree]) -> list[tuple[str, float]]:
    """Returns the loss of each block, with its matrix, by the tree with the least loss on the other half."""
    pairs = held_out(blocks, lambda block: block.matrix, lambda known: fit(known, trees)[0])
    return [(block.matrix, math.exp(block.loss(tree.choose(block)))) for block, tree in pairs]


def square_trees() -> list[SquareTree]:
    ratios = (0.0, 0.05, 0.15, 0.25, 0.5, 0.75, 0.9, 0.97)
    candidates = itertools.product((0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64), ratios, ratios)
    return [SquareTree(), *(SquareTree(*values) for values in candidates)]


def triangle_trees() -> list[TriangleTree]:
    wide = itertools.product((1, 2, 3, 4, 6, 8, 12, 20, 30, 50, 100), (0, 300, 1000, 3000, 10000, 30000))
    narrow = itertools.product((2, 100, 300, 1000, 3000, 10000, 20000), (0, 1, 2, 4, 8, 16, 32, 64, 128))
    return [TriangleTree(), *(TriangleTree(*a, *b) for a, b in itertools.product(wide, narrow))]


def best_where(
    blocks: Sequence[Block], across: tuple[str, Callable[[Block], int]], down: tuple[str, Callable[[Block], int]]
) -> list[str]:
    """Returns the lines of a table: how often each kernel is the fastest, by two properties of a block."""
    cells: dict[tuple[int, int], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for block in blocks:
        cells[down[1](block), across[1](block)][block.best] += 1
    lines = [f"{down[0]:>14} {across[0]:>10}  fastest"]
    for y, x in sorted(cells):
        counts = ", ".join(f"{kernel} {count}" for kernel, count in cells[y, x].most_common())
        lines.append(f"{y:>14} {x:>10}  {counts}")
    return lines


def power_below(value: float) -> int:
    return 2 ** math.floor(math.log2(value)) if value >= 1 else 0


def report(blocks: Sequence[Block], cross_validate: bool = False) -> list[str]:
    squares = [block for block in blocks if not block.is_triangle]
    triangles = [block for block in blocks if block.is_triangle and block.levels > 1]
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
        if cross_validate:
            lines.append(f"// on the other half of the systems: {summary(losses_on_other_half(chosen, trees))}")
        for field in dataclasses.fields(tree):
            kind = "double" if field.type == "float" else "int"
            lines.append(f"static constexpr {kind} {field.name} = {getattr(tree, field.name):g};")
    lines += ["", "triangles by levels and entries per row (with the diagonal)"]
    lines += best_where(
        triangles,
        ("nnz/row", lambda block: power_below(block.entries_per_row)),
        ("levels", lambda block: power_below(block.levels)),
    )
    lines += ["", "squares by the percentage of empty rows and entries per row that has any"]
    lines += best_where(
        squares,
        ("nnz/row", lambda block: power_below(block.entries_per_row)),
        ("empty %", lambda block: 10 * (10 * (block.rows - block.rows_with_entries) // block.rows)),
    )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("fit-block-kernels", __doc__)
    parser.add_argument("table", type=pathlib.Path, metavar="PARTS.csv", help="written by sptrsv_block_kernels --csv")
    parser.add_argument(
        "--figure",
        type=pathlib.Path,
        metavar="FILE.svg",
        help="draw the fastest kernels into this file; needs matplotlib",
    )
    parser.add_argument(
        "--cross-validate", action="store_true", help="fit on one half of the systems, judge on the other half, too"
    )
    parser.add_argument("--caption", default="", help="text below the figure, for example where the times come from")
    options = parser.parse_args(arguments)
    try:
        blocks = load(options.table)
    except (TableError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(report(blocks, options.cross_validate)))
    if options.figure:
        from sptrsv_results.fit.block_figure import draw_fastest  # needs matplotlib

        draw_fastest(blocks, options.caption, options.figure)
    return 0
