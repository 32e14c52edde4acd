"""Tests of scripts/preconditioner_comparison.py with programs that print fixed tables."""

from __future__ import annotations

import gzip
import importlib.util
import pathlib
import unittest
from types import ModuleType

from support import ROOT, CommandTest


def load() -> ModuleType:
    path = ROOT / "scripts" / "preconditioner_comparison.py"
    spec = importlib.util.spec_from_file_location("preconditioner_comparison", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


comparison = load()

TABLE = """\
                               set-up   iterations   an iteration   to the solution   solution
IC(0)                         4.33 ms           27        1.68 ms          49.77 ms         OK
SSOR                          9.89 ms        1,030        1.13 ms          43.73 ms         OK
Jacobi                      0.0924 ms           76        1.09 ms           1.68 ms         iteration limit
Chebyshev(3)                  5.22 ms           28        1.06 ms          34.90 ms         OK
ILU(0) by 2 Jacobi sweeps     6.23 ms           33        1.66 ms          60.86 ms         OK
ILU(0), colours                     -            -              -                 -         ILU(0) breaks down
"""


class PreconditionerComparison(CommandTest):
    def write_programs(self, table: str) -> str:
        for name in ("pcg", "gmres"):
            path = pathlib.Path(self.write(name, f"#!/bin/sh\ncat <<'END'\n{table}END\n"))
            path.chmod(0o755)
        return str(self.folder)

    def test_prints_the_fastest_of_each_class(self) -> None:
        status, output = self.call(comparison.main, self.write_programs(TABLE))
        self.assertEqual(status, 0)
        cells = "SSOR: 1,030, 43.73 | ILU(0) by 2 Jacobi sweeps: 33, 60.86 | - | **Chebyshev(3): 28, 34.9** | - |"
        self.assertEqual(output.count(cells), len(comparison.GRIDS))
        self.assertIn(f"| Chebyshev(3) | {len(comparison.GRIDS)} |", output)

    def test_chooses_the_method_by_the_file(self) -> None:
        symmetric = pathlib.Path(self.write("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n1 1 0\n"))
        self.assertIn("pcg", comparison.command_of(symmetric))
        self.assertIn("--laplacian", comparison.command_of(symmetric))
        general = self.folder / "b.mtx.gz"
        with gzip.open(general, "wt") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n1 1 0\n")
        self.assertIn("gmres", comparison.command_of(general))
        self.assertNotIn("--laplacian", comparison.command_of(general))

    def test_says_which_systems_are_not_solved(self) -> None:
        status, output = self.call(comparison.main, self.write_programs(TABLE.replace("OK", "stagnation")))
        self.assertEqual(status, 1)
        self.assertIn("5-point, 512 x 512: no preconditioner has converged", output)


if __name__ == "__main__":
    unittest.main()
