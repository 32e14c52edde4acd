"""The figures of the report, by matplotlib."""

from __future__ import annotations

import bisect
import itertools
import math
import pathlib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")

from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator  # noqa: E402

from report_tables import (  # noqa: E402
    ROWS_PER_LEVEL,
    WARM,
    analysis_in_solves,
    analysis_speedup,
    break_evens,
    cold_over_warm,
    contenders,
    count_fastest,
    of_policy,
    percent,
    vendor,
)
from results_format import Results, Row, describe, geometric_mean  # noqa: E402

# After Okabe and Ito, whose colours colour-blind readers can tell apart; none is too light for white paper.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f3c8d", "#8c6d1f")
MARKERS = "osD^vP<>"
BASELINES = (("#4d4d4d", "X"), ("#8a8a8a", "d"))
INK, FAINT = "#222222", "#6b6b6b"
WIDTH = 8.0  # inches
ROWS_LABEL = "rows per level"
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)))

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "sptrsv",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana"],
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.titlelocation": "left",
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "text.color": INK,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
        "legend.handletextpad": 0.4,
        "figure.facecolor": "white",
        "savefig.facecolor": "white",
    }
)


class Point(NamedTuple):
    x: float
    y: float
    row: Row


class Style(NamedTuple):
    colour: str
    marker: str
    line: Any

    def markers(self, source: str) -> dict[str, Any]:
        """Full for a matrix from a file, empty for a generated one."""
        fill, edge = (self.colour, "white") if source == "file" else ("white", self.colour)
        return {
            "linestyle": "",
            "marker": self.marker,
            "color": fill,
            "markeredgecolor": edge,
            "markersize": 5,
            "markeredgewidth": 0.4 if source == "file" else 0.9,
        }


class Book:
    """What all figures of a report share."""

    def __init__(self, results: Results, policies: Sequence[str], caption: str, folder: pathlib.Path):
        self.results = results
        self.policies = policies
        self.contenders = contenders(results, policies)
        self.vendor = vendor(results)
        self.caption = "\n".join(
            textwrap.fill(line, 150, subsequent_indent="  ") for line in caption.split("\n")
        )
        self.folder = folder
        # A policy keeps its looks when others are left out.
        self.styles = {}
        for i, name in enumerate(contenders(results, results.policies)):
            self.styles[name] = Style(COLOURS[i % 8], MARKERS[i % 8], DASHES[i % 4])
        for i, name in enumerate(results.baselines):
            self.styles[name] = Style(*BASELINES[i % 2], "-")

    def label(self, policy: str) -> str:
        return "cuSPARSE" if policy == "cusparse" else policy

    def figure(
        self, panels: int, handles: Sequence[Line2D], height: float = 3.0
    ) -> tuple[Figure, list[Axes]]:
        """Axes below a legend and above the caption, whatever the numbers of their lines."""
        columns = legend_columns([0.62 + 0.075 * len(handle.get_label()) for handle in handles], WIDTH - 0.7)
        handles = [handle for column in range(columns) for handle in handles[column::columns]]  # row by row
        above = (0.16 if panels == 1 else 0.36) + 0.19 * math.ceil(len(handles) / columns)
        below = 0.62 + 0.125 * (self.caption.count("\n") + 1)
        total = above + height + below
        figure = Figure(figsize=(WIDTH, total))
        axes = figure.subplots(
            1,
            panels,
            squeeze=False,
            gridspec_kw={
                "left": 0.78 / WIDTH,
                "right": 1 - 0.5 / WIDTH,
                "bottom": below / total,
                "top": 1 - above / total,
                "wspace": 0.24,
            },
        )
        figure.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0.55 / WIDTH, 1 - 0.02 / total),
            ncol=columns,
            columnspacing=1.8,
            handlelength=2.2,
        )
        figure.text(
            0.12 / WIDTH, 0.08 / total, self.caption, fontsize=6.2, color=FAINT, va="bottom", linespacing=1.25
        )
        return figure, list(axes[0])

    def save(self, figure: Figure, name: str, title: str, text: str) -> tuple[str, str, str]:
        figure.savefig(self.folder / f"{name}.svg", metadata={"Date": None, "Creator": None, "Title": title})
        return f"{name}.svg", title, text

    def lines(self, policies: Iterable[str], label: Callable[[str], str]) -> list[Line2D]:
        return [
            Line2D(
                [],
                [],
                color=self.styles[p].colour,
                linestyle=self.styles[p].line,
                linewidth=1.8,
                label=label(p),
            )
            for p in policies
        ]

    def markers(self, policies: Iterable[str]) -> list[Line2D]:
        made = [Line2D([], [], label=self.label(p), **self.styles[p].markers("file")) for p in policies]
        if len({row.source for row in self.results.rows}) > 1:
            made += [
                Line2D([], [], label=label, **Style(FAINT, "o", "").markers(source))
                for label, source in (("from a file", "file"), ("generated", "generated"))
            ]
        return made

    def points(
        self, policy: str, x: Callable[[Row], float | None], y: Callable[[Row], float | None]
    ) -> list[Point]:
        """Of the correct rows for which both are known and have a logarithm."""
        known = (
            Point(x(row) or 0, y(row) or 0, row)
            for row in of_policy(self.results, policy)
            if row.status == "ok"
        )
        return [point for point in known if point.x > 0 and point.y > 0]

    def scatter(self, axes: Axes, points: dict[str, list[Point]]) -> None:
        for source, (policy, own) in itertools.product(("file", "generated"), points.items()):
            shown = [point for point in own if point.row.source == source]
            axes.plot(
                [point.x for point in shown],
                [point.y for point in shown],
                clip_on=False,
                zorder=3,
                **self.styles[policy].markers(source),
            )

    def name_worst(self, axes: Axes, points: dict[str, list[Point]]) -> None:
        """The name of the lowest point of each policy, on the side where it hides the fewest points."""
        taken = [axes.transData.transform(point[:2]) for own in points.values() for point in own]
        taken += [(x, axes.transData.transform((1, 1))[1]) for x, _ in taken]  # the line at one
        unit = axes.figure.dpi / 72
        left, right = axes.bbox.x0, axes.bbox.x1
        for policy, own in points.items():
            if not own:
                continue
            x, y, row = min(own, key=lambda point: point.y)
            at, up = axes.transData.transform((x, y))
            width, name = 4.2 * len(describe(row)), describe(row)
            choices: list[tuple[bool, int, int, float, float]] = []
            for dx, dy in itertools.product((5, -5 - width), (-2.5, -10, 5)):
                x0, y0 = at + dx * unit, up + dy * unit
                hidden = sum(
                    -3 * unit < px - x0 < (width + 3) * unit and -3 * unit < py - y0 < 9 * unit
                    for px, py in taken
                )
                outside = x0 < left or x0 + width * unit > right or y0 < axes.bbox.y0
                choices.append((outside, hidden, len(choices), dx, dy))
            *_, dx, dy = min(choices)
            axes.annotate(
                name,
                (x, y),
                xytext=(dx if dx > 0 else -5, dy),
                textcoords="offset points",
                fontsize=6.5,
                ha="left" if dx > 0 else "right",
                va="bottom",
                color=self.styles[policy].colour,
            )
            box = (at + dx * unit, up + dy * unit)
            taken += [(box[0] + i * 4 * unit, box[1] + 3 * unit) for i in range(int(width / 4))]

    def class_means(self, axes: Axes, points: dict[str, list[Point]]) -> None:
        """A bar at the geometric mean of each policy in each class of rows per level."""
        right = axes.get_xlim()[1]
        for _, low, high in ROWS_PER_LEVEL:
            for policy, own in points.items():
                mean = geometric_mean(point.y for point in own if low <= point.x < high)
                if mean:
                    axes.hlines(
                        mean,
                        max(low, axes.get_xlim()[0]),
                        min(high, right),
                        zorder=2,
                        linewidth=2,
                        alpha=0.75,
                        color=self.styles[policy].colour,
                    )
            if low > axes.get_xlim()[0]:
                axes.axvline(low, color="#c4c4c4", linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)


def draw_all(
    results: Results, policies: Sequence[str], caption: str, folder: pathlib.Path
) -> list[tuple[str, str, str]]:
    """Writes the figures that the rows have numbers for; returns file, title and text of each."""
    book = Book(results, policies, caption, folder)
    made = [
        draw(book)
        for draw in (
            performance_profile,
            speedup_by_parallelism,
            speedup_by_size,
            distance_to_floor,
            analysis_cost,
            break_even,
            cold_and_warm,
        )
    ]
    return [one for one in made if one]


def legend_columns(widths: Sequence[float], available: float) -> int:
    """The most columns that fit, entries being filled in row by row."""
    for columns in range(len(widths), 1, -1):
        if sum(max(widths[column::columns]) for column in range(columns)) <= available:
            return columns
    return 1


def plain(value: float, _position: int | None = None) -> str:
    """A tick's number without an exponent as long as it is short."""
    if value >= 1e6:
        return f"{value / 1e6:g} M" if value < 1e9 else f"{value / 1e9:g} G"
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def ratio(value: float, _position: int | None = None) -> str:
    return f"{plain(value)}x"


def log_axis(
    axis: Any,
    values: Sequence[float],
    formatter: Callable[[float, int | None], str],
    include: Sequence[float] = (),
) -> None:
    """A logarithmic axis around values, with ticks at 1, 2 and 5 where decades are few."""
    low, high = min([*values, *include]), max([*values, *include])
    margin = max((high / low) ** 0.04, 1.05)
    low, high = low / margin, high * margin
    set_scale, set_limits = (
        (axis.axes.set_xscale, axis.axes.set_xlim)
        if axis.axis_name == "x"
        else (axis.axes.set_yscale, axis.axes.set_ylim)
    )
    set_scale("log")
    set_limits(low, high)
    decades = math.log10(high / low)
    axis.set_major_locator(
        LogLocator(subs=(1, 2, 5) if decades < 2.6 else (1, 3) if decades < 3 else (1,), numticks=30)
    )
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(formatter))
    axis.set_minor_formatter(NullFormatter())


def scatter_figure(
    book: Book,
    name: str,
    title: str,
    text: str,
    policies: Sequence[str],
    x: Callable[[Row], float],
    y: str,
    x_label: str,
    y_label: str,
    one_means: tuple[str, str],
) -> tuple[str, str, str] | None:
    """One number of the rows against another, with a line at one and words for both of its sides."""
    points = {policy: book.points(policy, x, lambda row: getattr(row, y)) for policy in policies}
    every = [point for own in points.values() for point in own]
    if not every:
        return None
    with_means = x_label == ROWS_LABEL
    mean = [Line2D([], [], color=FAINT, linewidth=2, label="mean of a class")] if with_means else []
    figure, (axes,) = book.figure(1, book.markers(policies) + mean, 3.4)
    log_axis(axes.xaxis, [point.x for point in every], plain)
    log_axis(axes.yaxis, [point.y for point in every], ratio, include=(0.8, 1.25))
    mark_one(axes, *one_means)
    if with_means:
        book.class_means(axes, points)
    book.scatter(axes, points)
    if y == "speedup":
        book.name_worst(axes, points)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return book.save(figure, name, title, text)


def mark_one(axes: Axes, above: str, below: str) -> None:
    """A line at one, with words for its two sides in the margin."""
    axes.axhline(1, color=INK, linewidth=1, zorder=2)
    for text, offset, align in ((above, 2, "bottom"), (below, -2, "top")):
        axes.annotate(
            text,
            (1, 1),
            xycoords=axes.get_yaxis_transform(),
            xytext=(4, offset),
            ha="left",
            va=align,
            textcoords="offset points",
            fontsize=7.5,
            color=FAINT,
            annotation_clip=False,
        )


def shares(
    book: Book, axes: Axes, reached: dict[str, list[float]], whole: dict[str, int], end: float
) -> None:
    """For each policy the share of its problems whose value is at most x, as steps from one to `end`."""
    for policy, values in reached.items():
        steps = sorted({1.0, *(value for value in values if value > 1), end})
        share = [100 * bisect.bisect_right(values, x) / whole[policy] for x in steps]
        axes.plot(
            steps,
            share,
            drawstyle="steps-post",
            linewidth=1.8,
            color=book.styles[policy].colour,
            linestyle=book.styles[policy].line,
            zorder=3,
            clip_on=False,
        )
    axes.set_xlim(1, end)
    axes.set_ylim(0, 102)
    axes.set_yticks(range(0, 101, 20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))


def performance_profile(book: Book) -> tuple[str, str, str] | None:
    problems = list(book.results.by_problem.values())
    times = {p: [rows[p].ms if p in rows else None for rows in problems] for p in book.policies}
    best = [min(filter(None, known), default=None) for known in zip(*times.values())]
    ratios = {
        p: sorted(ms / least for ms, least in zip(own, best) if ms and least) for p, own in times.items()
    }
    if not any(ratios.values()):
        return None
    fastest = count_fastest(book.results, book.policies)
    figure, (axes,) = book.figure(
        1,
        book.lines(
            book.policies, lambda p: (f"{book.label(p)} (fastest on {percent(fastest[p], len(problems))})")
        ),
        3.2,
    )
    end = max(own[-1] for own in ratios.values() if own) * 1.05
    log_axis(axes.xaxis, [1, end], ratio)
    shares(book, axes, ratios, dict.fromkeys(ratios, len(problems)), end)
    axes.set_xlabel("time over the time of the fastest policy on the problem")
    axes.set_ylabel("problems solved within it")
    return book.save(
        figure,
        "performance_profile",
        "Performance profile",
        (
            f"Share of the {len(problems)} problems that a policy solves within a multiple of the fastest "
            "policy's time (Dolan and Moré): higher is better, the left edge says how often it is the fastest, "
            "the right edge how often its solution is correct."
        ),
    )


def speedup_by_parallelism(book: Book) -> tuple[str, str, str] | None:
    return scatter_figure(
        book,
        "speedup_rows_per_level",
        f"Speed-up over {book.vendor} by rows per level",
        "Each point is a problem, each bar a geometric mean in a class of rows per level (warm L2 cache).",
        book.contenders,
        lambda row: row.rows_per_level,
        "speedup",
        ROWS_LABEL,
        f"speed-up over {book.vendor}",
        ("faster", "slower"),
    )


def speedup_by_size(book: Book) -> tuple[str, str, str] | None:
    return scatter_figure(
        book,
        "speedup_nnz",
        f"Speed-up over {book.vendor} by size",
        "Each point is a problem (warm L2 cache).",
        book.contenders,
        lambda row: row.nnz,
        "speedup",
        "entries of the triangle",
        f"speed-up over {book.vendor}",
        ("faster", "slower"),
    )


def distance_to_floor(book: Book) -> tuple[str, str, str] | None:
    return scatter_figure(
        book,
        "floor",
        "Distance to the floor",
        "Time of a solve over the larger of its two floors: bytes over the bandwidth of a copy, and levels "
        "times the time in which one value passes from one row to the next through L2. A schedule that keeps "
        "levels inside one SM can be below the second. Bars are geometric means in a class of rows per "
        "level.",
        book.policies,
        lambda row: row.rows_per_level,
        "ratio_to_floor",
        ROWS_LABEL,
        "time over the larger floor",
        ("", "floor"),
    )


def analysis_cost(book: Book) -> tuple[str, str, str] | None:
    own_cost = {p: book.points(p, lambda row: row.rows_per_level, analysis_in_solves) for p in book.policies}
    gain = {
        p: book.points(p, lambda row: row.rows_per_level, lambda row: analysis_speedup(book.results, row))
        for p in book.contenders
    }
    if not any(own_cost.values()) or not any(gain.values()):
        return None
    figure, (left, right) = book.figure(2, book.markers(book.policies))
    for axes, points, formatter in ((left, own_cost, plain), (right, gain, ratio)):
        every = [point for own in points.values() for point in own]
        log_axis(axes.xaxis, [point.x for point in every], plain)
        log_axis(axes.yaxis, [point.y for point in every], formatter, include=(1,) if axes is right else ())
        axes.set_xlabel(ROWS_LABEL)
    mark_one(right, "faster", "slower")
    for axes, points in ((left, own_cost), (right, gain)):
        book.scatter(axes, points)
    left.set_title("Time of the analysis in solves of the same policy")
    right.set_title(f"Speed-up of the analysis over {book.vendor}'s")
    return book.save(
        figure,
        "analysis",
        "Cost of the analysis",
        (f"Left: how many solves the analysis costs. Right: how much faster it is than {book.vendor}'s."),
    )


def break_even(book: Book) -> tuple[str, str, str] | None:
    even = {p: sorted(break_evens(of_policy(book.results, p))) for p in book.contenders}
    even = {p: own for p, own in even.items() if own}
    finite = [value for own in even.values() for value in own if 1 < value < math.inf]
    if not even:
        return None
    figure, (axes,) = book.figure(1, book.lines(even, book.label), 2.8)
    end = max([*finite, 10]) * 1.2
    log_axis(axes.xaxis, [1, end], plain)
    shares(
        book,
        axes,
        {p: [value for value in own if value < math.inf] for p, own in even.items()},
        {p: len(own) for p, own in even.items()},
        end,
    )
    axes.set_xlabel("solves with one pattern")
    axes.set_ylabel("problems where it has paid off")
    return book.save(
        figure,
        "break_even",
        f"Break-even against {book.vendor}",
        (
            f"Share of the problems on which analysis and solves together are cheaper than {book.vendor}'s "
            "after a number of solves."
        ),
    )


def cold_and_warm(book: Book) -> tuple[str, str, str] | None:
    effect = {
        p: book.points(p, lambda row: (row.bytes_moved or 0) / 2**20, cold_over_warm) for p in book.policies
    }
    both = {p: book.points(p, lambda row: row.speedup, lambda row: row.speedup_cold) for p in book.contenders}
    if not any(effect.values()) or not any(both.values()):
        return None
    figure, (left, right) = book.figure(2, book.markers(book.policies))
    sizes, ratios = zip(*(point[:2] for own in effect.values() for point in own))
    log_axis(left.xaxis, sizes, plain)
    log_axis(left.yaxis, ratios, ratio, include=(1, 1.25, 1.12 * max(ratios)))
    left.axhline(1, color=INK, linewidth=1, zorder=2)
    cache = (book.results.context.l2_bytes or 0) / 2**20
    if min(sizes) < cache < max(sizes):
        left.axvline(cache, color=INK, linewidth=1, linestyle=(0, (2, 2)), zorder=2)
        left.annotate(
            "size of L2",
            (cache, 1),
            xycoords=left.get_xaxis_transform(),
            xytext=(-3, -1),
            fontsize=7.5,
            textcoords="offset points",
            ha="right",
            va="top",
            color=FAINT,
        )
    speedups = [value for own in both.values() for point in own for value in point[:2]]
    for axis in (right.xaxis, right.yaxis):
        log_axis(axis, speedups, ratio, include=(1,))
    right.axline((1, 1), (2, 2), color=INK, linewidth=1, zorder=2)
    book.scatter(left, effect)
    book.scatter(right, both)
    left.set_title("Cold over warm L2 cache, single calls")
    left.set_xlabel("data of a solve (MiB)")
    right.set_title(f"Speed-up over {book.vendor}, cold against warm")
    right.set_xlabel("warm")
    right.set_ylabel("cold", labelpad=0)
    return book.save(
        figure,
        "cold_warm",
        "Cold against warm",
        (
            "Left: what it costs that L2 is flushed before the solve. Right: the speed-up with a cold cache "
            f"against that with a warm one; on the line both are equal. {WARM}"
        ),
    )
