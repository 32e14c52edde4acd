"""The fastest kernel by the properties of a block, like the heat maps of Lu, Niu and Liu 2020, Figure 5."""

from __future__ import annotations

import collections
import math
import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sptrsv_results.plot import LOOKS, Axis, Figure, KeyEntry

if TYPE_CHECKING:
    from sptrsv_results.fit.block_kernels import Block

# Name and abbreviation of each kernel; the abbreviation stands in the cells, so that they need no colours.
NAMES = {
    "level_set": ("level-set", "LS"),
    "sync_free": ("sync-free", "SF"),
    "serial": ("serial", "SE"),
    "scalar_csr": ("scalar-CSR", "SC"),
    "vector_csr": ("vector-CSR", "VC"),
    "scalar_dcsr": ("scalar-DCSR", "SD"),
    "vector_dcsr": ("vector-DCSR", "VD"),
}
LOOK_OF = dict(zip(NAMES, LOOKS, strict=True))
CELL_HEIGHT = 26.0

Cells = dict[tuple[int, int], list["Block"]]


def draw_fastest(blocks: Sequence[Block], caption: str, path: pathlib.Path) -> None:
    """Writes the SVG `path`.

    Its left panel has the triangles of several levels, by the length of their rows and by their levels; the right
    panel has the squares, by the length of their rows that have entries and by the share of their rows that have none.
    """
    triangles = _cells(
        [block for block in blocks if block.is_triangle and block.levels > 1],
        lambda block: math.floor(math.log2(block.levels)),
    )
    squares = _cells([block for block in blocks if not block.is_triangle], lambda block: math.floor(10 * block.empty))
    drawn = {_fastest(members)[0] for cells in (triangles, squares) for members in cells.values()}
    key = [
        KeyEntry(LOOK_OF[kernel], f"{NAMES[kernel][1]} {NAMES[kernel][0]}", "area")
        for kernel in NAMES
        if kernel in drawn
    ]
    rows = max([1, *(_extent(cells, 1)[1] - _extent(cells, 1)[0] for cells in (triangles, squares) if cells)])
    text = (
        "Cell: the kernel that is fastest in the geometric mean over the blocks of the cell, and the time of the next "
        "kernel over its time, if another kernel was measured on all of them."
    )
    figure = Figure("The fastest kernel of a block", key, 2, rows * CELL_HEIGHT, f"{text}\n{caption}")
    panels = (
        ("Triangles", triangles, "entries per row, with the diagonal, from", "levels, from", power_text),
        ("Squares", squares, "entries per row that has any, from", "rows without entries, from", tenth_text),
    )
    for position, (title, cells, x_label, y_label, y_text) in enumerate(panels):
        axes = (_axis(cells, 0, x_label, power_text), _axis(cells, 1, y_label, y_text))
        panel = figure.panel(position, *axes, title)
        for (x, y), members in cells.items():
            kernel, margin = _fastest(members)
            lines = [NAMES[kernel][1], *([f"{margin:.3g}"] if margin is not None else [])]
            panel.cell(x, y, LOOK_OF[kernel], lines)
    figure.save(path)


def power_text(exponent: float) -> str:
    return f"{2 ** int(exponent):,}"


def tenth_text(tenths: float) -> str:
    return f"{10 * int(tenths)} %"


def _cells(blocks: Sequence[Block], row_of: Callable[[Block], int]) -> Cells:
    cells: Cells = collections.defaultdict(list)
    for block in blocks:
        cells[math.floor(math.log2(block.entries_per_row)), row_of(block)].append(block)
    return cells


def _extent(cells: Cells, dimension: int) -> tuple[int, int]:
    places = [cell[dimension] for cell in cells] or [0]
    return min(places), max(places) + 1


def _axis(cells: Cells, dimension: int, label: str, formatter: Callable[[float], str]) -> Axis:
    low, high = _extent(cells, dimension)
    return Axis(label, low, high, list(range(low, high)), formatter, is_log=False)


def _fastest(blocks: Sequence[Block]) -> tuple[str, float | None]:
    """Returns the fastest of the kernels that were measured on all blocks, and the next one's time over its time."""
    known = set.intersection(*(set(block.times) for block in blocks))
    means = sorted((math.fsum(block.loss(kernel) for block in blocks) / len(blocks), kernel) for kernel in known)
    return means[0][1], math.exp(means[1][0] - means[0][0]) if len(means) > 1 else None
