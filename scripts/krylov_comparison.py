#!/usr/bin/env python3
"""Runs the examples pcg and gmres beside cuSPARSE on ten or more systems, and prints a table in Markdown.

usage: krylov_comparison.py PROGRAMS [MATRICES] [--figure FIGURE.svg | --fill K]
       krylov_comparison.py PAGE.md --figure FIGURE.svg

PROGRAMS is the folder of pcg and gmres, for example build/default/examples. MATRICES is a folder with the Matrix Market
files of the real systems; without it only the problems on grids are solved. Each system is solved three times with each
library, and the fastest run counts. The figure has the times to the solution and needs no Python package. It can be
drawn again from the table on a page. With --fill
the systems are solved by this library only, with the levels of fill 0 to K.
Exit status: 0 if all systems are solved, 1 if not, 2 for an error in the command line.
"""

from __future__ import annotations

import argparse
import html
import math
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

GMRES, BICGSTAB = "gmres --restart 30", "gmres --method bicgstab"
GRIDS = {
    "5-point, 512 x 512": "pcg --dimensions 2 --grid 512",
    "7-point, 96 x 96 x 96": "pcg --grid 96",
    "27-point, 64 x 64 x 64": "pcg --problem box --grid 64",
    "anisotropic, 512 x 512": "pcg --problem anisotropic --dimensions 2 --grid 512",
    "elasticity, 24 x 24 x 24": "pcg --problem elasticity --grid 24",
    "convection-diffusion, 64 x 64 x 64": f"{GMRES} --grid 64",
    "convection-diffusion, 256 x 256": f"{BICGSTAB} --dimensions 2 --grid 256",
}
FILES = {
    "G3_circuit": "pcg --laplacian",
    "t60k": "pcg --laplacian",
    "bcsstk32": "pcg --laplacian",
    "Dubcova1": "pcg",
    "teko_lsc_F_2": GMRES,
}
METHODS = {"pcg": "CG, IC(0)", GMRES: "GMRES(30), ILU(0)", BICGSTAB: "BiCGStab, ILU(0)"}
WIDTH, LABELS, TOP, STEP = 800, 270, 64, 30
COLOURS = (("sptrsv", "#0072b2"), ("cuSPARSE", "#d55e00"))


class Result(NamedTuple):
    """What one system took; pairs are of this library and of cuSPARSE, times in milliseconds."""

    name: str
    method: str
    rows: str
    entries: str
    levels: str
    iterations: tuple[str, str]
    setup: tuple[float, float]
    total: tuple[float, float]

    @property
    def speed_up(self) -> float:
        return self.total[1] / self.total[0]


def read_cells(output: str, solutions: int) -> dict[str, list[str]]:
    """Reads the table that a program has printed. Raises ValueError if it has not as many solutions."""
    cells = {row[0]: row[1:] for row in (re.split(r" {2,}", line.strip()) for line in output.splitlines())}
    if cells.get("solution") != ["OK"] * solutions:
        raise ValueError(output.strip().splitlines()[-1] if output.strip() else "no output")
    return cells


def levels_of(cells: dict[str, list[str]]) -> str:
    """Returns the levels of both solves, once if they are the same."""
    return " and ".join(dict.fromkeys(cells["levels of the solves"][0].split(", ")))


def read_result(name: str, method: str, output: str) -> Result:
    """Reads the table of two solutions. Raises ValueError if it is none."""
    cells = read_cells(output, 2)

    def pair(label: str) -> tuple[float, float]:
        first, second = (float(cell.removesuffix(" ms")) for cell in cells[label][:2])
        if not 0 < min(first, second) < math.inf:
            raise ValueError(f"{label}: {first:g} and {second:g} ms have no ratio")
        return first, second

    iterations = (cells["iterations"][0], cells["iterations"][1])
    return Result(
        name,
        method,
        cells["rows"][0],
        cells["entries"][0],
        levels_of(cells),
        iterations,
        pair("set-up"),
        pair("time to the solution"),
    )


def run(command: list[str]) -> str:
    """Returns what a program prints for the fastest of three runs. Raises ValueError if it cannot be started."""
    try:
        done = subprocess.run([*command, "--repeat", "3"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ValueError(str(error)) from error
    return done.stdout + done.stderr


def solve(name: str, command: list[str], method: str) -> Result:
    """Solves a system. Raises ValueError if that fails."""
    return read_result(name, method, run([*command, "--compare", "cusparse"]))


def fill_rows(name: str, command: list[str], method: str, most: int) -> list[str]:
    """Returns a line of the table for each level of fill. Raises ValueError if a run fails."""
    rows = []
    for level in range(most + 1):
        cells = read_cells(run([*command, "--fill", str(level)]), 1)
        times = [
            float(cells[label][0].removesuffix(" ms"))
            for label in ("set-up", "time of the iterations", "time to the solution")
        ]
        rows.append(
            f"| {name} | {method.replace('(0)', f'({level})')} | {cells['entries of the factors'][0]} "
            f"| {levels_of(cells)} | {cells['iterations'][0]} | " + " | ".join(f"{t:.4g}" for t in times) + " |"
        )
    return rows


FILL_TABLE = [
    "| system | method | entries of the factors | levels | iterations | set-up, ms | iterations, ms | both, ms |",
    "|---|---|---|---|---|---|---|---|",
]


def mean(results: list[Result]) -> float:
    """Returns the geometric mean of the speed-ups."""
    return math.exp(sum(math.log(result.speed_up) for result in results) / len(results))


def table(results: list[Result]) -> str:
    """Returns the table: times of this library and of cuSPARSE, and how many times as fast it is."""
    lines = [
        "| system | method | rows | entries | levels | iterations | by cuSPARSE | set-up, ms | by cuSPARSE "
        "| to the solution, ms | by cuSPARSE | speed-up |",
        "|---|---|" + "--:|" * 10,
    ]
    lines += [
        f"| {r.name} | {r.method} | {r.rows} | {r.entries} | {r.levels} | {r.iterations[0]} | {r.iterations[1]} "
        f"| {r.setup[0]:.3g} | {r.setup[1]:.3g} | {r.total[0]:.4g} | {r.total[1]:.4g} | **{r.speed_up:.2f}** |"
        for r in results
    ]
    worst = min(results, key=lambda result: result.speed_up)
    lines += [
        "",
        f"{mean(results):.2f} times as fast in the geometric mean of {len(results)} systems, "
        f"at least {worst.speed_up:.2f} ({worst.name}).",
    ]
    return "\n".join(lines)


def read_table(text: str) -> list[Result]:
    """Returns the results in the table of a page, as `table` prints it. Raises ValueError if it has none."""
    results = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 12 and cells[11].startswith("**"):
            setup, other_setup, total, other_total = map(float, cells[7:11])
            iterations = (cells[5], cells[6])
            results.append(Result(*cells[:5], iterations, (setup, other_setup), (total, other_total)))
    if not results:
        raise ValueError("the page has no table of results")
    return results


def figure(results: list[Result]) -> str:
    """Returns the figure: a line for each system and library, from the time of the set-up to that of the solution."""
    height = TOP + STEP * len(results) + 44
    times = [time for result in results for time in (*result.setup, *result.total)]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(time: float) -> float:
        return LABELS + (WIDTH - LABELS - 60) * (math.log10(time) - low) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'font-size="13">',
        "<style>text{fill:#333}.grid{stroke:#999;stroke-opacity:.4}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
        '<text x="0" y="16" font-size="15">Time to a residual of 1e-8 by sptrsv and by cuSPARSE</text>',
    ]
    for k, (library, colour) in enumerate(COLOURS):
        at = 6 + 330 * k
        parts.append(f'<circle cx="{at}" cy="36" r="4" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<path stroke="{colour}" stroke-width="1.5" d="M{at + 4} 36h36"/>')
        parts.append(f'<circle cx="{at + 44}" cy="36" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{at + 56}" y="40">{library}: set-up, and set-up with iterations</text>')
    for exponent in range(low, high + 1):
        at = x(10.0**exponent)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP - 8}V{height - 40}"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - 24}" text-anchor="middle">{10.0**exponent:g}</text>')
    parts.append(
        f'<text x="{x(10 ** ((low + high) / 2)):.1f}" y="{height - 6}" text-anchor="middle">ms (logarithmic)</text>'
    )
    for k, r in enumerate(results):
        top = TOP + STEP * k
        parts.append(f'<text x="{LABELS - 8}" y="{top + 14}" text-anchor="end">{html.escape(r.name)}</text>')
        for which, (_, colour) in enumerate(COLOURS):
            y, setup, end = top + 4 + 11 * which, x(r.setup[which]), x(r.total[which])
            parts.append(f'<circle cx="{setup:.1f}" cy="{y}" r="4" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            parts.append(f'<path stroke="{colour}" stroke-width="1.5" d="M{setup + 4:.1f} {y}H{end:.1f}"/>')
            parts.append(f'<circle cx="{end:.1f}" cy="{y}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - 4}" y="{top + 14}" text-anchor="end">{r.speed_up:.1f}x</text>')
    parts.append(f'<text x="{WIDTH - 4}" y="{TOP - 12}" text-anchor="end">speed-up</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("matrices", type=pathlib.Path, nargs="?")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--figure", type=pathlib.Path)
    output.add_argument("--fill", type=int)
    options = parser.parse_args(arguments)
    if options.programs.suffix == ".md":
        if options.figure is None:
            parser.error("a page needs --figure")
        try:
            drawn = figure(read_table(options.programs.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            print(f"error: {options.programs}: {error}", file=sys.stderr)
            return 1
        options.figure.write_text(drawn, encoding="utf-8")
        return 0
    systems = {name: command.split() for name, command in GRIDS.items()}
    if options.matrices is not None:
        for name, text in FILES.items():
            command = text.split()
            systems[name] = [command[0], str(options.matrices / f"{name}.mtx"), *command[1:]]
    results: list[Result] = []
    failures = 0
    if options.fill is not None:
        print("\n".join(FILL_TABLE))
    for name, arguments_of in systems.items():
        text = (GRIDS | FILES)[name]
        method = next(method for start, method in METHODS.items() if text.startswith(start))
        command = [str(options.programs / arguments_of[0]), *arguments_of[1:]]
        try:
            if options.fill is not None:
                print("\n".join(fill_rows(name, command, method, options.fill)), flush=True)
            else:
                results.append(solve(name, command, method))
        except ValueError as error:
            failures += 1
            print(f"error: {name}: {error}", file=sys.stderr)
    if results:
        print(table(results))
        if options.figure is not None:
            options.figure.write_text(figure(results), encoding="utf-8")
    return 0 if failures == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
