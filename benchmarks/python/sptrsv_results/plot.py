"""Small SVG figures: panels with axes, marks, lines and a key, readable on a light and on a dark page.

GitHub shows an SVG file as an <img>, which sees neither the styles nor the fonts of the page. Each file therefore
holds its own colours for both modes (CSS, prefers-color-scheme), has a transparent background, and names fonts that
every system has. Every series has a colour and a mark of its own, so that no figure depends on colour alone.
"""

from __future__ import annotations

import bisect
import html
import math
import pathlib
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

WIDTH = 800.0
FONT = 13.0
KEY_LINE = 19.0
CAPTION_LINE = 12.5
LEFT, RIGHT = 62.0, 14.0  # margins of a panel, with the labels of its axes
TITLE_HEIGHT, X_AXIS_HEIGHT = 22.0, 40.0
NOTE_LINE = 14.0  # of the numbers above a panel
Formatter = Callable[[float], str]


class Look(NamedTuple):
    """The colour on a light and on a dark page, the mark (around 0, 0), and the dashes of a line."""

    light: str
    dark: str
    mark: str
    is_filled: bool
    dashes: str = ""


# The first two, blue and orange, are told apart with every kind of colour blindness.
LOOKS = (
    Look("#0a66c2", "#58a6ff", '<circle r="3.4"/>', True),
    Look("#bc4c00", "#f0883e", '<path d="M0-4 3.7 2.8H-3.7z"/>', False, "7 3"),
    Look("#1a7f5a", "#3fc79a", '<path d="M0-4.6 4.6 0 0 4.6-4.6 0z"/>', True, "10 3 2 3"),
    Look("#8a3fa0", "#d2a0ee", '<path d="M-3-3H3V3H-3z"/>', False, "3 3"),
    Look("#2188a8", "#79d2ec", '<path d="M0 4.2-4-3H4z"/>', True, "4 2"),
    Look("#b8336a", "#ff8fb3", '<path d="M-4 0H4M0-4V4"/>', False, "12 4"),
    Look("#8a6d00", "#e3c04d", '<circle r="3.2"/>', False, "2 5"),
)
BASELINE = Look("#57606a", "#9aa4af", '<path d="M-3-3 3 3M-3 3 3-3"/>', False, "1 2.5")

# (light, dark): text, weaker text, axes, grid, and the gap around a mark, which has the colour of GitHub's page.
INK, MUTED, AXIS = ("#1f2328", "#e6edf3"), ("#57606a", "#9aa4af"), ("#8c959f", "#6e7681")
GRID, GAP = ("#e4e8ec", "#262c34"), ("#ffffff", "#0d1117")


def number(value: float) -> str:
    """A coordinate, rounded to a tenth of a pixel."""
    text = f"{value:.1f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def text_width(text: str, size: float = FONT) -> float:
    """An estimate that also holds for wide fonts."""
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

    def share(self, value: float) -> float:
        """Returns where a value stands between the ends of the axis, 0 to 1."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


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
    if decades < 0.7:
        return Axis(label, low, high, linear_ticks(low, high), formatter)
    factors = (1, 2, 5) if decades < 2.6 else (1, 3) if decades < 3 else (1,)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [factor * 10.0**exponent for exponent in exponents for factor in factors]
    return Axis(label, low, high, [tick for tick in ticks if low <= tick <= high], formatter)


def linear_ticks(low: float, high: float) -> list[float]:
    """Returns at most six multiples of a round step."""
    unit = 10.0 ** math.floor(math.log10(high - low))
    step = next(s for f in (0.1, 0.2, 0.25, 0.5, 1, 2) if (high - low) / (s := f * unit) <= 6)
    return [round(i * step, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def percent_axis(label: str) -> Axis:
    return Axis(label, 0, 102, [0, 20, 40, 60, 80, 100], percentage, is_log=False)


@dataclass
class KeyEntry:
    look: Look
    label: str
    kind: Literal["mark", "line", "marked line", "area"] = "mark"


class Figure:
    """One SVG file: a key at the top, lines for notes, panels side by side, a caption in small print below."""

    def __init__(
        self, title: str, key: Sequence[KeyEntry], panels: int, panel_height: float, caption: str = "", notes: int = 0
    ):
        self.title = title
        self._looks: list[Look] = []
        self._body: list[str] = []
        self._panels = panels
        self._panel_height = panel_height
        self._top = self._draw_key(key) + notes * NOTE_LINE
        below = self._top + panel_height + X_AXIS_HEIGHT + (TITLE_HEIGHT if panels > 1 else 4)
        lines = [part for line in caption.split("\n") for part in textwrap.wrap(line, 140)]
        for i, line in enumerate(lines):
            self.text(line, 4, below + (i + 1) * CAPTION_LINE, "m", size=10)
        self.height = below + len(lines) * CAPTION_LINE + 6

    def index(self, look: Look) -> int:
        """Returns the number of a look in the classes of this file."""
        if look not in self._looks:
            self._looks.append(look)
        return self._looks.index(look)

    def add(self, element: str) -> None:
        self._body.append(element)

    def text(
        self, text: str, x: float, y: float, name: str = "", anchor: str = "", size: float = 0, turned: bool = False
    ) -> None:
        attributes = f' class="{name}"' if name else ""
        attributes += f' text-anchor="{anchor}"' if anchor else ""
        attributes += f' font-size="{size:g}"' if size else ""
        attributes += f' transform="rotate(-90 {number(x)} {number(y)})"' if turned else ""
        self.add(f'<text x="{number(x)}" y="{number(y)}"{attributes}>{html.escape(text, quote=False)}</text>')

    def polyline(self, points: Sequence[tuple[float, float]], attributes: str) -> None:
        """Draws a polyline, or a single point, which SVG needs twice."""
        both = points if len(points) > 1 else [*points, *points]
        coordinates = " ".join(f"{number(x)},{number(y)}" for x, y in both)
        self.add(f'<polyline points="{coordinates}" {attributes}/>')

    def _draw_key(self, key: Sequence[KeyEntry]) -> float:
        """Draws the entries from left to right in as many lines as they need; returns where the panels begin."""
        x, y = 8.0, 16.0
        for entry in key:
            sample = 30.0 if "line" in entry.kind else 12.0
            width = sample + 6 + text_width(entry.label) + 20
            if x > 8 and x + width > WIDTH:
                x, y = 8.0, y + KEY_LINE
            i = self.index(entry.look)
            middle = y - 4.5
            if entry.kind == "mark":
                self.polyline([(x + sample / 2, middle)], f'marker-start="url(#m{i})"')
            elif entry.kind == "area":
                self.add(f'<rect class="f{i}" x="{number(x)}" y="{number(middle - 6)}" width="12" height="12"/>')
            else:
                points = [(x, middle), (x + sample / 2, middle), (x + sample, middle)]
                marker = f' marker-mid="url(#m{i})"' if entry.kind == "marked line" else ""
                self.polyline(points, f'class="l{i} w"{marker}')
            self.text(entry.label, x + sample + 6, y)
            x += width
        return y + 12 if key else 8.0

    def panel(self, position: int, x: Axis, y: Axis, title: str = "") -> Panel:
        """Returns the panel of that position from the left, with its axes drawn."""
        width = WIDTH / self._panels
        top = self._top + (TITLE_HEIGHT if self._panels > 1 else 0)
        left = position * width + LEFT
        panel = Panel(self, left, top, (position + 1) * width - left - RIGHT, self._panel_height, x, y)
        panel.draw_axes(title)
        return panel

    def save(self, path: pathlib.Path) -> None:
        marks = [
            f'<marker id="m{i}" overflow="visible" markerUnits="userSpaceOnUse">'
            + look.mark.replace("/>", f' class="{f"f{i} h" if look.is_filled else f"l{i} o"}"/>')
            + "</marker>"
            for i, look in enumerate(self._looks)
        ]
        rules = [f".l{i}{{stroke-dasharray:{look.dashes}}}" for i, look in enumerate(self._looks) if look.dashes]
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(WIDTH)} {number(self.height)}" role="img"'
            f' font-family="Helvetica,Arial,\'DejaVu Sans\',sans-serif" font-size="{FONT:g}">',
            f"<title>{html.escape(self.title, quote=False)}</title>",
            "<style>",
            "path,polyline,circle{fill:none;stroke-width:1.4}.w{stroke-width:2}.n{stroke-width:1}"
            ".h{stroke-width:.7}.p{font-size:9.5px;text-anchor:middle}",
            self._colours(0),
            *rules,
            ".o{stroke-dasharray:none}",
            f"@media (prefers-color-scheme:dark){{{self._colours(1)}}}",
            "</style>",
            *([f"<defs>{''.join(marks)}</defs>"] if marks else []),
            *self._body,
            "</svg>",
        ]
        path.write_text("\n".join(parts) + "\n", encoding="utf-8")

    def _colours(self, mode: int) -> str:
        """Returns the colours of the light (0) or the dark (1) mode, as CSS."""
        rules = [f"text{{fill:{INK[mode]}}}.m{{fill:{MUTED[mode]}}}.a{{stroke:{AXIS[mode]}}}"]
        rules += [f".g{{stroke:{GRID[mode]}}}.h{{stroke:{GAP[mode]}}}.k{{stroke:{INK[mode]}}}.p{{fill:{GAP[mode]}}}"]
        rules += [f".f{i}{{fill:{look[mode]}}}.l{i}{{stroke:{look[mode]}}}" for i, look in enumerate(self._looks)]
        return "".join(rules)


@dataclass
class Panel:
    """The rectangle between two axes."""

    figure: Figure
    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis
    _taken: list[tuple[float, float]] = field(default_factory=list)  # points that labels should not hide

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Returns the pixel of a point."""
        return self.left + self.width * self.x.share(x), self.top + self.height * (1 - self.y.share(y))

    def draw_axes(self, title: str) -> None:
        right, bottom = self.left + self.width, self.top + self.height
        xs = [(self.at(tick, self.y.low)[0], self.x.formatter(tick)) for tick in self.x.ticks]
        ys = [(self.at(self.x.low, tick)[1], self.y.formatter(tick)) for tick in self.y.ticks]
        grid = "".join(f"M{number(x)} {number(self.top)}V{number(bottom)}" for x, _ in xs)
        grid += "".join(f"M{number(self.left)} {number(y)}H{number(right)}" for y, _ in ys)
        self.figure.add(f'<path class="g n" d="{grid}"/>')
        corner = f"M{number(self.left)} {number(self.top)}V{number(bottom)}H{number(right)}"
        self.figure.add(f'<path class="a n" d="{corner}"/>')
        for x, name in xs:
            self.figure.text(name, x, bottom + 15, "m", "middle", 11)
        for y, name in ys:
            self.figure.text(name, self.left - 6, y + 4, "m", "end", 11)
        self.figure.text(self.x.label, self.left + self.width / 2, bottom + 33, anchor="middle", size=12)
        if self.y.label:
            self.figure.text(self.y.label, self.left - 46, self.top + self.height / 2, "", "middle", 12, turned=True)
        if title:
            self.figure.text(title, self.left - 6, self.top - 10, size=12)

    def marks(self, points: Sequence[tuple[float, float]], look: Look) -> None:
        if points:
            pixels = sorted(self.at(*point) for point in points)
            self._taken += pixels
            self.figure.polyline(pixels, self._markers(look))

    def line(self, points: Sequence[tuple[float, float]], look: Look, is_marked: bool = False) -> None:
        pixels = [self.at(*point) for point in points]
        name = f'class="l{self.figure.index(look)} w"'
        self.figure.polyline(pixels, f"{name} {self._markers(look)}" if is_marked else name)

    def _markers(self, look: Look) -> str:
        """Returns the attributes that draw a mark at each point of a polyline."""
        url = f"url(#m{self.figure.index(look)})"
        return " ".join(f'marker-{where}="{url}"' for where in ("start", "mid", "end"))

    def shares(self, values: Sequence[float], whole: int, look: Look) -> None:
        """Draws the share of `whole` values that are at most x, in percent, as steps along the whole x axis."""
        known = sorted(values)
        steps = [value for value in sorted(set(known)) if value > self.x.low]
        start = self.at(self.x.low, 100 * bisect.bisect_right(known, self.x.low) / whole)
        path = f"M{number(start[0])} {number(start[1])}"
        for value in steps:
            x, y = self.at(value, 100 * bisect.bisect_right(known, value) / whole)
            path += f"H{number(x)}V{number(y)}"
        path += f"H{number(self.left + self.width)}"
        self.figure.add(f'<path class="l{self.figure.index(look)} w" d="{path}"/>')

    def mean(self, low: float, high: float, value: float, look: Look) -> None:
        """Draws a bar from `low` to `high` at the height of a mean."""
        i = self.figure.index(look)
        (x0, y), (x1, _) = self.at(max(low, self.x.low), value), self.at(min(high, self.x.high), value)
        self.figure.add(f'<path class="l{i} w o" d="M{number(x0 + 2)} {number(y)}H{number(x1 - 2)}"/>')

    def above(self, low: float, high: float, line: int, text: str, look: Look) -> None:
        """Writes above the panel, in the middle between two values of x; line 0 is the lowest."""
        x0, x1 = (self.at(x, self.y.low)[0] for x in (max(low, self.x.low), min(high, self.x.high)))
        y = self.top - 7 - line * NOTE_LINE
        self.figure.text(text, (x0 + x1) / 2, y, f"f{self.figure.index(look)}", "middle", 12)

    def above_label(self, line: int, text: str) -> None:
        """Writes into the left margin what the numbers above the panel are."""
        self.figure.text(text, self.left - 6, self.top - 7 - line * NOTE_LINE, "m", "end", 11)

    def vertical(self, x: float, label: str = "") -> None:
        at = self.at(x, self.y.low)[0]
        line = f"M{number(at)} {number(self.top)}V{number(self.top + self.height)}"
        self.figure.add(f'<path class="a n" stroke-dasharray="3 3" d="{line}"/>')
        if label:
            self.figure.text(label, at - 4, self.top + 10, "m", "end", 11)

    def horizontal(self, y: float, above: str = "", below: str = "") -> None:
        """Draws a line, with words for what is above and below it at its left end."""
        at = self.at(self.x.low, y)[1]
        self.figure.add(f'<path class="k n" d="M{number(self.left)} {number(at)}H{number(self.left + self.width)}"/>')
        for text, offset in ((above, -4), (below, 13)):
            if text:
                self.figure.text(text, self.left + 5, at + offset, "m", size=11)
                self._taken += [(self.left + 5 * j, at + offset - 4) for j in range(len(text) + 2)]

    def diagonal(self) -> None:
        """Draws the points of equal x and y."""
        low, high = max(self.x.low, self.y.low), min(self.x.high, self.y.high)
        (x0, y0), (x1, y1) = self.at(low, low), self.at(high, high)
        self.figure.add(f'<path class="k n" d="M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"/>')

    def cell(self, x: int, y: int, look: Look, lines: Sequence[str]) -> None:
        """Fills the square from (x, y) to (x + 1, y + 1) and writes lines of text into it."""
        (x0, y1), (x1, y0) = self.at(x, y), self.at(x + 1, y + 1)
        i = self.figure.index(look)
        size = f'width="{number(x1 - x0 - 1)}" height="{number(y1 - y0 - 1)}"'
        self.figure.add(f'<rect class="f{i}" x="{number(x0)}" y="{number(y0)}" {size}/>')
        for line, text in enumerate(lines):
            base = (y0 + y1) / 2 + 3.5 + (line - (len(lines) - 1) / 2) * 10.5
            self.figure.text(text, (x0 + x1) / 2, base, "p")

    def name_point(self, x: float, y: float, name: str, look: Look) -> None:
        """Writes a name beside a point, where it hides the fewest marks."""
        at, up = self.at(x, y)
        width = text_width(name, 10.5)
        choices = []
        for left, base in ((at + 7, up + 4), (at - 7 - width, up + 4), (at + 4, up + 15), (at - 4 - width, up + 15)):
            hidden = sum(-3 < px - left < width + 3 and -3 < base - py < 13 for px, py in self._taken)
            outside = left < self.left or left + width > self.left + self.width or base > self.top + self.height
            choices.append((outside, hidden, len(choices), left, base))
        *_, left, base = min(choices)
        self.figure.text(name, left, base, f"f{self.figure.index(look)}", size=10.5)
        self._taken += [(left + 5 * j, base - 4) for j in range(int(width / 5) + 1)]
