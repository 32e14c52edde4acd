from __future__ import annotations

import math
import random
import re
import unittest
from typing import Any

import support
import synthetic
from sptrsv_results.fit import costs as fit_costs
from sptrsv_results.format import Row, parse_results

KNOWN = {
    "cusparse": (3000.0, 1400.0, 20.0, 2e-3, 15.0),
    "level_set": (2500.0, 900.0, 0.0, 1e-3, 5.0),
    "merged": (4000.0, 300.0, 8.0, 5e-4, 0.0),
}
NARROW, WIDE = (3000.0, 40.0, 0.0, 0.04, 0.0), (3500.0, 500.0, 0.0, 5e-4, 0.0)


def timed(cost: dict[str, list[tuple[float, ...]]], noise: float = 0.0, **changes: Any) -> dict[str, Any]:
    """Returns results whose times are those of a model with known constants."""
    made = synthetic.results(policies=tuple(cost), noise=0)
    shaky = random.Random(3)
    rows = parse_results(made).rows
    for row, known in zip(made["rows"], rows, strict=True):
        row |= changes
        x = fit_costs.features(Row(**{**vars(known), **changes}))
        ns = min(sum(c * v for c, v in zip(constants, x, strict=True)) for constants in cost[row["policy"]])
        row["warm"] = synthetic.spread(ns * 1e-6 * math.exp(noise * shaky.gauss(0, 1)), shaky, 0.01)
    synthetic.compare_with_baseline(made)
    return made


def fits(made: dict[str, Any], paths: dict[str, int] | None = None) -> dict[str, fit_costs.Fit]:
    value = made["rows"][0]["value"]
    found = fit_costs.fit_all(parse_results(made), value, [], paths or {})
    return {fit.policy: fit for fit in found}


class KnownConstants(unittest.TestCase):
    def assert_close(self, found: tuple[float, ...], expected: tuple[float, ...], share: float) -> None:
        for name, c, e in zip(fit_costs.CONSTANTS, found, expected, strict=True):
            if e > 0:
                self.assertLess(abs(c / e - 1), share, name)

    def test_are_found_again(self) -> None:
        for policy, fit in fits(timed({name: [c] for name, c in KNOWN.items()})).items():
            with self.subTest(policy):
                self.assert_close(fit.paths[0], KNOWN[policy], 1e-4)
                self.assertLess(fit.typical, 1.0001)

    def test_are_found_again_in_noise(self) -> None:
        fit = fits(timed({"cusparse": [KNOWN["cusparse"]]}, noise=0.05))["cusparse"]
        self.assert_close(fit.paths[0], KNOWN["cusparse"], 0.25)
        self.assertAlmostEqual(fit.typical, 1.05, delta=0.015)

    def test_for_other_types_and_several_right_hand_sides(self) -> None:
        made = timed({"cusparse": [KNOWN["cusparse"]]}, value="c128", index="i64", rhs=6)
        self.assert_close(fits(made)["cusparse"].paths[0], KNOWN["cusparse"], 1e-4)

    def test_two_paths(self) -> None:
        made = timed({"cusparse": [NARROW, WIDE]})
        one, two = fits(made)["cusparse"], fits(made, {"cusparse": 2})["cusparse"]
        self.assertEqual(len(two.paths), 2)
        self.assertGreater(one.typical, 1.2)
        self.assertLess(two.typical, 1.02)
        self.assert_close(two.paths[0], NARROW, 0.2)
        self.assert_close(two.paths[1], WIDE, 0.2)

    def test_are_never_negative(self) -> None:
        made = synthetic.results()
        for fit in fits(made).values():
            self.assertGreaterEqual(min(fit.paths[0]), 0)
            self.assertLess(fit.typical, 3)


class Fit(unittest.TestCase):
    def test_factors_above_and_below_count_the_same(self) -> None:
        self.assertAlmostEqual(fit_costs.fit([(1.0,), (1.0,)], [1e3, 4e3])[0], 2e3, delta=1)


class Features(unittest.TestCase):
    def test_are_those_of_the_model(self) -> None:
        row = parse_results(synthetic.results(count=1)).rows[0]
        values = vars(row) | {"n": 10, "nnz": 30, "levels": 4, "longest_row": 7}
        self.assertEqual(fit_costs.features(Row(**values)), (1, 4, 4 * 2, 30 * 12 + 10 * 4 + 3 * 10 * 8, 7))
        self.assertEqual(
            fit_costs.features(Row(**values | {"rhs": 5})),
            (1, 8, 2 * 4 * 2, 2 * (30 * 12 + 10 * 4) + 5 * 3 * 10 * 8, 14),
        )


class NonNegativeLeastSquares(unittest.TestCase):
    def test_exact(self) -> None:
        x = fit_costs.non_negative_least_squares([(1, 0), (1, 1), (1, 2)], [1, 3, 5])
        self.assertAlmostEqual(x[0], 1)
        self.assertAlmostEqual(x[1], 2)

    def test_no_component_is_negative(self) -> None:
        x = fit_costs.non_negative_least_squares([(1, 0), (1, 1), (1, 2)], [3, 2, 1])
        self.assertAlmostEqual(x[0], 2)
        self.assertEqual(x[1], 0)

    def test_linearly_dependent_columns(self) -> None:
        x = fit_costs.non_negative_least_squares([(1, 2), (2, 4)], [2, 4])
        self.assertAlmostEqual(x[0] + 2 * x[1], 2)


class Script(support.CommandTest):
    def run_on(self, made: Any, *options: str) -> tuple[int, str]:
        return self.call(fit_costs.main, self.write("results.json", made), *options)

    def test_prints_constants_as_the_header_has_them(self) -> None:
        status, output = self.run_on(timed({"cusparse": [KNOWN["cusparse"]], "merged": [KNOWN["merged"]]}))
        self.assertEqual(status, 0, output)
        self.assertIn("inline constexpr linear_cost cusparse[]{{3e+03, 1.4e+03, 20, 0.002, 15}};\n", output)
        self.assertIn("// f64, NVIDIA H200, 2025-01-31T12:00:00Z: launch, level, ", output)

    def test_prints_the_quality_of_the_choices(self) -> None:
        made = timed({"cusparse": [WIDE], "merged": [NARROW]})
        _, output = self.run_on(made)
        mean = {line.split("  ")[0]: line.split()[-3:-1] for line in output.splitlines() if "x " in line}
        self.assertEqual(mean["all, by the models"], ["1.000x", "1.00x"])
        self.assertGreater(float(mean["cusparse"][0].rstrip("x")), 1.05)
        self.assertGreater(float(mean["merged"][0].rstrip("x")), 1.05)

    def test_fits_the_requested_policies_and_paths(self) -> None:
        made = timed({"cusparse": [NARROW, WIDE], "merged": [NARROW]})
        status, output = self.run_on(made, "--policies", "cusparse", "--paths", "cusparse=2")
        self.assertEqual(status, 0, output)
        self.assertEqual(len(re.findall("linear_cost", output)), 1)
        self.assertRegex(output, r"linear_cost cusparse\[\]\{\{[^}]*\}, \{[^}]*\}\};")
        self.assertEqual(self.run_on(made, "--paths", "cusparse=no")[0], 2)

    def test_leaves_out_rows_that_were_not_solved(self) -> None:
        made = timed({name: [c] for name, c in KNOWN.items()})
        for row in made["rows"]:
            if row["policy"] == "merged" and row["source"] == "generated":
                synthetic.not_solved(row, "failed", "no memory")
        synthetic.compare_with_baseline(made)
        self.assertEqual(fits(made)["merged"].problems, 48)
        self.assertEqual(fits(made)["cusparse"].problems, 60)
        self.assertEqual(self.run_on(made)[0], 0)

    def test_too_few_problems(self) -> None:
        status, output = self.run_on(timed({"cusparse": [KNOWN["cusparse"]]}), "--value", "f32")
        self.assertEqual(status, 2)
        self.assertIn("cusparse solved 0 problems: too few for 1 times 5 constants", output)


if __name__ == "__main__":
    unittest.main()
