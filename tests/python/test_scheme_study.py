"""The study of schemes, on synthetic results."""

from __future__ import annotations

import unittest

import support  # noqa: F401 (it makes the package importable)
from sptrsv_results.studies import schemes as scheme_study
from synthetic_schemes import DEALT, LANE, TWO, WARP, SchemesTest, system


class Study(SchemesTest):
    def test_spaces_contain_each_other(self) -> None:
        _, systems = scheme_study.load([self.write_systems(TWO)])
        self.assertEqual(scheme_study.speedups(systems[0]), [1, 2, 4, 8])
        self.assertEqual(scheme_study.speedups(systems[1]), [1, 1, 1, 1])
        self.assertEqual(scheme_study.spaces(systems).table.rows[0][2:], ["1.00x", "1.41x", "2.00x", "2.83x"])

    def test_choices_are_compared_at_their_best(self) -> None:
        _, systems = scheme_study.load([self.write_systems(TWO)])
        rows = {row[0]: row[1:] for row in scheme_study.contrasts(systems).table.rows}
        self.assertEqual(rows["one warp per row over one lane per row (3a)"], ["1.41x", "0.25x", "8.00x", "1 of 2"])
        self.assertEqual(rows["reordered over natural (4b)"], ["0.71x", "0.25x", "2.00x", "1 of 2"])
        self.assertNotIn("32 warps over 16 (3b)", rows)

    def test_selection_says_what_the_model_loses(self) -> None:
        _, systems = scheme_study.load([self.write_systems(TWO)])
        rows = {row[0]: row[1:] for row in scheme_study.selection(systems).table.rows}
        self.assertEqual(rows["fewer than 4"][-2:], ["0 %", "50.0 %"])
        self.assertEqual(rows["all"][-2:], ["50 %", "25.0 %"])
        self.assertEqual(rows["100 to 10,000"][1:4], ["500", "3", "0.5"])

    def test_takes_the_choices_of_models_that_did_not_know_the_system(self) -> None:
        made = [system("one", {WARP: 4, LANE: 1}, 1.0), system("two", {WARP: 4, LANE: 1}, 1.0)]
        for measured in (m for s in made for m in s["schemes"] if "ms" in m):
            measured["analysis_ms"] = 7.0
        _, systems = scheme_study.load([self.write_systems(made)], {"one": WARP, "two": DEALT})
        self.assertEqual([s.model_ms for s in systems], [4, 10])  # the other was not measured
        self.assertEqual([s.model_analysis_ms for s in systems], [7, 7])

    def test_writes_all_tables(self) -> None:
        status, output = self.call(
            scheme_study.main, str(self.write_systems(TWO)), "-o", str(self.folder), "--tables-only"
        )
        self.assertEqual(status, 0, output)
        text = (self.folder / "scheme_study.md").read_text(encoding="utf-8")
        self.assertEqual(text.count("\n## "), 3)
        self.assertIn("geometric mean", output)

    def test_refuses_files_without_results(self) -> None:
        for systems in ([], [{"matrix": "x"}]):
            status, output = self.call(scheme_study.main, str(self.write_systems(systems)))
            self.assertEqual(status, 2)
            self.assertIn("error", output)


if __name__ == "__main__":
    unittest.main()
