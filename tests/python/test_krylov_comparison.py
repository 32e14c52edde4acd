"""Tests of scripts/krylov_comparison.py with programs that print fixed tables."""

from __future__ import annotations

import importlib.util
import pathlib
import unittest
from types import ModuleType

from support import ROOT, CommandTest, svg_texts


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("krylov_comparison", ROOT / "scripts" / "krylov_comparison.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


krylov_comparison = load()

TABLE = """\
                           sptrsv   cuSPARSE   speed-up
rows                        1,728
entries                    11,232
levels of the solves       34, 34
set-up                    1.50 ms    3.00 ms       2.00
iterations                     19         20
time of the iterations    0.50 ms    5.00 ms      10.00
time to the solution      2.00 ms    8.00 ms       4.00
relative residual        3.01e-09   3.02e-09
solution                       OK         OK
"""


FILL_TABLE = """\
rows                            1,728
entries                        11,232
entries of the factors          9,999
levels of the solves           34, 34
set-up                        1.50 ms
iterations                         19
time of the iterations        0.50 ms
time to the solution          2.00 ms
relative residual            3.01e-09
solution                           OK
"""


class KrylovComparison(CommandTest):
    def write_programs(self, table: str) -> str:
        for name in ("pcg", "gmres"):
            path = pathlib.Path(self.write(name, f"#!/bin/sh\ncat <<'END'\n{table}END\n"))
            path.chmod(0o755)
        return str(self.folder)

    def test_prints_a_row_for_each_system_and_the_mean(self) -> None:
        status, output = self.call(krylov_comparison.main, self.write_programs(TABLE), str(self.folder))
        self.assertEqual(status, 0)
        systems = len(krylov_comparison.GRIDS) + len(krylov_comparison.FILES)
        self.assertEqual(output.count("| 1.5 | 3 | 2 | 8 | **4.00** |"), systems)
        self.assertIn("| G3_circuit | CG, IC(0) | 1,728 | 11,232 | 34 | 19 | 20 |", output)
        self.assertIn("| teko_lsc_F_2 | GMRES(30), ILU(0) | 1,728 | 11,232 | 34 |", output)
        self.assertIn(f"4.00 times as fast in the geometric mean of {systems} systems, at least 4.00", output)

    def test_leaves_real_systems_out_without_their_folder(self) -> None:
        status, output = self.call(krylov_comparison.main, self.write_programs(TABLE))
        self.assertEqual(status, 0)
        self.assertNotIn("G3_circuit", output)

    def test_draws_the_figure(self) -> None:
        path = self.folder / "figure.svg"
        status, _ = self.call(krylov_comparison.main, self.write_programs(TABLE), "--figure", str(path))
        self.assertEqual(status, 0)
        texts = svg_texts(path)
        self.assertIn("anisotropic, 512 x 512", texts)
        self.assertEqual(texts.count("4.0x"), len(krylov_comparison.GRIDS))

    def test_the_figure_of_the_page_has_the_times_of_its_table(self) -> None:
        path = self.folder / "figure.svg"
        status, output = self.call(krylov_comparison.main, str(ROOT / "docs" / "krylov.md"), "--figure", str(path))
        self.assertEqual(status, 0, output)
        self.assertEqual(path.read_text(), (ROOT / "docs" / "krylov.svg").read_text())

    def test_refuses_a_page_without_a_table(self) -> None:
        page = self.write("page.md", "| system |\n")
        self.assertEqual(self.call(krylov_comparison.main, page, "--figure", "none.svg")[0], 1)
        self.assertEqual(self.call(krylov_comparison.main, page)[0], 2)

    def test_refuses_times_without_a_ratio(self) -> None:
        table = TABLE.replace("2.00 ms    8.00 ms", "0.00 ms    8.00 ms")
        status, output = self.call(krylov_comparison.main, self.write_programs(table))
        self.assertEqual(status, 1)
        self.assertIn("have no ratio", output)
        self.assertNotIn("nan", output)

    def test_prints_a_row_for_each_level_of_fill(self) -> None:
        status, output = self.call(krylov_comparison.main, self.write_programs(FILL_TABLE), "--fill", "2")
        self.assertEqual(status, 0)
        self.assertIn("| 5-point, 512 x 512 | CG, IC(2) | 9,999 | 34 | 19 | 1.5 | 0.5 | 2 |", output)
        for level in range(3):
            self.assertEqual(output.count(f"GMRES(30), ILU({level})"), 1)
        self.assertNotIn("(3)", output)

    def test_reports_systems_that_are_not_solved(self) -> None:
        for table, message in ((TABLE.replace("OK\n", "NOT CONVERGED\n"), "solution"), ("pcg: no GPU\n", "no GPU")):
            status, output = self.call(krylov_comparison.main, self.write_programs(table))
            self.assertEqual(status, 1)
            self.assertIn("error: 5-point, 512 x 512: ", output)
            self.assertIn(message, output)


if __name__ == "__main__":
    unittest.main()
