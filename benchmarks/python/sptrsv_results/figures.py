"""The figures of the report, with few series, so that a reader can tell them apart.

A series is a policy, or the best of several: on each problem the fastest policy of the project that is not
`dataflow`.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sptrsv_results.format import Results, Row, describe, geometric_mean
from sptrsv_results.page import Picture
from sptrsv_results.plot import (
    BASELINE,
    LOOKS,
    Figure,
    KeyEntry,
    Look,
    Panel,
    log_axis,
    percent_axis,
    plain,
    ratio,
)
from sptrsv_results.tables import (
    MODEL,
    ROWS_PER_LEVEL,
    WARM,
    analysis_in_solves,
    analysis_speedup,
    break_evens,
    cold_over_warm,
    contenders,
    display_name,
    percent,
    vendor,
)

ROWS_LABEL = "rows per level (logarithmic)"
HEIGHT = 300.0
MAX_POLICIES = 4  # the most policies of the project that have a series each; of more, a series shows the best
# Policies that always have a series of their own, and what their label says of the order of computation.
FEATURED = {"dataflow": "dataflow (default, exact order)", "dataflow_inverses": "dataflow_inverses (not exact order)"}
FEATURED_LOOKS = {"dataflow": LOOKS[0], "dataflow_inverses": LOOKS[2]}
OTHER_LOOKS = (LOOKS[1], *LOOKS[3:])
BEST = "best of"
BEST_TEXT = "on each problem, the fastest policy of the project that is not a form of dataflow"
EXACT_ORDER = "In exact order each row is solved as in substitution, from the components of other rows."
ALL_EXACT = "All policies of the project in this figure do so."
NOT_EXACT = "`dataflow_inverses` (`exact_order = false`) does not: it first eliminates rows from one another."


class Point(NamedTuple):
    x: float
    y: float
    row: Row


@dataclass(frozen=True)
class Series:
    label: str
    look: Look
    rows: dict[tuple[Any, ...], Row]  # by problem
    is_baseline: bool = False

    def points(self, x: Callable[[Row], float | None], y: Callable[[Row], float | None]) -> list[Point]:
        """Returns the points of the correct rows for which both numbers are known and positive."""
        known = [Point(x(row) or 0, y(row) or 0, row) for row in self.rows.values() if row.status == "ok"]
        return [point for point in known if point.x > 0 and point.y > 0]


def looks_of(results: Results, policies: Sequence[str]) -> dict[str, Look]:
    """Returns the look of each policy, baselines last; leaves out policies when no looks are left."""
    shown = contenders(results, policies)
    looks = {policy: FEATURED_LOOKS[policy] for policy in FEATURED if policy in shown}
    looks |= dict(zip((policy for policy in shown if policy not in FEATURED), OTHER_LOOKS, strict=False))
    return looks | {policy: BASELINE for policy in policies if policy in results.baselines}


def is_dataflow(policy: str) -> bool:
    """Whether a policy is `dataflow`, one of its forms, or `automatic`, which takes `dataflow`."""
    return policy.startswith("dataflow") or policy == "automatic"


def choose_series(results: Results, policies: Sequence[str]) -> list[Series]:
    """Returns one series for each policy if they are few, else for the featured ones and the best of the others.

    The baselines come last.
    """

    def of_policy(policy: str) -> dict[tuple[Any, ...], Row]:
        return {problem: rows[policy] for problem, rows in results.by_problem.items() if policy in rows}

    shown = contenders(results, policies)
    if len(shown) > MAX_POLICIES:
        shown = [policy for policy in shown if policy in FEATURED]
    looks = looks_of(results, [*shown, *results.baselines])
    chosen = [Series(FEATURED.get(p, p), look, of_policy(p)) for p, look in looks.items() if p in shown]
    if len(contenders(results, policies)) > MAX_POLICIES:
        others = [policy for policy in contenders(results, policies) if not is_dataflow(policy)]
        label = f"{BEST} {len(others)} others (exact order)"
        chosen.append(Series(label, OTHER_LOOKS[0], best_rows(results, others)))
    chosen += [Series(display_name(p), looks[p], of_policy(p), is_baseline=True) for p in results.baselines]
    return chosen


def best_rows(results: Results, policies: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    """Returns the row of the fastest of the policies on each problem that one of them solves."""
    found = {}
    for problem, rows in results.by_problem.items():
        solved = [row for policy in policies if (row := rows.get(policy)) and row.ms]
        if solved:
            found[problem] = min(solved, key=lambda row: row.ms or math.inf)
    return found


class Book:
    """What all figures of a report share."""

    def __init__(self, results: Results, policies: Sequence[str], caption: str, folder: pathlib.Path):
        self.results = results
        self.series = choose_series(results, policies)
        self.own = [series for series in self.series if not series.is_baseline]
        self.vendor = vendor(results)
        is_exact = all(series.label != FEATURED["dataflow_inverses"] for series in self.own)
        self.order_text = f"{EXACT_ORDER} {ALL_EXACT if is_exact else NOT_EXACT}"
        self.caption = caption
        for series in self.series:
            if series.label.startswith(BEST):
                self.caption = f"{series.label}: {BEST_TEXT}\n{caption}"
        self.folder = folder

    def figure(
        self, title: str, key: Sequence[KeyEntry], panels: int = 1, height: float = HEIGHT, notes: int = 0
    ) -> Figure:
        return Figure(title, key, panels, height, self.caption, notes)

    def save(self, figure: Figure, name: str, text: str) -> Picture:
        figure.save(self.folder / f"{name}.svg")
        return Picture(f"{name}.svg", figure.title, text)


def draw_all(results: Results, policies: Sequence[str], caption: str, folder: pathlib.Path) -> list[Picture]:
    """Writes the figures for which the rows have numbers."""
    book = Book(results, policies, caption, folder)
    made = [
        draw(book)
        for draw in (
            speedup_by_parallelism,
            speedup_by_size,
            performance_profile,
            time_over_model,
            analysis_cost,
            break_even,
            cold_and_warm,
        )
    ]
    return [picture for picture in made if picture]


def mark_key(series: Sequence[Series]) -> list[KeyEntry]:
    return [KeyEntry(one.look, one.label) for one in series]


def scatter(panel: Panel, points: Sequence[tuple[Series, Sequence[Point]]]) -> None:
    """Draws the first series last, so that it lies on top."""
    for series, own in reversed(points):
        panel.marks([(point.x, point.y) for point in own], series.look)


def scatter_with_means(panel: Panel, points: Sequence[tuple[Series, Sequence[Point]]]) -> None:
    """Also draws the geometric mean of each class of rows per level, and writes its value above the panel."""
    for _, low, _ in ROWS_PER_LEVEL:
        if panel.x.low < low < panel.x.high:
            panel.vertical(low)
    scatter(panel, points)
    panel.above_label(len(points) - 1, "mean")
    for line, (series, own) in enumerate(reversed(points)):
        for _, low, high in ROWS_PER_LEVEL:
            mean = geometric_mean(point.y for point in own if low <= point.x < high)
            if mean:
                panel.mean(low, high, mean, series.look)
                panel.above(low, high, line, ratio_text(mean), series.look)


def ratio_text(value: float) -> str:
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 1 else f"{value:.2f}x"


def name_lowest(panel: Panel, points: Sequence[tuple[Series, Sequence[Point]]]) -> None:
    for series, own in points:
        if own:
            x, y, row = min(own, key=lambda point: point.y)
            panel.name_point(x, y, describe(row), series.look)


def speedup_figure(
    book: Book, name: str, title: str, text: str, x: Callable[[Row], float], x_label: str, with_means: bool
) -> Picture | None:
    points = [(series, series.points(x, lambda row: row.speedup)) for series in book.own]
    every = [point for _, own in points for point in own]
    if not every:
        return None
    figure = book.figure(title, mark_key(book.own), notes=len(points) if with_means else 0)
    x_axis = log_axis(x_label, [point.x for point in every], plain)
    y_axis = log_axis(f"speed-up over {book.vendor}", [point.y for point in every], ratio, include=(0.7, 1.4))
    panel = figure.panel(0, x_axis, y_axis)
    panel.horizontal(1, below=f"{book.vendor} = 1x")
    (scatter_with_means if with_means else scatter)(panel, points)
    name_lowest(panel, points)
    return book.save(figure, name, f"{text} {book.order_text}")


def speedup_by_parallelism(book: Book) -> Picture | None:
    return speedup_figure(
        book,
        "speedup_rows_per_level",
        f"Speed-up over {book.vendor} by rows per level",
        "Each mark is a problem; each bar is a geometric mean over the problems between two dashed lines. Above 1x "
        "the policy is faster. The L2 cache is warm. The lowest mark of each series is named.",
        lambda row: row.rows_per_level,
        ROWS_LABEL,
        with_means=True,
    )


def speedup_by_size(book: Book) -> Picture | None:
    return speedup_figure(
        book,
        "speedup_nnz",
        f"Speed-up over {book.vendor} by size",
        "Each mark is a problem; above 1x the policy is faster. The L2 cache is warm.",
        lambda row: row.nnz,
        "entries of the triangle (logarithmic)",
        with_means=False,
    )


def performance_profile(book: Book) -> Picture | None:
    problems = list(book.results.by_problem)
    ms = [{p: row.ms for p, row in series.rows.items() if row.ms} for series in book.series]
    best = {p: min(known) for p in problems if (known := [own[p] for own in ms if p in own])}
    ratios = [[own[p] / best[p] for p in own] for own in ms]
    if not best:
        return None
    key = []
    for series, own in zip(book.series, ratios, strict=True):
        fastest = percent(sum(value == 1 for value in own), len(problems))
        key.append(KeyEntry(series.look, f"{series.label}: fastest on {fastest}", "line"))
    figure = book.figure("Performance profile", key)
    end = max(max(own) for own in ratios if own) * 1.05
    x_axis = log_axis("time over the time of the fastest series (logarithmic)", [1, end], ratio, with_margin=False)
    panel = figure.panel(0, x_axis, percent_axis("problems solved within it"))
    for series, own in reversed(list(zip(book.series, ratios, strict=True))):
        panel.shares(own, len(problems), series.look)
    return book.save(
        figure,
        "performance_profile",
        f"Share of the {len(problems)} problems that a series solves within a multiple of the time of the fastest "
        "series (Dolan and Mor\u00e9). Higher is better. The left edge shows how often a series is the fastest, the "
        f"right edge how often its solution is correct. {book.order_text}",
    )


def time_over_model(book: Book) -> Picture | None:
    points = [(s, s.points(lambda row: row.rows_per_level, lambda row: row.ratio_to_floor)) for s in book.series]
    every = [point for _, own in points for point in own]
    if not every:
        return None
    figure = book.figure("Time over the model", mark_key(book.series), notes=len(points))
    x_axis = log_axis(ROWS_LABEL, [point.x for point in every], plain)
    y_axis = log_axis("time over the model", [point.y for point in every], ratio, include=(0.7, 1.4))
    panel = figure.panel(0, x_axis, y_axis)
    panel.horizontal(1)
    scatter_with_means(panel, points)
    return book.save(
        figure,
        "time_over_model",
        f"Time of a solve over the time of a simple model. {MODEL} Each bar is a geometric mean over the problems "
        "between two dashed lines.",
    )


def analysis_cost(book: Book) -> Picture | None:
    def over_baseline(row: Row) -> float | None:
        speedup = analysis_speedup(book.results, row)
        return 1 / speedup if speedup else None

    cost = [(series, known_values(series, analysis_in_solves)) for series in book.series]
    relative = [(series, known_values(series, over_baseline)) for series in book.own]
    if not any(own for _, own in cost) or not any(own for _, own in relative):
        return None
    figure = book.figure("Cost of the analysis", line_key(book.series), panels=2, height=260)
    panels = (
        (cost, log_axis("solves of the same policy", all_of(cost), plain), "Analysis time in solves"),
        (
            relative,
            log_axis(f"time over {book.vendor}'s", all_of(relative), ratio, (1,)),
            f"Over {book.vendor}'s analysis",
        ),
    )
    for position, (values, x_axis, title) in enumerate(panels):
        panel = figure.panel(position, x_axis, percent_axis("" if position else "problems"), title)
        if position == 1:
            panel.vertical(1)
        for series, own in reversed(values):
            if own:
                panel.shares(own, len(own), series.look)
    return book.save(
        figure,
        "analysis",
        "Left: share of the problems whose analysis takes at most this many solves of the same policy. Right: share of "
        f"the problems whose analysis takes at most this multiple of {book.vendor}'s time; left of the dashed line the "
        "policy is faster. Higher is better.",
    )


def known_values(series: Series, value: Callable[[Row], float | None]) -> list[float]:
    return [known for row in series.rows.values() if row.status == "ok" and (known := value(row))]


def all_of(values: Sequence[tuple[Series, Sequence[float]]]) -> list[float]:
    return [value for _, own in values for value in own]


def line_key(series: Sequence[Series]) -> list[KeyEntry]:
    return [KeyEntry(one.look, one.label, "line") for one in series]


def break_even(book: Book) -> Picture | None:
    even = [(series, own) for series in book.own if (own := break_evens(series.rows.values()))]
    if not even:
        return None
    key = line_key([series for series, _ in even])
    figure = book.figure(f"Break-even against {book.vendor}", key, height=260)
    end = max([10, *(value for _, own in even for value in own if value < math.inf)]) * 1.2
    x_axis = log_axis("solves with one pattern (logarithmic)", [1, end], plain, with_margin=False)
    panel = figure.panel(0, x_axis, percent_axis("problems that have broken even"))
    for series, own in reversed(even):
        panel.shares([value for value in own if value < math.inf], len(own), series.look)
    return book.save(
        figure,
        "break_even",
        "Share of the problems on which the analysis and this many solves together take less time than "
        f"{book.vendor}'s.",
    )


def cold_and_warm(book: Book) -> Picture | None:
    effect = [
        (series, series.points(lambda row: (row.bytes_moved or 0) / 2**20, cold_over_warm)) for series in book.series
    ]
    both = [(series, series.points(lambda row: row.speedup, lambda row: row.speedup_cold)) for series in book.own]
    if not any(own for _, own in effect) or not any(own for _, own in both):
        return None
    figure = book.figure("Cold and warm L2 cache", mark_key(book.series), panels=2)
    sizes, ratios = zip(*(point[:2] for _, own in effect for point in own), strict=True)
    size_axis = log_axis("data of a solve, MiB (logarithmic)", sizes, plain)
    left = figure.panel(0, size_axis, log_axis("", ratios, ratio, (1, 1.25)), "Time with a cold cache over a warm one")
    left.horizontal(1)
    cache = (book.results.context.l2_bytes or 0) / 2**20
    if size_axis.low < cache < size_axis.high:
        left.vertical(cache, "size of L2")
    speedups = [value for _, own in both for point in own for value in point[:2]]
    axes = [log_axis(label, speedups, ratio, (1,)) for label in ("warm", "cold")]
    right = figure.panel(1, *axes, f"Speed-up over {book.vendor}, cold and warm")
    right.diagonal()
    scatter(left, effect)
    scatter(right, both)
    return book.save(
        figure,
        "cold_warm",
        "Left: the time of single calls with a flushed L2 cache over that with a warm one. Right: the speed-up with a "
        f"cold cache and with a warm one; they are equal on the line. {WARM}",
    )
