"""SVG figures by matplotlib: panels with axes, marks, lines and a key, readable on a light and on a dark page.

GitHub shows an SVG file as an <img>, which sees neither the styles nor the fonts of the page. Each file therefore
holds its own colours for both modes (CSS, prefers-color-scheme), has a transparent background, and leaves the font to
the browser. matplotlib draws in the light colours; `compact` adds the dark ones and makes the file small. Every series
has a colour and a mark of its own, so that no figure depends on colour alone.
"""

from __future__ import annotations

import html
import io
import math
import pathlib
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, MaxNLocator
from matplotlib.transforms import Affine2D

WIDTH = 800.0
FONT = 13.0
KEY_LINE = 19.0
CAPTION_LINE = 12.5
LEFT, RIGHT = 62.0, 14.0  # margins of a panel, with the labels of its axes
TITLE_HEIGHT, X_AXIS_HEIGHT = 22.0, 40.0
NOTE_LINE = 14.0  # of the numbers above a panel
Formatter = Callable[[float], str]


class Look(NamedTuple):
    """The colour on a light and on a dark page, matplotlib's mark and its size, and the dashes of a line."""

    light: str
    dark: str
    mark: str
    size: float
    is_filled: bool
    dashes: tuple[float, ...] = ()

    def marks(self) -> dict[str, Any]:
        """Returns the arguments that draw marks."""
        common = {"color": self.light, "marker": self.mark, "markersize": self.size}
        if self.is_filled:
            return common | {"markeredgecolor": GAP[0], "markeredgewidth": 0.7}
        return common | {"fillstyle": "none", "markeredgewidth": 1.4}

    def line(self) -> dict[str, Any]:
        """Returns the arguments that draw a line."""
        return {"color": self.light, "linewidth": 2, "linestyle": (0, self.dashes) if self.dashes else "-"}


# The first two, blue and orange, are told apart with every kind of colour blindness.
LOOKS = (
    Look("#0a66c2", "#58a6ff", "o", 6.8, True),
    Look("#bc4c00", "#f0883e", "^", 7, False, (7, 3)),
    Look("#1a7f5a", "#3fc79a", "D", 6.5, True, (10, 3, 2, 3)),
    Look("#8a3fa0", "#d2a0ee", "s", 6, False, (3, 3)),
    Look("#2188a8", "#79d2ec", "v", 7.6, True, (4, 2)),
    Look("#b8336a", "#ff8fb3", "+", 8, False, (12, 4)),
    Look("#8a6d00", "#e3c04d", "o", 6.4, False, (2, 5)),
)
BASELINE = Look("#57606a", "#9aa4af", "x", 6, False, (1, 2.5))

# (light, dark): text, weaker text, axes, grid, and the gap around a mark, which has the colour of GitHub's page.
INK, MUTED, AXIS = ("#1f2328", "#e6edf3"), ("#57606a", "#9aa4af"), ("#8c959f", "#6e7681")
GRID, GAP = ("#e4e8ec", "#262c34"), ("#ffffff", "#0d1117")
DARK = dict((*(look[:2] for look in (*LOOKS, BASELINE)), INK, MUTED, AXIS, GRID, GAP))  # by the light colour

matplotlib.rcdefaults()  # the figures do not depend on the settings of a user
matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "text.parse_math": False,
        "font.sans-serif": ["DejaVu Sans"],  # matplotlib's own, so that it places text alike on every machine
        "font.size": FONT,
        "text.color": INK[0],
        "figure.dpi": 72,  # one pixel is one point
        "lines.linewidth": 1,
        "lines.scale_dashes": False,
        "lines.dash_capstyle": "butt",
        "lines.solid_capstyle": "butt",
        "axes.edgecolor": AXIS[0],
        "axes.labelcolor": INK[0],
        "axes.labelsize": 12,
        "axes.labelpad": 7,
        "axes.linewidth": 1,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
    }
)


def text_width(text: str, size: float = FONT) -> float:
    """Returns an estimate that also holds for wide fonts."""
    return 0.52 * size * len(text)


def plain(value: float) -> str:
    """Returns the number of a tick, without an exponent as long as it is short."""
    if value >= 1e6:
        return f"{value / 1e6:g} M" if value < 1e9 else f"{value / 1e9:g} G"
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def ratio(value: float) -> str:
    return f"{plain(value)}x"


def percentage(value: float) -> str:
    return f"{value:g} %"


@dataclass(frozen=True)
class Axis:
    label: str
    low: float
    high: float
    ticks: list[float]
    formatter: Formatter
    is_log: bool = True


def log_axis(
    label: str,
    values: Iterable[float],
    formatter: Formatter,
    include: Sequence[float] = (),
    with_margin: bool = True,
) -> Axis:
    """Returns a logarithmic axis around the values and those of `include`, with round ticks."""
    known = [*values, *include]
    low, high = min(known), max(known)
    if with_margin or low == high:
        margin = max((high / low) ** 0.04, 1.05)
        low, high = low / margin, high * margin
    decades = math.log10(high / low)
    factors = (1, 2, 5) if decades < 2.6 else (1, 3) if decades < 3 else (1,)
    locator = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]) if decades < 0.7 else LogLocator(subs=factors, numticks=14)
    ticks = [float(tick) for tick in locator.tick_values(low, high) if low <= tick <= high]
    return Axis(label, low, high, ticks, formatter)


def percent_axis(label: str) -> Axis:
    return Axis(label, 0, 102, [0, 20, 40, 60, 80, 100], percentage, is_log=False)


@dataclass
class KeyEntry:
    look: Look
    label: str
    kind: Literal["mark", "line", "marked line", "area"] = "mark"


class Figure:
    """One SVG file: a key, lines for notes, panels side by side, a caption in small print below.

    The title stands above a single panel; several panels have titles of their own.
    """

    def __init__(
        self, title: str, key: Sequence[KeyEntry], panels: int, panel_height: float, caption: str = "", notes: int = 0
    ):
        self.title = title
        self._panels = panels
        self._panel_height = panel_height
        self._drawing = Drawing()
        self._drawing.patch.set_visible(False)
        self._pixels = Affine2D().scale(1, -1)  # from SVG's pixels, which count downwards
        if panels == 1:
            self._text(8, 16, title, fontsize=12)
        self._top = self._draw_key(key, 0 if panels > 1 else TITLE_HEIGHT) + notes * NOTE_LINE
        self._top += TITLE_HEIGHT if panels > 1 else 0
        below = self._top + panel_height + X_AXIS_HEIGHT + (0 if panels > 1 else 4)
        lines = [part for line in caption.split("\n") for part in textwrap.wrap(line, 140)]
        for i, line in enumerate(lines):
            self._text(4, below + (i + 1) * CAPTION_LINE, line, color=MUTED[0], fontsize=10)
        self.height = below + len(lines) * CAPTION_LINE + 6
        self._pixels.translate(0, self.height)
        self._drawing.set_size_inches(WIDTH / 72, self.height / 72)

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        self._drawing.text(x, y, text, transform=self._pixels, **style)

    def _draw_key(self, key: Sequence[KeyEntry], top: float) -> float:
        """Draws the entries from left to right in as many lines as they need; returns where the panels begin."""
        x, y = 8.0, top + 16.0
        for entry in key:
            sample = 30.0 if "line" in entry.kind else 12.0
            width = sample + 6 + text_width(entry.label) + 20
            if x > 8 and x + width > WIDTH:
                x, y = 8.0, y + KEY_LINE
            middle = y - 4.5
            if entry.kind == "area":
                artist: Artist = Rectangle((x, middle - 6), 12, 12, color=entry.look.light, linewidth=0)
            else:
                style = entry.look.line() if "line" in entry.kind else {"linestyle": ""}
                style |= entry.look.marks() if "mark" in entry.kind else {}
                artist = Line2D([x, x + sample / 2, x + sample], [middle] * 3, markevery=[1], **style)
            artist.set_transform(self._pixels)
            self._drawing.add_artist(artist)
            self._text(x + sample + 6, y, entry.label)
            x += width
        return y + 12 if key else top + 8

    def panel(self, position: int, x: Axis, y: Axis, title: str = "") -> Panel:
        """Returns the panel of that position from the left, with its axes drawn."""
        width = WIDTH / self._panels - LEFT - RIGHT
        left = position * WIDTH / self._panels + LEFT
        bottom = self.height - self._top - self._panel_height
        rectangle = (left / WIDTH, bottom / self.height, width / WIDTH, self._panel_height / self.height)
        axes = self._drawing.add_axes(rectangle)
        axes.patch.set_visible(False)
        axes.set(xscale="log" if x.is_log else "linear", yscale="log" if y.is_log else "linear")
        axes.set(xlim=(x.low, x.high), ylim=(y.low, y.high), xlabel=x.label, ylabel=y.label)
        axes.set_xticks(x.ticks, [x.formatter(tick) for tick in x.ticks])
        axes.set_yticks(y.ticks, [y.formatter(tick) for tick in y.ticks])
        axes.grid(color=GRID[0], linewidth=1)
        axes.minorticks_off()
        axes.tick_params(length=0, pad=6, labelsize=11, labelcolor=MUTED[0])
        axes.yaxis.set_label_coords(-44 / width, 0.5)
        panel = Panel(axes, x, y)
        if title:
            panel.note(title, (0, 1), (-6, 10), "axes fraction", color=INK[0], fontsize=12)
        return panel

    def save(self, path: pathlib.Path) -> None:
        drawn = io.StringIO()
        self._drawing.savefig(drawn, format="svg")
        path.write_text(compact(drawn.getvalue(), self.title, self.height), encoding="utf-8")


def compact(svg: str, title: str, height: float) -> str:
    """Returns matplotlib's SVG file without what a browser does not need, and with colours for both modes."""
    body = svg[svg.index("</defs>") + len("</defs>") : svg.rindex("</svg>")]  # what follows the style sheet
    # matplotlib repeats the style of a mark wherever it uses the mark.
    uses = dict(re.findall(r'<use xlink:href="#(\w+)" [^>]*(style="[^"]*")', body))
    for i, (mark, style) in enumerate(uses.items()):
        body = re.sub(rf'id="{mark}" (d="[^"]*") style="[^"]*"', rf'id="m{i}" \1 {style}', body)
        body = re.sub(rf'<use xlink:href="#{mark}" ([^>]*) style="[^"]*"', rf'<use href="#m{i}" \1', body)
    clips = r'<defs>\s*<clipPath.*?</defs>| clip-path="[^"]*"'
    body = re.sub(rf'<!--.*?-->|</?g\b[^>]*>|{clips}| transform="rotate\(-0 [^"]*"', "", body, flags=re.DOTALL)
    body = re.sub(r"<[^>]*>", lambda tag: short_numbers(tag[0]), body)
    body, rules = with_classes(body)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" role="img">',
        f"<title>{html.escape(title, quote=False)}</title>",
        f"<style>\n{rules}\n</style>",
        re.sub(r"\s*\n\s*", "\n", body).strip(),
        "</svg>\n",
    ]
    return "\n".join(parts)


def short_numbers(tag: str) -> str:
    """Returns a tag with its numbers rounded to a tenth of a pixel, and its path in one line."""
    rounded = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), tag)
    return re.sub(r" ?\n|(?<=[MLCQ]) ", "", rounded)


def with_classes(body: str) -> tuple[str, str]:
    """Replaces the styles of the elements by classes; also returns their rules, with other colours on a dark page."""
    light, dark = [], []
    for i, style in enumerate(dict.fromkeys(re.findall(r'style="([^"]*)"', body))):
        body = body.replace(f'style="{style}"', f'class="s{i}"')
        light.append(f".s{i}{{{style}}}".replace("'DejaVu Sans', ", ""))
        colours = re.findall(r"(fill|stroke): (#\w{6})", style)
        dark.append(f".s{i}{{{';'.join(f'{what}:{DARK[colour]}' for what, colour in colours)}}}")
    return body, "\n".join([*light, f"@media (prefers-color-scheme:dark){{{''.join(dark)}}}"])


@dataclass
class Panel:
    """The rectangle between two axes."""

    axes: Axes
    x: Axis
    y: Axis
    _taken: list[tuple[float, float]] = field(default_factory=list)  # pixels that names of points should not hide

    def marks(self, points: Sequence[tuple[float, float]], look: Look) -> None:
        self._plot(points, linestyle="", **look.marks())
        self._taken += [self.axes.transData.transform(point) for point in points]

    def line(self, points: Sequence[tuple[float, float]], look: Look, is_marked: bool = False) -> None:
        self._plot(points, **look.line() | (look.marks() if is_marked else {}))

    def _plot(self, points: Sequence[tuple[float, float]], **style: Any) -> None:
        if points:
            self.axes.plot(*zip(*points, strict=True), clip_on=False, **style)

    def shares(self, values: Sequence[float], whole: int, look: Look) -> None:
        """Draws the share of `whole` values that are at most x, in percent, as steps along the whole x axis."""
        ends = sorted({self.x.low, self.x.high, *(value for value in values if value > self.x.low)})
        points = [(end, 100 * sum(value <= end for value in values) / whole) for end in ends]
        self._plot(points, drawstyle="steps-post", **look.line())

    def mean(self, low: float, high: float, value: float, look: Look) -> None:
        """Draws a bar from `low` to `high` at the height of a mean."""
        # An arrow without a head, since matplotlib leaves a gap of two pixels at both ends of an arrow.
        bar = {"arrowstyle": "-", "color": look.light, "linewidth": 2, "capstyle": "butt"}
        self.axes.annotate("", (max(low, self.x.low), value), (min(high, self.x.high), value), arrowprops=bar)

    def note(self, text: str, at: tuple[float, float], offset: tuple[float, float], space: Any, **style: Any) -> None:
        """Writes at an offset in pixels from a point of one of matplotlib's coordinate systems."""
        style = {"color": MUTED[0], "fontsize": 11} | style
        self.axes.annotate(text, at, offset, space, "offset points", **style)

    def above(self, low: float, high: float, line: int, text: str, look: Look) -> None:
        """Writes above the panel, in the middle between two values of x; line 0 is the lowest."""
        middle = math.sqrt(max(low, self.x.low) * min(high, self.x.high))
        style = {"color": look.light, "fontsize": 12, "ha": "center"}
        self.note(text, (middle, 1), (0, 7 + line * NOTE_LINE), self.axes.get_xaxis_transform(), **style)

    def above_label(self, line: int, text: str) -> None:
        """Writes into the left margin what the numbers above the panel are."""
        self.note(text, (0, 1), (-6, 7 + line * NOTE_LINE), "axes fraction", ha="right")

    def vertical(self, x: float, label: str = "") -> None:
        self.axes.axvline(x, color=AXIS[0], linestyle=(0, (3, 3)))
        self.note(label, (x, 1), (-4, -10), self.axes.get_xaxis_transform(), ha="right")

    def horizontal(self, y: float, above: str = "", below: str = "") -> None:
        """Draws a line, with words for what is above and below it at its left end."""
        self.axes.axhline(y, color=INK[0])
        left, at = self.axes.transData.transform((self.x.low, y))
        for text, offset in ((above, 4), (below, -13)):
            self.note(text, (0, y), (5, offset), self.axes.get_yaxis_transform())
            self._taken += [(left + 5 * j, at + offset + 4) for j in range(len(text) + 2) if text]

    def diagonal(self) -> None:
        """Draws the points of equal x and y."""
        ends = max(self.x.low, self.y.low), min(self.x.high, self.y.high)
        self.axes.plot(ends, ends, color=INK[0])

    def cell(self, x: int, y: int, look: Look, lines: Sequence[str]) -> None:
        """Fills the square from (x, y) to (x + 1, y + 1) and writes lines of text into it."""
        self.axes.add_patch(Rectangle((x, y), 1, 1, facecolor=look.light, edgecolor=GAP[0], linewidth=1))
        for line, text in enumerate(lines):
            offset = (0, -3.5 - (line - (len(lines) - 1) / 2) * 10.5)
            self.note(text, (x + 0.5, y + 0.5), offset, "data", color=GAP[0], fontsize=9.5, ha="center")

    def name_point(self, x: float, y: float, name: str, look: Look) -> None:
        """Writes a name beside a point, where it hides the fewest marks."""
        at, up = self.axes.transData.transform((x, y))
        width = text_width(name, 10.5)
        choices = []
        for dx, dy in ((7, -4), (-7 - width, -4), (4, -15), (-4 - width, -15)):
            left, base = at + dx, up + dy
            hidden = sum(-3 < px - left < width + 3 and -3 < py - base < 13 for px, py in self._taken)
            outside = not (self.axes.bbox.contains(left, base) and self.axes.bbox.contains(left + width, base))
            choices.append((outside, hidden, len(choices), dx, dy))
        *_, dx, dy = min(choices)
        self.note(name, (x, y), (dx, dy), "data", color=look.light, fontsize=10.5)
        self._taken += [(at + dx + 5 * j, up + dy + 4) for j in range(int(width / 5) + 1)]
