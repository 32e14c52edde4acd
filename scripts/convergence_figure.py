#!/usr/bin/env python3
"""Draws the residuals that the examples pcg and gmres write with --history as an SVG figure.

usage: convergence_figure.py HISTORY FIGURE.svg

Each line of HISTORY is a run: a name, a colon, and the relative residual of each iteration. The figure has one curve
for each run and needs no Python package.
"""

from __future__ import annotations

import html
import math
import sys
from typing import NamedTuple

WIDTH, HEIGHT = 800, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 20, 50
KEY_LINE = 18
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("none", "7 3", "2 3", "9 3 2 3")


class Run(NamedTuple):
    """A run and its relative residuals by iteration."""

    name: str
    residuals: list[float]


def read_runs(path: str) -> list[Run]:
    """Returns the runs of a file. Raises ValueError, with the line, if it is malformed."""
    runs = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            name, colon, values = line.rpartition(":")
            try:
                residuals = [float(value) for value in values.split()]
            except ValueError:
                residuals = []
            if not colon or not residuals:
                raise ValueError(f"{path}, line {number}: not a name, a colon and residuals")
            runs.append(Run(name, residuals))
    if not runs:
        raise ValueError(f"{path} holds no runs")
    return runs


def draw(runs: list[Run]) -> str:
    """Returns the figure: residuals on a logarithmic axis over the iterations."""
    last = max(1, *(len(run.residuals) - 1 for run in runs))
    positive = [value for run in runs for value in run.residuals if value > 0 and math.isfinite(value)]
    low = math.floor(math.log10(min(positive, default=1e-8)))
    high = max(low + 1, math.ceil(math.log10(max(positive, default=1.0))))

    def x(iteration: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * iteration / last

    def y(exponent: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - exponent) / (high - low)

    height = HEIGHT + KEY_LINE * len(runs)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -24 {WIDTH} {height + 24}" font-family="sans-serif" '
        'font-size="13">',
        "<style>text{fill:#333}.grid{stroke:#999;stroke-opacity:.4}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
        '<text x="0" y="-6" font-size="15">Residuals by iteration</text>',
    ]
    for exponent in range(low, high + 1):
        parts.append(f'<path class="grid" d="M{LEFT} {y(exponent):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(exponent) + 4:.1f}" text-anchor="end">1e{exponent}</text>')
    step = max(1, round(last / 5))
    for iteration in range(0, last + 1, step):
        parts.append(f'<text x="{x(iteration):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{iteration}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">iterations</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">relative residual</text>'
    )
    for k, run in enumerate(runs):
        look = f'fill="none" stroke="{COLOURS[k % 6]}" stroke-width="2" stroke-dasharray="{DASHES[k % 4]}"'
        points = " ".join(
            f"{x(i):.1f},{y(math.log10(value)):.1f}"
            for i, value in enumerate(run.residuals)
            if value > 0 and math.isfinite(value)
        )
        parts.append(f'<polyline {look} points="{points}"/>')
        line = HEIGHT + KEY_LINE * k + 4
        parts.append(f'<path {look} d="M{LEFT} {line}h40"/>')
        label = f"{run.name}: {len(run.residuals) - 1} iterations"
        parts.append(f'<text x="{LEFT + 50}" y="{line + 4}">{html.escape(label)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    try:
        figure = draw(read_runs(arguments[0]))
        with open(arguments[1], "w", encoding="utf-8") as file:
            file.write(figure)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
