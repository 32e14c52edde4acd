from __future__ import annotations

import copy
import unittest
from typing import Any

import support
import synthetic
from sptrsv_results.fit import halves, paths
from sptrsv_results.format import parse_results

# Nanoseconds of a launch, a level, a row and an entry of two paths.
TIMES = {"partitioned": (3000.0, 600.0, 0.05, 0.02), "row_per_thread": (2500.0, 900.0, 0.01, 0.005)}


def survey(library: dict[str, float], count: int = 40) -> dict[str, Any]:
    """Returns a survey in which both paths take the times above, and the default the path of the least prediction.

    `library`: the factor by which the library's prediction of a path is too long.
    """
    made = synthetic.results(count=count, policies=("cusparse",), noise=0)
    rows = []
    for baseline in made["rows"]:
        sizes = (1.0, baseline["levels"], baseline["n"], baseline["nnz"])
        ms = {path: 1e-6 * sum(c * s for c, s in zip(of, sizes, strict=True)) for path, of in TIMES.items()}
        chosen = min(ms, key=lambda path: ms[path] * library[path])
        for policy, path in (
            ("dataflow", chosen),
            ("dataflow_partitioned", "partitioned"),
            ("dataflow_row_per_thread", "row_per_thread"),
        ):
            row = copy.deepcopy(baseline)
            row |= {"policy": policy, "path": path, "predictions": [{"path": path, "ms": ms[path] * library[path]}]}
            single = dict.fromkeys(("median_ms", "p5_ms", "p95_ms", "batch_ms"), ms[path])
            rows.append(row | {"warm": row["warm"] | single})
        rows.append(baseline)
    made["rows"] = rows
    synthetic.compare_with_baseline(made)
    return made


class Halves(unittest.TestCase):
    NAMES = tuple(f"system {k}" for k in range(200))

    def test_depend_on_the_name_alone(self) -> None:
        self.assertEqual([halves.half_of(name) for name in ("add20", "cage8", "1138_bus", "Andrews")], [0, 0, 1, 1])
        self.assertTrue(70 < sum(map(halves.half_of, self.NAMES)) < 130)

    def test_each_item_meets_what_was_fitted_without_it(self) -> None:
        pairs = dict(halves.held_out(self.NAMES, str, lambda known: frozenset(map(halves.half_of, known))))
        self.assertEqual(pairs, {name: frozenset({1 - halves.half_of(name)}) for name in self.NAMES})

    def test_one_half_alone_says_nothing(self) -> None:
        self.assertEqual(list(halves.held_out(["cage8"], str, len)), [])
        self.assertEqual(halves.summary([]), "no systems in one of the halves")

    def test_the_worst_is_named(self) -> None:
        self.assertEqual(halves.summary([("a", 1.0), ("b", 4.0)]), "mean 2.000, worst 4.00 (b)")


class Paths(support.CommandTest):
    def lines(self, made: object, *options: str) -> list[str]:
        status, output = self.call(paths.main, self.write("survey.json", made), *options)
        self.assertEqual(status, 0, output)
        return output.splitlines()

    def test_a_model_of_sizes_predicts_the_other_half(self) -> None:
        lines = self.lines(survey({"partitioned": 1.0, "row_per_thread": 3.0}), "--cross-validate")
        self.assertIn("80 solves of 40 systems", lines)
        of_sizes = [line for line in lines if "error of sizes on the other half of the systems: mean 1.000" in line]
        self.assertEqual(len(of_sizes), 2)
        self.assertEqual(sum(line.startswith("  error of library: mean 3.000, worst 3.00") for line in lines), 1)

    def test_the_constants_are_those_of_all_systems(self) -> None:
        lines = self.lines(survey({"partitioned": 1.0, "row_per_thread": 1.0}))
        self.assertIn("  constants of sizes, ns: 3000, 600, 0.05, 0.02", lines)
        self.assertEqual(sum(line.startswith("  error of library: mean 1.000, worst 1.00") for line in lines), 2)

    def test_the_loss_is_that_of_the_choice(self) -> None:
        made = survey({"partitioned": 1.0, "row_per_thread": 3.0})
        results = parse_results(made)
        solves = paths.solves_of(results)
        library = {(solve.system, solve.path): solve.predicted_ns for solve in solves}
        chosen, again = dict(paths.losses_of_library(results)), dict(paths.losses(solves, library))
        self.assertEqual({k: round(v, 9) for k, v in chosen.items()}, {k: round(v, 9) for k, v in again.items()})
        self.assertGreater(max(chosen.values()), 1.2)
        exact = {(solve.system, solve.path): solve.ns for solve in solves}
        self.assertEqual(set(dict(paths.losses(solves, exact)).values()), {1.0})

    def test_what_was_fitted_on_a_half_does_not_know_the_other(self) -> None:
        """The times of one half are twice as long: that is the error on the other half, in both turns."""
        made = survey({"partitioned": 1.0, "row_per_thread": 1.0})
        for row in made["rows"]:
            if halves.half_of(row["matrix"]) and row["policy"] != "cusparse":
                row["warm"] |= {key: 2 * row["warm"][key] for key in ("median_ms", "p5_ms", "p95_ms", "batch_ms")}
        synthetic.compare_with_baseline(made)
        solves = paths.solves_of(parse_results(made))
        predicted = paths.fitted(solves, paths.MODELS["scaled"], cross_validate=True)
        found = dict(paths.errors(solves, predicted, "partitioned"))
        self.assertTrue(all(1.99 < factor < 2.01 for factor in found.values()), found)

    def test_results_without_paths(self) -> None:
        status, output = self.call(paths.main, self.write("old.json", synthetic.results(count=2)))
        self.assertEqual(status, 2)
        self.assertIn("no row has the path", output)


if __name__ == "__main__":
    unittest.main()
