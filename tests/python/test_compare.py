from __future__ import annotations

import unittest
from typing import Any

import support
import synthetic
from sptrsv_results import compare
from sptrsv_results.format import parse_results

TABLE = """Some text.

| rows/level | matrix | n | cuSPARSE analysis | cuSPARSE | best open |
|---|---|---|---|---|---|
"""


class TwoResults(support.CommandTest):
    def compare(self, old: Any, new: Any, *options: str) -> tuple[int, str]:
        return self.call(compare.main, self.write("old.json", old), self.write("new.json", new), *options)

    def test_equal_results_agree(self) -> None:
        made = synthetic.results()
        status, output = self.compare(made, made)
        self.assertEqual(status, 0)
        self.assertIn("agree within 0.0 % in the geometric mean over 240 rows, within 0.0 % for every policy", output)
        self.assertIn("0 regressions, 0 improvements", output)

    def test_noise_is_no_regression(self) -> None:
        status, output = self.compare(synthetic.results(), synthetic.results(noise_seed=2))
        self.assertEqual(status, 0, output)

    def test_regressions_are_named_worst_first(self) -> None:
        old = synthetic.results()
        new = synthetic.scaled(old, 1.5, "merged", "file_03")
        new = synthetic.scaled(new, 2.0, "level_set", "file_05")
        new = synthetic.scaled(new, 0.5, "merged", "file_06")
        status, output = self.compare(old, new)
        self.assertEqual(status, 1)
        self.assertIn("regressions over 5 %, worst first: 2", output)
        self.assertLess(output.index("file_05"), output.index("file_03"))
        self.assertLess(output.index("file_03"), output.index("improvements over 5 %"))
        self.assertLess(output.index("improvements over 5 %"), output.index("file_06"))

    def test_the_threshold(self) -> None:
        old = synthetic.results(noise=1e-6)
        new = synthetic.scaled(old, 1.08, "merged", "file_03")
        self.assertEqual(self.compare(old, new)[0], 1)
        self.assertEqual(self.compare(old, new, "--threshold", "10")[0], 0)
        self.assertEqual(self.compare(old, new, "--policy", "level_set")[0], 0)
        self.assertEqual(self.compare(old, new, "--threshold", "nan")[0], 2)

    def test_a_change_within_the_spread_is_not_a_regression(self) -> None:
        old = synthetic.results(noise=0.1)
        status, output = self.compare(old, synthetic.scaled(old, 1.08, "merged", "file_03"))
        self.assertEqual(status, 0, output)
        self.assertIn("slower by more than 5 %, but within the spread: 1", output)

    def test_the_spread_is_that_of_both_results(self) -> None:
        made = synthetic.results(count=1)
        made["rows"][1]["warm"] |= {"median_ms": 10.0, "p5_ms": 8.0, "p95_ms": 12.5}
        row = parse_results(made).rows[1]
        change = compare.change(row, row, 0.5)
        self.assertAlmostEqual(change.ratio, 2.0)
        self.assertAlmostEqual(change.low, 2.0 / 1.25**2**0.5)
        self.assertAlmostEqual(change.high, 2.0 * 1.25**2**0.5)

    def test_a_slower_machine_is_seen_and_divided_out(self) -> None:
        old = synthetic.results(noise=1e-6)
        new = synthetic.scaled(old, 1.2)
        status, output = self.compare(old, new)
        self.assertEqual(status, 1)
        self.assertIn("the baseline's times changed by a factor of 1.2000", output)
        status, output = self.compare(old, new, "--normalise")
        self.assertEqual(status, 0, output)
        self.assertIn("agree within 0.0 %", output)

    def test_a_problem_that_is_no_longer_solved_is_a_regression(self) -> None:
        old = synthetic.results(count=5)
        new = synthetic.results(count=5)
        synthetic.not_solved(new["rows"][1], "failed", "out of\nmemory")
        status, output = self.compare(old, new)
        self.assertEqual(status, 1)
        self.assertIn("no longer solved: 1\n  level_set           file_00: failed, out of memory", output)
        status, output = self.compare(new, old)
        self.assertEqual(status, 0)
        self.assertIn("solved now: 1\n  level_set           file_00: was failed", output)

    def test_rows_in_one_result_only(self) -> None:
        small, large = synthetic.results(count=5), synthetic.results(count=5)
        del small["rows"][-1]
        status, output = self.compare(large, small)
        self.assertEqual(status, 0)
        self.assertIn("missing in the new file: 1\n  merged              generated_04", output)
        self.assertIn("only in the new file: 1", self.compare(small, large)[1])

    def test_another_machine_is_noted(self) -> None:
        old, new = synthetic.results(count=2), synthetic.results(count=2)
        new["context"]["driver"] = "570.1"
        self.assertIn("note: driver was 550.90, is 570.1", self.compare(old, new)[1])

    def test_unusable_input(self) -> None:
        made = synthetic.results(count=2)
        other = synthetic.results(count=2)
        for row in other["rows"]:
            row["matrix"] += "_other"
        self.assertEqual(self.compare(made, "{")[0], 2)
        self.assertEqual(self.compare(made, other), (2, "error: the two files have no row in common\n"))
        self.assertEqual(self.compare(made, made, "--policy", "fast")[0], 2)
        self.assertEqual(self.call(compare.main, self.write("one.json", made))[0], 2)
        alone = synthetic.results(count=2, policies=("level_set",))
        self.assertIn("no time of a baseline", self.compare(alone, alone, "--normalise")[1])


class Baseline(support.CommandTest):
    def check(self, table: str, *options: str, made: Any = None) -> tuple[int, str]:
        results = self.write("results.json", made or synthetic.results(count=3))
        return self.call(compare.main, results, "--check-baseline", self.write("table.md", table), *options)

    def table(self, *factors: float) -> str:
        rows = [row for row in synthetic.results(count=3)["rows"] if row["policy"] == "cusparse"]
        return (
            TABLE
            + "".join(
                f"| 1.0 | {row['matrix']} | 1 | 9 | {factor * row['warm']['alone_ms']:.6g} | - |\n"
                for row, factor in zip(rows, factors, strict=True)
            )
            + "\nMore text.\n"
        )

    def test_times_that_agree(self) -> None:
        status, output = self.check(self.table(1, 1.05, 0.95) + "| not | a | table |\n")
        self.assertEqual(status, 0, output)
        self.assertIn("3 matrices, geometric mean of measured over table 1.0008, 0 more than 10 % off", output)

    def test_times_of_calls_that_were_not_alone(self) -> None:
        made = synthetic.results(count=3)
        made["rows"][0]["warm"]["alone_ms"] = None
        del made["rows"][4]["warm"]["alone_ms"]
        status, output = self.check(self.table(1 / synthetic.ALONE, 1, 1), made=made)
        self.assertEqual(status, 1)
        self.assertRegex(output, r"\n *1\.000 .* in batch +file_00\n *0\.667 .* in batch +file_01\n")
        self.assertRegex(output, r"\n *1\.000 .* alone +file_02\n")

    def test_times_that_differ(self) -> None:
        status, output = self.check(self.table(1, 0.5, 1.2) + "\n| matrix | cuSPARSE |\n|--|--|\n| absent | 1 |\n")
        self.assertEqual(status, 1)
        self.assertIn("more than 10 % off: 2\n    2.000  file_01\n    0.833  file_02\n", output)
        self.assertIn("in the table only: 1\n  absent", output)
        self.assertEqual(self.check(self.table(1, 0.5, 1.2), "--threshold", "150")[0], 0)

    def test_tables_that_cannot_be_used(self) -> None:
        row = "| 1.0 | file_00 | 1 | 9 | 0.5 | - |\n"
        for table, text in (
            ("no table", 'no table with columns "matrix" and "cuSPARSE"'),
            (TABLE, "no table with"),
            (TABLE + row.replace("0.5", "fast"), "table.md:5: no time in milliseconds"),
            (TABLE + row.replace("0.5", "-1"), "table.md:5: no positive time"),
            (TABLE + row + row, "table.md:6: a second time: file_00"),
            (TABLE + row.replace("file_00", "unknown"), "no matrix of the table has a time"),
        ):
            status, output = self.check(table)
            self.assertEqual(status, 2, table)
            self.assertIn(text, output)


if __name__ == "__main__":
    unittest.main()
