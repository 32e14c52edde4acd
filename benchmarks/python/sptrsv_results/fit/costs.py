"""Fits the constants of the cost models by which policy::automatic chooses, to results of sptrsv_bench.

The model of a solve, in nanoseconds, is

    launch + sweeps * (level * levels + level_entry * levels * e + long_entry * longest_row)
           + byte * (sweeps * matrix_bytes + vector_bytes)

where e is the average number of entries of a row off the diagonal, and one sweep solves four right-hand sides, as in
the cost model of the library. No constant is negative. The fit minimises the sum of the squared logarithms of predicted
over measured time (warm, in a batch): a prediction of twice the time counts as much as one of half the time, and a
solve of 10 us as much as a solve of 10 ms.

A policy that takes the fastest of several paths (--paths dataflow=2) gets that many sets of constants; its prediction
is the least of theirs. The sets begin with equal shares of the systems, sorted by rows per level; then each system
goes to the set that predicts the least time for it, until this makes the fit no better. If the results have the paths
as policies of their own (dataflow_single_block), their constants can also be fitted one by one.

The command prints a line for each policy as it stands in the library's table of cost models, how far the predictions
are from the times, and how far the choices of the models are from the fastest policy.
"""

from __future__ import annotations

import argparse
import itertools
import math
import pathlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from sptrsv_results.cli import new_parser
from sptrsv_results.format import FormatError, Results, Row, load_results

CONSTANTS = ("launch", "level", "level_entry", "byte", "long_entry")
RHS_PER_SWEEP = 4
VALUE_BYTES = {"f32": 4, "f64": 8, "c64": 8, "c128": 16}
INDEX_BYTES = {"i32": 4, "i64": 8}
Vector = tuple[float, ...]


def features(row: Row) -> Vector:
    """Returns the factors of the constants, in their order."""
    value, index = VALUE_BYTES[row.value], INDEX_BYTES[row.index]
    sweeps = math.ceil(row.rhs / RHS_PER_SWEEP)
    matrix_bytes = row.nnz * (value + index) + row.n * index
    return (
        1.0,
        float(sweeps * row.levels),
        sweeps * row.levels * (row.nnz - row.n) / max(row.n, 1),
        float(sweeps * matrix_bytes + 3 * row.n * row.rhs * value),
        float(sweeps * row.longest_row),
    )


def predict(constants: Vector, x: Vector) -> float:
    return max(sum(c * v for c, v in zip(constants, x, strict=True)), 1.0)


def predict_least(paths: Sequence[Vector], x: Vector) -> float:
    return min(predict(constants, x) for constants in paths)


def solve_symmetric(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Returns the solution by Gaussian elimination with partial pivoting; None if the matrix is singular."""
    a = [[*row, r] for row, r in zip(matrix, right, strict=True)]
    size = len(a)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        if abs(a[k][k]) < 1e-12:
            return None
        for i in range(k + 1, size):
            factor = a[i][k] / a[k][k]
            for j in range(k, size + 1):
                a[i][j] -= factor * a[k][j]
    x = [0.0] * size
    for k in reversed(range(size)):
        x[k] = (a[k][size] - sum(a[k][j] * x[j] for j in range(k + 1, size))) / a[k][k]
    return x


def non_negative_least_squares(rows: Sequence[Vector], right: Sequence[float]) -> Vector:
    """Returns the solution without negative components that has the least sum of squared residuals.

    Tries all subsets of the unknowns, which are few, with the other unknowns zero.
    """
    count = len(rows[0])
    scale = [math.sqrt(sum(row[j] ** 2 for row in rows)) or 1.0 for j in range(count)]
    scaled = [[v / s for v, s in zip(row, scale, strict=True)] for row in rows]
    normal = [[sum(r[i] * r[j] for r in scaled) for j in range(count)] for i in range(count)]
    moment = [sum(r[j] * y for r, y in zip(scaled, right, strict=True)) for j in range(count)]
    best, gain = (0.0,) * count, 0.0
    for size in range(1, count + 1):
        for chosen in itertools.combinations(range(count), size):
            part = solve_symmetric([[normal[i][j] for j in chosen] for i in chosen], [moment[i] for i in chosen])
            if part is None or min(part) < 0:
                continue
            # The sum of squared residuals of the zero solution minus that of this solution.
            lost = sum(x * moment[i] for x, i in zip(part, chosen, strict=True))
            if lost > gain * (1 + 1e-12):
                found = dict(zip(chosen, part, strict=True))
                best, gain = tuple(found.get(j, 0.0) / scale[j] for j in range(count)), lost
    return best


def fit(xs: Sequence[Vector], times: Sequence[float]) -> Vector:
    """Returns the constants, by the Gauss-Newton method on the logarithms; times in nanoseconds."""

    def loss(constants: Vector) -> float:
        return sum(math.log(predict(constants, x) / t) ** 2 for x, t in zip(xs, times, strict=True))

    relative = [tuple(v / t for v in x) for x, t in zip(xs, times, strict=True)]
    constants = non_negative_least_squares(relative, [1.0] * len(times))
    for _ in range(100):
        models = [predict(constants, x) for x in xs]
        target = non_negative_least_squares(
            [tuple(v / m for v in x) for x, m in zip(xs, models, strict=True)],
            [1.0 - math.log(m / t) for m, t in zip(models, times, strict=True)],
        )
        now = loss(constants)
        change = [t - c for c, t in zip(constants, target, strict=True)]
        steps = (tuple(c + d / 2**halving for c, d in zip(constants, change, strict=True)) for halving in range(10))
        better = next((step for step in steps if loss(step) < now * (1 - 1e-9)), None)
        if better is None:
            break
        constants = better
    return constants


def fit_paths(xs: Sequence[Vector], times: Sequence[float], count: int) -> list[Vector]:
    """Returns constants for each of `count` paths, or nothing if the systems are too few.

    `xs`: the features of the systems, sorted by rows per level.
    """
    group = [i * count // len(xs) for i in range(len(xs))]
    best: tuple[float, list[Vector]] = (math.inf, [])
    for _ in range(50):
        members = [[i for i, g in enumerate(group) if g == path] for path in range(count)]
        if any(len(part) <= len(CONSTANTS) for part in members):
            break
        paths = [fit([xs[i] for i in part], [times[i] for i in part]) for part in members]
        loss = sum(math.log(predict_least(paths, x) / t) ** 2 for x, t in zip(xs, times, strict=True))
        if loss >= best[0]:
            break
        best = (loss, paths)
        group = [min(range(count), key=lambda path: predict(paths[path], x)) for x in xs]
    return best[1]


@dataclass(frozen=True)
class Fit:
    policy: str
    paths: list[Vector]
    problems: int
    typical: float  # exp of the root mean square of the logarithms of predicted over measured time
    worst: float
    worst_matrix: str

    @property
    def line(self) -> str:
        """The line of the policy in the library's table of cost models."""
        sets = ", ".join("{" + ", ".join(f"{c:.3g}" for c in constants) + "}" for constants in self.paths)
        return f"inline constexpr linear_cost {self.policy}[]{{{sets}}};"


def fit_policy(policy: str, rows: Sequence[Row], paths: int) -> Fit:
    rows = sorted(rows, key=lambda row: row.rows_per_level)
    xs, times = [features(row) for row in rows], [row.ms * 1e6 for row in rows if row.ms]
    found = fit_paths(xs, times, paths)
    if not found:
        raise FormatError(f"{policy} solved {len(rows)} problems: too few for {paths} times {len(CONSTANTS)} constants")
    logs = [math.log(predict_least(found, x) / t) for x, t in zip(xs, times, strict=True)]
    off = max(range(len(logs)), key=lambda i: abs(logs[i]))
    return Fit(
        policy,
        found,
        len(rows),
        math.exp(math.sqrt(sum(v * v for v in logs) / len(logs))),
        math.exp(logs[off]),
        rows[off].matrix,
    )


def fit_all(results: Results, value: str, policies: Sequence[str], paths: dict[str, int]) -> list[Fit]:
    fits = []
    for policy in policies or results.policies:
        rows = [row for row in results.rows if row.policy == policy and row.value == value and row.ms]
        fits.append(fit_policy(policy, rows, paths.get(policy, 1)))
    return fits


@dataclass(frozen=True)
class Choice:
    """Times of the policy that is chosen among some candidates over those of the fastest policy of all."""

    candidates: str
    mean: float
    worst: float
    worst_matrix: str


def judge(results: Results, value: str, fits: Sequence[Fit]) -> list[Choice]:
    """Returns the quality of each policy as the only candidate, then of the choice of the models among all policies."""
    problems = [
        {name: row for name, row in rows.items() if row.ms}
        for rows in results.by_problem.values()
        if all(row.value == value for row in rows.values())
    ]
    problems = [rows for rows in problems if all(f.policy in rows for f in fits)]
    choices = []
    for candidates in [[f] for f in fits] + ([list(fits)] if len(fits) > 1 else []):
        ratios = {}
        for rows in problems:
            chosen = min(candidates, key=lambda f: predict_least(f.paths, features(rows[f.policy]))).policy
            best = min(row.ms for row in rows.values() if row.ms)
            ratios[rows[chosen].matrix] = (rows[chosen].ms or 0.0) / best
        if ratios:
            worst = max(ratios, key=lambda name: ratios[name])
            mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
            name = candidates[0].policy if len(candidates) == 1 else "all, by the models"
            choices.append(Choice(name, mean, ratios[worst], worst))
    return choices


def path_count(text: str) -> tuple[str, int]:
    policy, _, count = text.partition("=")
    if not count.isdecimal() or int(count) < 1:
        raise argparse.ArgumentTypeError(f"must be POLICY=N with N of at least 1, not '{text}'")
    return policy, int(count)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("fit-costs", __doc__)
    parser.add_argument("results", type=pathlib.Path, metavar="RESULTS.json", help="written by sptrsv_bench --json")
    parser.add_argument(
        "--value", choices=sorted(VALUE_BYTES), default="f64", help="fit the rows with this value type (default: f64)"
    )
    parser.add_argument("--policies", metavar="A,B,...", help="fit these policies only (default: all policies)")
    parser.add_argument(
        "--paths",
        action="append",
        default=[],
        type=path_count,
        metavar="POLICY=N",
        help="fit N sets of constants, because the policy takes the fastest of N paths; may be repeated",
    )
    options = parser.parse_args(arguments)
    try:
        results = load_results(options.results)
        policies = options.policies.split(",") if options.policies else []
        fits = fit_all(results, options.value, policies, dict(options.paths))
    except FormatError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    context = results.context
    print(f"// {options.value}, {context.device or context.host}, {context.date_utc}: {', '.join(CONSTANTS)}")
    for found in fits:
        print(found.line)
    print(f"\n{'policy':<28} {'problems':>8} {'typically off':>13} {'worst':>6}  on")
    for found in fits:
        print(
            f"{found.policy:<28} {found.problems:>8} {found.typical:>12.2f}x {found.worst:>5.2f}x  {found.worst_matrix}"
        )
    print(f"\n{'chosen among':<28} {'over the best: mean':>19} {'worst':>6}  on")
    for choice in judge(results, options.value, fits):
        print(f"{choice.candidates:<28} {choice.mean:>18.3f}x {choice.worst:>5.2f}x  {choice.worst_matrix}")
    return 0
