"""The figures of the study of schemes, in the style of the report."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from sptrsv_results.figures import OTHER_LOOKS, ROWS_LABEL
from sptrsv_results.format import geometric_mean
from sptrsv_results.page import Picture
from sptrsv_results.plot import LOOKS, Figure, KeyEntry, log_axis, plain, ratio
from sptrsv_results.studies.schemes import CONTRASTS, SPACES, System, speedups
from sptrsv_results.tables import times

Points = list[tuple[float, float]]  # rows per level, times as fast
Panels = dict[str, dict[str, Points]]  # by the title of the panel, by the label of the series

HEIGHT = 270.0
SERIES_LOOKS = (LOOKS[0], *OTHER_LOOKS)


def draw_all(systems: Sequence[System], caption: str, folder: pathlib.Path) -> list[Picture]:
    """Draws the figures that the systems have schemes for."""
    made = [
        _contrasts(systems, caption, folder, "3", "Warps against lanes, and more warps against fewer"),
        _contrasts(systems, caption, folder, "4", "Balance and reordering against their absence"),
        _spaces(systems, caption, folder),
    ]
    return [one for one in made if one]


def _contrasts(
    systems: Sequence[System], caption: str, folder: pathlib.Path, figure: str, title: str
) -> Picture | None:
    panels: Panels = {}
    for name, of, over in CONTRASTS:
        label, _, number = name.partition(" (")
        if not number.startswith(figure):
            continue
        bests = ((s.rows_per_level, s.best(of), s.best(over)) for s in systems)
        points = [(x, other / own) for x, own, other in bests if own and other]
        if points:
            panels.setdefault(f"({number[1]})", {})[label] = points
    about = (
        "Speed of the best scheme with the choice over that of the best scheme without it "
        f"(Figure {figure} of the paper)."
    )
    return _save(panels, f"scheme_figure_{figure}", title, about, caption, folder) if panels else None


def _spaces(systems: Sequence[System], caption: str, folder: pathlib.Path) -> Picture | None:
    found = [(s.rows_per_level, speedups(s)) for s in systems]
    curves = {
        f"{name} over {SPACES[0][0]}": points
        for i, (name, _, _) in enumerate(SPACES)
        if i > 0 and (points := [(x, own) for x, gains in found if (own := gains[i])])
    }
    about = f"Speed of the best scheme of each space over that of {SPACES[0][0]} (Figure 9 of the paper)."
    return (
        _save({"": curves}, "scheme_figure_9", "Larger spaces of schemes", about, caption, folder) if curves else None
    )


def _save(panels: Panels, name: str, title: str, about: str, caption: str, folder: pathlib.Path) -> Picture:
    labels = [label for curves in panels.values() for label in curves]
    looks = dict(zip(labels, SERIES_LOOKS, strict=False))
    means = {
        label: geometric_mean(y for _, y in own) or 1.0 for curves in panels.values() for label, own in curves.items()
    }
    key = [KeyEntry(look, f"{label}: {times(means[label])}") for label, look in looks.items()]
    figure = Figure(title, key, len(panels), HEIGHT, caption)
    for position, (panel_title, curves) in enumerate(panels.items()):
        points = [point for own in curves.values() for point in own]
        x_axis = log_axis(ROWS_LABEL, [x for x, _ in points], plain)
        y_axis = log_axis("" if position else "times as fast (logarithmic)", [y for _, y in points], ratio, [1.0])
        panel = figure.panel(position, x_axis, y_axis, panel_title)
        panel.horizontal(1)
        # The best scheme of a larger space is often that of a smaller one; the smaller space lies on top.
        for label, own in reversed(curves.items()):
            panel.marks(own, looks[label])
        for label in reversed(curves):
            panel.mean(x_axis.low, x_axis.high, means[label], looks[label])
    figure.save(folder / f"{name}.svg")
    return Picture(f"{name}.svg", title, f"{about} The bars, and the numbers above the figure, are geometric means.")
