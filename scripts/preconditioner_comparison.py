#!/usr/bin/env python3
"""Solves systems with all preconditioners of the examples pcg and gmres, and prints tables in Markdown.

usage: preconditioner_comparison.py PROGRAMS [MATRICES] [--only REGEX] [--cusparse]

PROGRAMS is the folder of pcg and gmres, for example build/default/examples. MATRICES is a folder with Matrix Market
files (.mtx or .mtx.gz), in subfolders whose names say of what kind they are: symmetric ones are solved by conjugate
gradients, the others by GMRES(30); of a file without values the graph's Laplacian is solved. Without it only the
problems on grids are solved.
The first table has a line for each system: the iterations and the milliseconds to a residual of 1e-8, set-up included,
of the fastest preconditioner of each class. The second one has a line for each kind of systems: the preconditioner of
each class that one would take for all of them, and its time over that of the fastest on each system, in the geometric
mean and at most. With --cusparse each system is solved with IC(0) or ILU(0) in the natural order only, by this library
and by cuSPARSE. Exit status: 0 if each system was solved by some preconditioner, 1 if not.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
from typing import NamedTuple

import krylov_comparison

GMRES = "gmres --restart 30 --max-iterations 3000"
PCG = "pcg --max-iterations 5000"
GRIDS = {  # by kind of system
    "diffusion on grids": {
        "5-point, 512 x 512": f"{PCG} --dimensions 2 --grid 512",
        "5-point, 1000 x 1000": f"{PCG} --dimensions 2 --grid 1000",
        "9-point, 512 x 512": f"{PCG} --problem box --dimensions 2 --grid 512",
        "7-point, 64 x 64 x 64": f"{PCG} --grid 64",
        "7-point, 96 x 96 x 96": f"{PCG} --grid 96",
        "7-point, 128 x 128 x 128": f"{PCG} --grid 128",
        "27-point, 64 x 64 x 64": f"{PCG} --problem box --grid 64",
    },
    "anisotropic diffusion": {
        "anisotropic, 512 x 512": f"{PCG} --problem anisotropic --dimensions 2 --grid 512",
        "anisotropic, 64 x 64 x 64": f"{PCG} --problem anisotropic --grid 64",
    },
    "elasticity": {
        "elasticity, 16 x 16 x 16": f"{PCG} --problem elasticity --grid 16",
        "elasticity, 24 x 24 x 24": f"{PCG} --problem elasticity --grid 24",
    },
    "convection-diffusion": {
        "convection-diffusion, 256 x 256": f"{GMRES} --dimensions 2 --grid 256",
        "convection-diffusion, 64 x 64 x 64": f"{GMRES} --grid 64",
        "convection-diffusion, 64 x 64 x 64, Peclet 1": f"{GMRES} --grid 64 --peclet 1",
        "convection-diffusion, 64 x 64 x 64, Peclet 100": f"{GMRES} --grid 64 --peclet 100",
        "convection-diffusion, 96 x 96 x 96": f"{GMRES} --grid 96",
    },
}
CLASSES = {  # by the beginning of a preconditioner's name
    "exact solves": ("IC(", "ILU(0)", "ILU(1)", "SSOR", "DILU"),
    "Jacobi sweeps": ("ILU(0) by",),
    "ISAI": ("ISAI",),
    "polynomial": ("Chebyshev",),
    "diagonal, blocks, none": ("Jacobi", "SPAI", "block Jacobi", "no preconditioner"),
}


class Run(NamedTuple):
    """What one preconditioner took; the time in milliseconds has the set-up in it."""

    name: str
    iterations: str
    total: float


def class_of(name: str) -> str:
    """Returns the class of a preconditioner: that of the longest beginning of its name."""
    return max(
        ((len(start), kind) for kind, starts in CLASSES.items() for start in starts if name.startswith(start)),
        default=(0, "other"),
    )[1]


def read_runs(output: str) -> list[Run]:
    """Returns the runs that have converged, of the table that a program has printed."""
    rows = (re.split(r" {2,}", line.strip()) for line in output.splitlines())
    return [Run(row[0], row[2], float(row[4].removesuffix(" ms"))) for row in rows if len(row) == 6 and row[5] == "OK"]


def command_of(matrix: pathlib.Path) -> str:
    """Returns the command that solves a file, by the first line of the file."""
    with gzip.open(matrix, "rt") if matrix.suffix == ".gz" else matrix.open() as file:
        header = file.readline().lower().split()
    program, *options = (PCG if "symmetric" in header else GMRES).split()
    return shlex.join([program, str(matrix), *options, *(["--laplacian"] if "pattern" in header else [])])


def line_of(system: str, runs: list[Run]) -> str:
    """Returns the line of a system."""
    best = min(runs, key=lambda run: run.total)
    cells = []
    for kind in CLASSES:
        fastest = min((run for run in runs if class_of(run.name) == kind), key=lambda run: run.total, default=None)
        if fastest is None:
            cells.append("-")
        else:
            cell = f"{fastest.name}: {fastest.iterations}, {fastest.total:.4g}"
            cells.append(f"**{cell}**" if fastest is best else cell)
    return f"| {system} | " + " | ".join(cells) + " |"


def systems_of(matrices: pathlib.Path | None) -> list[tuple[str, str, str]]:
    """Returns the kind, the name and the command of each system."""
    systems = [(kind, name, command) for kind, grids in GRIDS.items() for name, command in grids.items()]
    if matrices is not None:
        files = sorted([*matrices.rglob("*.mtx"), *matrices.rglob("*.mtx.gz")])
        for file in files:
            kind = "files" if file.parent == matrices else file.parent.name
            systems.append((kind, file.name.split(".mtx")[0], command_of(file)))
    return systems


def recommend(kind: str, solved: list[list[Run]]) -> str:
    """Returns the line of a kind: the preconditioner of each class that solves most of its systems, among these the one
    whose times are shortest, relative to the fastest of all; the best of these in bold."""
    ratios: dict[str, list[float]] = collections.defaultdict(list)
    for runs in solved:
        fastest = min(run.total for run in runs)
        for run in runs:
            ratios[run.name].append(run.total / fastest)
    rank = {name: (-len(found), statistics.geometric_mean(found)) for name, found in ratios.items()}
    takes = {of: [name for name in rank if class_of(name) == of] for of in CLASSES}
    chosen = {of: min(names, key=lambda name: rank[name]) for of, names in takes.items() if names}
    winner = min(chosen.values(), key=lambda name: rank[name])
    cells = []
    for of in CLASSES:
        if of not in chosen:
            cells.append("-")
            continue
        name = chosen[of]
        cell = f"{name}: {rank[name][1]:.2f}, at most {max(ratios[name]):.2f}"
        if len(ratios[name]) < len(solved):
            cell += f"; solves {len(ratios[name])}"
        cells.append(f"**{cell}**" if name == winner else cell)
    return f"| {kind} | {len(solved)} | " + " | ".join(cells) + " |"


def run(programs: pathlib.Path, command: str, compare: str) -> str:
    """Returns what a program prints for a system."""
    program, *rest = shlex.split(command)
    arguments = [str(programs / program), *rest, "--compare", compare, "--repeat", "2"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def compare_with_cusparse(programs: pathlib.Path, systems: list[tuple[str, str, str]]) -> int:
    """Prints the table of this library and of cuSPARSE; returns how many systems were not solved by both."""
    results = []
    for _, system, command in systems:
        method = "CG, IC(0)" if command.startswith("pcg") else "GMRES(30), ILU(0)"
        try:
            results.append(krylov_comparison.read_result(system, method, run(programs, command, "cusparse")))
        except (KeyError, ValueError) as error:
            print(f"{system}: not solved by both: {error}", file=sys.stderr)
    if results:
        print(krylov_comparison.table(results))
    return len(systems) - len(results)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("matrices", type=pathlib.Path, nargs="?")
    parser.add_argument("--only", default="", help="a regular expression for the names of the systems")
    parser.add_argument("--cusparse", action="store_true", help="compare IC(0) and ILU(0) with those of cuSPARSE only")
    options = parser.parse_args(arguments)
    systems = [each for each in systems_of(options.matrices) if re.search(options.only, each[1])]
    if options.cusparse:
        return 1 if compare_with_cusparse(options.programs, systems) else 0
    by_kind: dict[str, list[list[Run]]] = collections.defaultdict(list)
    failures = 0
    print("| system | " + " | ".join(CLASSES) + " |\n|---|" + "---|" * len(CLASSES))
    for kind, system, command in systems:
        output = run(options.programs, command, "alternatives")
        runs = read_runs(output)
        if runs:
            print(line_of(system, runs), flush=True)
            by_kind[kind].append(runs)
        else:
            failures += 1
            said = output.strip().splitlines()
            print(f"{system}: no preconditioner has converged: {said[-1] if said else ''}", file=sys.stderr)
    print("\n| kind | systems | " + " | ".join(CLASSES) + " |\n|---|--:|" + "---|" * len(CLASSES))
    for kind, solved in by_kind.items():
        print(recommend(kind, solved))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
