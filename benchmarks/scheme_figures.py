"""The figures of the study of schemes (scheme_study.py), by matplotlib, in the style of the report."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from report_figures import COLOURS, FAINT, INK, MARKERS, ROWS_LABEL, WIDTH, log_axis, plain, ratio
from results_format import geometric_mean
from scheme_study import CONTRASTS, SPACES, System, speedups

Drawn = tuple[str, str, str]
Points = list[tuple[float, float]]  # rows per level, times as fast

HEIGHT = 3.4  # inches


def draw_all(systems: Sequence[System], caption: str, folder: pathlib.Path) -> list[Drawn]:
    """Returns file, title and text of each that the systems have schemes for."""
    made = [
        _contrasts(systems, caption, folder, "3", "Warps against lanes, and more warps against fewer"),
        _contrasts(systems, caption, folder, "4", "Balance and reordering against their absence"),
        _spaces(systems, caption, folder),
    ]
    return [one for one in made if one]


def _contrasts(
    systems: Sequence[System], caption: str, folder: pathlib.Path, number: str, title: str
) -> Drawn | None:
    panels: dict[str, dict[str, Points]] = {}
    for name, of, over in CONTRASTS:
        label, _, figure = name.partition(" (")
        if not figure.startswith(number):
            continue
        bests = ((s.rows_per_level, s.best(of), s.best(over)) for s in systems)
        points = [(x, other / own) for x, own, other in bests if own and other]
        if points:
            panels.setdefault(f"({figure[1]}", {})[label] = points
    if not panels:
        return None
    about = f"The best scheme with the choice over the best without it, as in Figure {number} of the paper."
    return _save(list(panels.values()), f"scheme_figure_{number}", title, about, caption, folder)


def _spaces(systems: Sequence[System], caption: str, folder: pathlib.Path) -> Drawn | None:
    found = [(s.rows_per_level, speedups(s)) for s in systems]
    panel = {
        f"{name} over {SPACES[0][0]}": [(x, own) for x, gains in found if (own := gains[i])]
        for i, (name, _, _) in enumerate(SPACES)
        if i > 0
    }
    if not any(panel.values()):
        return None
    about = "The best scheme of each space over that of MF, as in Figure 9 of the paper."
    return _save([panel], "scheme_figure_9", "Larger spaces of schemes", about, caption, folder)


def _save(
    panels: Sequence[dict[str, Points]],
    name: str,
    title: str,
    about: str,
    caption: str,
    folder: pathlib.Path,
) -> Drawn:
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    for axes, curves in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels):
        _scatter(axes, curves)
    figure.supxlabel(caption, fontsize=6.2, color=FAINT, x=0.01, ha="left")
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None, "Title": title})
    return f"{name}.svg", title, about + " A line is a geometric mean."


def _scatter(axes: Axes, curves: dict[str, Points]) -> None:
    points = [point for own in curves.values() for point in own]
    log_axis(axes.xaxis, [x for x, _ in points], plain)
    speeds = [y for _, y in points]
    if max(speeds) > 2.5 * min(speeds):
        log_axis(axes.yaxis, speeds, ratio, [1.0])
    else:  # too few ticks
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.1f}x"))
    axes.axhline(1, color=INK, linewidth=0.8, zorder=1)
    for place, (label, own) in enumerate(curves.items()):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(
            [x for x, _ in own],
            [y for _, y in own],
            linestyle="",
            color=colour,
            marker=MARKERS[place % len(MARKERS)],
            markersize=4 + 1.2 * place,
            markeredgecolor="white",
            markeredgewidth=0.4,
            zorder=4 - 0.1 * place,  # what a larger space shares with a smaller one lies around it
            clip_on=False,
            label=label,
        )
        mean = geometric_mean(y for _, y in own)
        if mean:
            axes.axhline(mean, color=colour, linewidth=1.5, alpha=0.6, zorder=2)
    axes.set_xlabel(ROWS_LABEL)
    axes.set_ylabel("times as fast")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncol=2, fontsize=8, borderaxespad=0.2)
