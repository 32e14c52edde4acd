"""The figures of the studies of papers, in the style of the report."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable

from sptrsv_results.figures import ROWS_LABEL, looks_of
from sptrsv_results.format import Results
from sptrsv_results.page import Picture
from sptrsv_results.plot import LOOKS, Axis, Figure, KeyEntry, Look, log_axis, plain, ratio
from sptrsv_results.studies.complete_factors import DIRECTIONS, OWN, Solves, over, solver_name
from sptrsv_results.studies.triangles import PRECISIONS, STENCILS, Grid, LowerSolves, Pairs, gflops
from sptrsv_results.tables import display_name

HEIGHT = 280.0
# The library's own variants of the paper's forms: the tables have them, the figures would be too full.
NOT_DRAWN = ("level_set", "level_set_columns")
Curve = list[tuple[float, float]]


def draw_li_zhang(results: Results, caption: str, folder: pathlib.Path) -> list[Picture]:
    """Draws Figures 5.1 and 5.2, one picture for each stencil."""
    pairs = Pairs(results)
    return [_stencil(pairs, stencil, caption, folder) for stencil in STENCILS if pairs.of_stencil(stencil)]


def _stencil(pairs: Pairs, stencil: int, caption: str, folder: pathlib.Path) -> Picture:
    looks = looks_of(pairs.results, [policy for policy in pairs.policies if policy not in NOT_DRAWN])
    key = [KeyEntry(look, display_name(policy), "marked line") for policy, look in looks.items()]
    title = f"Solves with Laplacians, {STENCILS[stencil]}"
    figure = Figure(title, key, len(pairs.values), HEIGHT, caption)
    curves = {(value, policy): _curve(pairs, stencil, value, policy) for value in pairs.values for policy in looks}
    x_axis, *y_axes = _axes(curves.values(), "aspect ratio of the grid (logarithmic)", len(pairs.values))
    for position, (value, y_axis) in enumerate(zip(pairs.values, y_axes, strict=True)):
        panel = figure.panel(position, x_axis, y_axis, PRECISIONS[value].capitalize())
        for policy, look in reversed(looks.items()):
            if curves[value, policy]:
                panel.line(curves[value, policy], look, is_marked=True)
    name = f"li_zhang_{stencil}_point.svg"
    figure.save(folder / name)
    number = "5.1" if stencil in (5, 9) else "5.2"
    text = f"A lower solve followed by an upper solve, as in Figure {number} of Li and Zhang. Higher is better."
    return Picture(name, title, text)


def _axes(curves: Iterable[Curve], x_label: str, panels: int) -> tuple[Axis, ...]:
    """Returns the x axis of all panels and the y axis of each; only the first y axis has a label."""
    points = [point for curve in curves for point in curve]
    x_axis = log_axis(x_label, [x for x, _ in points], plain)
    labels = ["GFLOPS (logarithmic)", *[""] * (panels - 1)]
    return (x_axis, *(log_axis(label, [y for _, y in points], plain) for label in labels))


def _curve(pairs: Pairs, stencil: int, value: str, policy: str) -> Curve:
    made = []
    for matrix in pairs.of_stencil(stencil):
        grid, pair = Grid.of(matrix), pairs.get(matrix, value, policy)
        if grid and pair:
            made.append((grid.aspect_ratio, pair.gflops))
    return made


def draw_liu(results: Results, caption: str, folder: pathlib.Path) -> list[Picture]:
    """Draws Figure 4, the matrices by their parallelism."""
    text = "Solves of one lower triangle, as in Figure 4 of Liu et al. Higher is better."
    return _by_parallelism(LowerSolves(results), "liu", text, caption, folder)


def draw_lu_niu_liu(results: Results, caption: str, folder: pathlib.Path) -> list[Picture]:
    """Draws Figure 6, the matrices by their parallelism, without the forms of a fixed number of triangles."""
    rows = [row for row in results.rows if not re.search(r"_block_\d+$", row.policy)]
    solves = LowerSolves(Results(results.context, rows), "recursive_block", "lu_niu_liu")
    text = "Solves of one lower triangle, as in Figure 6 of Lu, Niu and Liu. Higher is better."
    return _by_parallelism(solves, "lu_niu_liu", text, caption, folder)


def _by_parallelism(solves: LowerSolves, name: str, text: str, caption: str, folder: pathlib.Path) -> list[Picture]:
    looks: dict[str, Look] = looks_of(solves.results, solves.policies)
    key = [KeyEntry(look, display_name(policy)) for policy, look in looks.items()]
    title = "Solves by the parallelism of the matrix"
    figure = Figure(title, key, len(solves.values), HEIGHT, caption)
    points = {(value, policy): _points(solves, value, policy) for value in solves.values for policy in looks}
    x_axis, *y_axes = _axes(points.values(), ROWS_LABEL, len(solves.values))
    for position, (value, y_axis) in enumerate(zip(solves.values, y_axes, strict=True)):
        panel = figure.panel(position, x_axis, y_axis, PRECISIONS[value].capitalize())
        for policy, look in reversed(looks.items()):
            panel.marks(points[value, policy], look)
    figure.save(folder / f"{name}.svg")
    return [Picture(f"{name}.svg", title, text)]


def _points(solves: LowerSolves, value: str, policy: str) -> Curve:
    rows = (solves.get(matrix, value, policy) for matrix in solves.matrices)
    return [(row.rows_per_level, flops) for row in rows if row and (flops := gflops(row))]


def draw_complete_factors(results: Results, caption: str, folder: pathlib.Path) -> list[Picture]:
    """Draws the speed-ups over the baseline by the size of the factor; each number of right-hand sides has a panel."""
    solves = Solves(results)
    baseline = results.baselines[0]
    counts = sorted({row.rhs for row in results.rows})
    looks = dict(zip(DIRECTIONS, LOOKS, strict=False))
    key = [KeyEntry(look, DIRECTIONS[part]) for part, look in looks.items()]
    title = f"{OWN} over {solver_name(baseline)} on complete factors"
    figure = Figure(title, key, len(counts), HEIGHT, caption)
    points: dict[tuple[int, str], Curve] = {(rhs, part): [] for rhs in counts for part in looks}
    for rows in solves.problems:
        speedup = over(rows, baseline, OWN)
        if speedup:
            points[rows[OWN].rhs, rows[OWN].part].append((float(rows[OWN].nnz), speedup))
    x_axis = log_axis("entries of the factor (logarithmic)", [x for p in points.values() for x, _ in p], plain)
    y_values = [y for p in points.values() for _, y in p]
    for position, rhs in enumerate(counts):
        y_axis = log_axis(
            "" if position else f"speed-up over {solver_name(baseline)} (logarithmic)", y_values, ratio, include=[1]
        )
        panel = figure.panel(position, x_axis, y_axis, f"{rhs} right-hand side{'s' if rhs > 1 else ''}")
        panel.horizontal(1)
        for part, look in looks.items():
            panel.marks(points[rhs, part], look)
    figure.save(folder / "complete_factors.svg")
    return [Picture("complete_factors.svg", title, "Above 1x our solve is faster.")]


DRAWINGS = {
    "li_zhang": draw_li_zhang,
    "liu": draw_liu,
    "lu_niu_liu": draw_lu_niu_liu,
    "complete_factors": draw_complete_factors,
}
