"""The figures of the studies of papers (study_tables.py), by matplotlib, in the style of the report."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence

from matplotlib.axes import Axes

from report_figures import ROWS_LABEL, Book, log_axis, plain
from results_format import Results
from study_tables import PRECISIONS, STENCILS, Grid, LowerSolves, Pairs, gflops

Drawn = tuple[str, str, str]


def draw_li_zhang(results: Results, caption: str, folder: pathlib.Path) -> list[Drawn]:
    """Figures 5.1 and 5.2, one for each stencil; returns file, title and text of each."""
    pairs = Pairs(results)
    book = Book(results, pairs.policies, caption, folder)
    return [_stencil(book, pairs, stencil) for stencil in STENCILS if pairs.of_stencil(stencil)]


def _stencil(book: Book, pairs: Pairs, stencil: int) -> Drawn:
    figure, panels = book.figure(len(pairs.values), book.lines(pairs.policies, book.label))
    curves = {
        (value, policy): _curve(pairs, stencil, value, policy)
        for value in pairs.values
        for policy in pairs.policies
    }
    points = [point for curve in curves.values() for point in curve]
    for axes, value in zip(panels, pairs.values):
        log_axis(axes.xaxis, [x for x, _ in points], plain)
        log_axis(axes.yaxis, [y for _, y in points], plain)
        for policy in pairs.policies:
            style, curve = book.styles[policy], curves[value, policy]
            axes.plot(
                [x for x, _ in curve],
                [y for _, y in curve],
                color=style.colour,
                linestyle=style.line,
                linewidth=1.8,
                marker=style.marker,
                markersize=4,
                zorder=3,
                clip_on=False,
            )
        axes.set_title(PRECISIONS[value].capitalize())
        axes.set_xlabel("aspect ratio of the grid")
    panels[0].set_ylabel("GFLOPS")
    number = "5.1" if stencil in (5, 9) else "5.2"
    return book.save(
        figure,
        f"li_zhang_{stencil}_point",
        f"Solves with Laplacians, {STENCILS[stencil]}",
        f"A lower and an upper solve, as in Figure {number} of Li and Zhang; higher is better.",
    )


def _curve(pairs: Pairs, stencil: int, value: str, policy: str) -> list[tuple[float, float]]:
    made = []
    for matrix in pairs.of_stencil(stencil):
        grid, pair = Grid.of(matrix), pairs.get(matrix, value, policy)
        if grid and pair:
            made.append((grid.aspect_ratio, pair.gflops))
    return made


def draw_liu(results: Results, caption: str, folder: pathlib.Path) -> list[Drawn]:
    """Figure 4, the matrices by their parallelism; returns file, title and text."""
    text = "One lower triangle, as in Figure 4 of Liu et al.; higher is better."
    return _by_parallelism(LowerSolves(results), "liu", text, caption, folder)


def draw_lu_niu_liu(results: Results, caption: str, folder: pathlib.Path) -> list[Drawn]:
    """Figure 6, the matrices by their parallelism, of the forms that choose the number of triangles."""
    rows = [row for row in results.rows if not re.search(r"_block_\d+$", row.policy)]
    solves = LowerSolves(Results(results.context, rows), "recursive_block", "lu_niu_liu")
    text = "One lower triangle, as in Figure 6 of Lu, Niu and Liu; higher is better."
    return _by_parallelism(solves, "lu_niu_liu", text, caption, folder)


def _by_parallelism(
    solves: LowerSolves, name: str, text: str, caption: str, folder: pathlib.Path
) -> list[Drawn]:
    book = Book(solves.results, solves.policies, caption, folder)
    figure, panels = book.figure(len(solves.values), book.markers(solves.policies))
    points = {
        (value, policy): _points(solves, value, policy)
        for value in solves.values
        for policy in solves.policies
    }
    every = [point for own in points.values() for point in own]
    for axes, value in zip(panels, solves.values):
        log_axis(axes.xaxis, [x for x, *_ in every], plain)
        log_axis(axes.yaxis, [y for _, y, _ in every], plain)
        for policy in solves.policies:
            for source in ("file", "generated"):
                shown = [point for point in points[value, policy] if point[2] == source]
                _scatter(book, axes, policy, source, shown)
        axes.set_title(PRECISIONS[value].capitalize())
        axes.set_xlabel(ROWS_LABEL)
    panels[0].set_ylabel("GFLOPS")
    return [book.save(figure, name, "Solves by the parallelism of the matrix", text)]


def _points(solves: LowerSolves, value: str, policy: str) -> list[tuple[float, float, str]]:
    rows = (solves.get(matrix, value, policy) for matrix in solves.matrices)
    return [(row.rows_per_level, gflops(row) or 0, row.source) for row in rows if row]


def _scatter(
    book: Book, axes: Axes, policy: str, source: str, points: Sequence[tuple[float, float, str]]
) -> None:
    axes.plot(
        [x for x, *_ in points],
        [y for _, y, _ in points],
        clip_on=False,
        zorder=3,
        **book.styles[policy].markers(source),
    )


DRAWINGS = {"li_zhang": draw_li_zhang, "liu": draw_liu, "lu_niu_liu": draw_lu_niu_liu}
