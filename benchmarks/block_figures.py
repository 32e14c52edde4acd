"""The fastest kernel by the properties of a block, like the heat maps of Lu, Niu and Liu 2020, Figure 5."""

from __future__ import annotations

import collections
import math
import pathlib
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from report_figures import COLOURS, FAINT, WIDTH

if TYPE_CHECKING:
    from fit_block_kernels import Part

NAMES = {
    "level_set": "level-set",
    "sync_free": "sync-free",
    "serial": "serial",
    "scalar_csr": "scalar-CSR",
    "vector_csr": "vector-CSR",
    "scalar_dcsr": "scalar-DCSR",
    "vector_dcsr": "vector-DCSR",
}
COLOUR_OF = dict(zip(NAMES, COLOURS))
HEIGHT = 4.6  # inches

Position = Callable[["Part"], int]


def draw_fastest(parts: Sequence[Part], caption: str, path: pathlib.Path) -> None:
    """Writes the SVG `path`: triangles of several levels by these and the length of rows, squares by rows that
    are empty and the length of the others."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    left, right = figure.subplots(
        1, 2, gridspec_kw={"left": 0.09, "right": 0.98, "bottom": 0.22, "top": 0.84, "wspace": 0.26}
    )
    drawn: set[str] = set()
    triangles = [part for part in parts if part.is_triangle and part.levels > 1]
    drawn |= _panel(left, triangles, lambda part: math.floor(math.log2(part.levels)), str_of_power)
    left.set(title="Triangles", xlabel="entries per row, with the diagonal", ylabel="levels, from")
    squares = [part for part in parts if not part.is_triangle]
    drawn |= _panel(right, squares, lambda part: math.floor(10 * part.empty), lambda y: str(10 * y))
    right.set(title="Squares", xlabel="entries per row that has any", ylabel="per cent of rows empty, from")
    handles = [Patch(color=COLOUR_OF[kernel], label=name) for kernel, name in NAMES.items() if kernel in drawn]
    figure.legend(handles=handles, loc="upper left", ncol=len(handles), bbox_to_anchor=(0.07, 1))
    text = (
        "Colour: the kernel that is fastest in the geometric mean over the parts of a cell; number: how many "
        f"times as long the next one takes, if another was worth measuring. {caption}"
    )
    for i, line in enumerate(textwrap.wrap(text, 150)):
        figure.text(0.015, 0.075 - 0.028 * i, line, fontsize=6.2, color=FAINT)
    figure.savefig(path, metadata={"Date": None, "Creator": None, "Title": "The fastest kernel of a block"})


def str_of_power(exponent: int) -> str:
    return f"{2**exponent:,}"


def _panel(axes: Axes, parts: Sequence[Part], down: Position, label: Callable[[int], str]) -> set[str]:
    cells: dict[tuple[int, int], list[Part]] = collections.defaultdict(list)
    for part in parts:
        cells[math.floor(math.log2(part.entries_per_row)), down(part)].append(part)
    drawn = set()
    for (x, y), members in cells.items():
        kernel, margin = _fastest(members)
        drawn.add(kernel)
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=COLOUR_OF[kernel], edgecolor="white"))
        if margin is not None:
            axes.text(x + 0.5, y + 0.5, f"{margin:.3g}", color="white", fontsize=7, ha="center", va="center")
    for axis, places, names in (
        (axes.xaxis, {x for x, _ in cells}, str_of_power),
        (axes.yaxis, {y for _, y in cells}, label),
    ):
        ticks = range(min(places, default=0), max(places, default=0) + 1)
        axis.set_ticks(ticks, [names(tick) for tick in ticks])
    axes.autoscale_view()
    axes.grid(visible=False)
    return drawn


def _fastest(parts: Sequence[Part]) -> tuple[str, float | None]:
    """The kernel, and the time of the next one over its own, of the kernels that all of `parts` know."""
    known = set.intersection(*(set(part.times) for part in parts))
    means = sorted((math.fsum(part.loss(kernel) for part in parts) / len(parts), kernel) for kernel in known)
    return means[0][1], math.exp(means[1][0] - means[0][0]) if len(means) > 1 else None
