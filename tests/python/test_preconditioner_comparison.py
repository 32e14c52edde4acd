"""Tests of scripts/preconditioner_comparison.py with programs that print fixed tables."""

from __future__ import annotations

import gzip
import importlib.util
import pathlib
import sys
import unittest
from types import ModuleType

from support import ROOT, CommandTest

sys.path.insert(0, str(ROOT / "scripts"))  # of which the script imports krylov_comparison


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
        self.assertEqual(output.count(cells), sum(map(len, comparison.GRIDS.values())))

    def test_solves_the_systems_that_are_named(self) -> None:
        status, output = self.call(comparison.main, self.write_programs(TABLE), "--only", "^elasticity, 16")
        self.assertEqual(status, 0)
        self.assertEqual(output.count("**Chebyshev(3): 28, 34.9**"), 1)

    def test_compares_with_cusparse(self) -> None:
        cells = ("1,728", "11,232", "34, 34", "1.50 ms    3.00 ms", "19  20", "2.00 ms    8.00 ms", "OK  OK")
        labels = (
            "rows",
            "entries",
            "levels of the solves",
            "set-up",
            "iterations",
            "time to the solution",
            "solution",
        )
        table = "".join(f"{label}   {cell}\n" for label, cell in zip(labels, cells, strict=True))
        programs = self.write_programs(table)
        status, output = self.call(comparison.main, programs, "--cusparse", "--only", "^elasticity, 16")
        self.assertEqual(status, 0, output)
        self.assertIn("| elasticity, 16 x 16 x 16 | CG, IC(0) | 1,728 | 11,232 | 34 | 19 | 20 | 1.5 | 3 |", output)
        programs = self.write_programs(table.replace("OK  OK", "OK  NOT CONVERGED"))
        status, output = self.call(comparison.main, programs, "--cusparse", "--only", "^elasticity, 16")
        self.assertEqual(status, 1)
        self.assertIn("elasticity, 16 x 16 x 16: not solved by both", output)

    def test_recommends_what_solves_most_systems_of_a_kind(self) -> None:
        run = comparison.Run
        solved = [
            [run("IC(0)", "20", 1.0), run("SSOR", "30", 2.0), run("Jacobi", "80", 4.0)],
            [run("SSOR", "30", 3.0), run("Jacobi", "80", 1.5)],
        ]
        line = "| circuits | 2 | **SSOR: 2.00, at most 2.00** | - | - | - | Jacobi: 2.00, at most 4.00 |"
        self.assertEqual(comparison.recommend("circuits", solved), line)
        line = "| one | 1 | **IC(0): 1.00, at most 1.00** | - | - | - | Jacobi: 4.00, at most 4.00 |"
        self.assertEqual(comparison.recommend("one", solved[:1]), line)
        solved[1] = solved[1][1:]
        line = "| some | 2 | IC(0): 1.00, at most 1.00; solves 1 | - | - | - | **Jacobi: 2.00, at most 4.00** |"
        self.assertEqual(comparison.recommend("some", solved), line)

    def test_takes_the_kind_of_a_file_from_its_folder(self) -> None:
        text = "%%MatrixMarket matrix coordinate real general\n1 1 0\n"
        self.write("a.mtx", text)
        (self.folder / "circuits").mkdir()
        self.write("circuits/b.mtx", text)
        found = comparison.systems_of(self.folder)[-2:]
        self.assertEqual([(kind, name) for kind, name, _ in found], [("files", "a"), ("circuits", "b")])

    def test_folders_may_have_spaces_in_their_names(self) -> None:
        programs = self.write_programs(TABLE)
        pathlib.Path(self.write("gmres", f"#!/bin/sh\n[ -f \"$1\" ] && cat <<'END'\n{TABLE}END\n"))
        (self.folder / "power grids").mkdir()
        self.write("power grids/b.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n")
        status, output = self.call(comparison.main, programs, str(self.folder), "--only", "^b$")
        self.assertEqual(status, 0, output)
        self.assertIn("| power grids | 1 |", output)

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
