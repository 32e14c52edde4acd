"""Fits models of the times of dataflow's paths, and says how well the library's own model predicts them.

The input is a file of `sptrsv_bench --study survey --json`: the default, and each of its paths by request. The models:

  library   the time that the library predicted (its constants are those that sptrsv_dataflow_costs measured)
  scaled    a launch and a multiple of that time, fitted to each path
  sizes     a launch, levels, rows and entries, fitted to each path

For each model the command prints, for each path, the error: the larger of predicted over measured time and its inverse;
and the loss of the choice: the time of the path that would be chosen over that of the fastest measured one, where at
least two paths were measured and predicted. Means are geometric. The loss of the library is that of the path that it
did choose.

With --cross-validate the models are fitted on one half of the systems and judged on the other half, both in turn; the
half of a system is a hash of its name.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sptrsv_results.cli import new_parser
from sptrsv_results.fit.halves import held_out, summary
from sptrsv_results.fit.times import Vector, fit, predict
from sptrsv_results.format import FormatError, Results, Row, describe, load_results

DEFAULT = "dataflow"
# The policies whose rows are solved in exact order by one path, the default first: it says what was chosen.
POLICIES = (DEFAULT, "dataflow_partitioned", "dataflow_single_block", "dataflow_row_per_thread", "dataflow_hybrid")
MODELS: dict[str, Callable[[Row], Vector]] = {
    "scaled": lambda row: (1.0, 1e6 * (row.predicted_ms or 0)),
    "sizes": lambda row: (1.0, float(row.levels), float(row.n), float(row.nnz)),
}


@dataclass(frozen=True)
class Solve:
    """A path on a system."""

    row: Row

    @property
    def system(self) -> str:
        return describe(self.row)

    @property
    def path(self) -> str:
        return self.row.path or ""

    @property
    def ns(self) -> float:
        return 1e6 * (self.row.ms or 0)

    @property
    def predicted_ns(self) -> float:
        return 1e6 * (self.row.predicted_ms or 0)


def solves_of(results: Results) -> list[Solve]:
    """Returns the solves whose time was predicted, each path of a system once."""
    made: dict[tuple[str, str], Solve] = {}
    for known in results.by_problem.values():
        for row in (known[policy] for policy in POLICIES if policy in known):
            if row.ms and row.path and row.predicted_ms:
                made.setdefault((describe(row), row.path), Solve(row))
    if not made:
        raise FormatError("no row has the path and the predicted time of a policy of dataflow")
    return list(made.values())


# A model predicts a time in nanoseconds for each system and path, which are the key.
Predicted = dict[tuple[str, str], float]


def fitted(solves: Sequence[Solve], features: Callable[[Row], Vector], cross_validate: bool) -> Predicted:
    """Returns the predictions of a model that is fitted to each path.

    With `cross_validate` they are those for the half of the systems that the fit has not seen.
    """
    made: Predicted = {}
    for path in {solve.path for solve in solves}:
        own = [solve for solve in solves if solve.path == path]

        def constants_of(known: Sequence[Solve]) -> Vector:
            return fit([features(solve.row) for solve in known], [solve.ns for solve in known])

        if cross_validate:
            pairs = list(held_out(own, lambda solve: solve.system, constants_of))
        else:
            constants = constants_of(own)
            pairs = [(solve, constants) for solve in own]
        made |= {(solve.system, path): predict(constants, features(solve.row)) for solve, constants in pairs}
    return made


def errors(solves: Sequence[Solve], predicted: Predicted, path: str) -> list[tuple[str, float]]:
    """Returns the error of a path on each system."""
    ratios = {
        solve.system: predicted[key] / solve.ns
        for solve in solves
        if solve.path == path and (key := (solve.system, path)) in predicted
    }
    return [(system, max(ratio, 1 / ratio)) for system, ratio in ratios.items()]


def losses(solves: Sequence[Solve], predicted: Predicted) -> list[tuple[str, float]]:
    """Returns the loss of the choice on each system."""
    by_system: dict[str, list[Solve]] = {}
    for solve in solves:
        if (solve.system, solve.path) in predicted:
            by_system.setdefault(solve.system, []).append(solve)
    made = []
    for system, own in by_system.items():
        if len(own) > 1:
            chosen = min(own, key=lambda solve: predicted[system, solve.path])
            made.append((system, chosen.ns / min(solve.ns for solve in own)))
    return made


def losses_of_library(results: Results) -> list[tuple[str, float]]:
    """Returns the time of the default over that of the fastest of its paths on each system."""
    made = []
    for known in results.by_problem.values():
        times = {policy: ms for policy in POLICIES if policy in known and (ms := known[policy].ms)}
        if DEFAULT in times and len(times) > 1:
            made.append((describe(known[DEFAULT]), times[DEFAULT] / min(times.values())))
    return made


def report(results: Results, cross_validate: bool) -> list[str]:
    solves = solves_of(results)
    paths = sorted({solve.path for solve in solves})
    where = "on the other half of the systems" if cross_validate else "on the systems of the fit"
    lines = [f"{len(solves)} solves of {len({solve.system for solve in solves})} systems"]
    library = {(solve.system, solve.path): solve.predicted_ns for solve in solves}
    models = {"library": library} | {
        name: fitted(solves, features, cross_validate) for name, features in MODELS.items()
    }
    for path in paths:
        own = [solve for solve in solves if solve.path == path]
        lines.append(f"{path}, {len(own)} systems")
        for name, features in MODELS.items():
            constants = fit([features(solve.row) for solve in own], [solve.ns for solve in own])
            lines.append(f"  constants of {name}, ns: {', '.join(f'{constant:.4g}' for constant in constants)}")
        for name, predicted in models.items():
            judged = "" if name == "library" else f" {where}"
            lines.append(f"  error of {name}{judged}: {summary(errors(solves, predicted, path))}")
    lines.append("choice of a path, time over that of the fastest")
    lines.append(f"  loss of library: {summary(losses_of_library(results))}")
    lines += [f"  loss of {name} {where}: {summary(losses(solves, models[name]))}" for name in MODELS]
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("fit-paths", __doc__)
    parser.add_argument(
        "results", type=pathlib.Path, metavar="RESULTS.json", help="written by sptrsv_bench --study survey --json"
    )
    parser.add_argument(
        "--cross-validate", action="store_true", help="fit on one half of the systems, judge on the other half"
    )
    options = parser.parse_args(arguments)
    try:
        lines = report(load_results(options.results), options.cross_validate)
    except FormatError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0
