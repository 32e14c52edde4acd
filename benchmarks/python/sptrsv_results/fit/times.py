"""Fits the constants of a linear model of times.

No constant is negative. The fit minimises the sum of the squared logarithms of predicted over measured time: a
prediction of twice the time counts as much as one of half the time, and a solve of 10 us as much as one of 10 ms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Vector = tuple[float, ...]


def predict(constants: Vector, x: Vector) -> float:
    return max(sum(c * v for c, v in zip(constants, x, strict=True)), 1.0)


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
