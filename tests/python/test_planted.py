"""The script that plants errors into the kernels: where it plants them, and that it refuses texts that are gone."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "planted"))

from planting import Edit, Error, layers, plant
from removals import STATEMENT


def error(*edits: Edit) -> Error:
    return Error("name", "kind", ("program",), edits)


class Planting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.copy = self.root / "copy"
        self.copy.mkdir()
        (self.root / "a.hpp").write_text("x = f(i, j);\nwarp.sync();\ny = f(i, k);\n")

    def planted(self, *errors: Error) -> str:
        plant(self.root, self.copy, dict(enumerate(errors, start=1)))
        return (self.copy / "a.hpp").read_text()

    def test_expressions_and_statements_get_a_switch(self):
        text = self.planted(
            error(Edit("a.hpp", "i", "i + 1", within="f(i, k)")), error(Edit("a.hpp", "warp.sync();", ""))
        )
        self.assertEqual(
            text,
            "x = f(i, j);\nif (::sptrsv::planted::is_on(2)) {  } else { warp.sync(); }\n"
            "y = f((::sptrsv::planted::is_on(1) ? (i + 1) : (i)), k);\n",
        )

    def test_a_text_that_is_gone_or_ambiguous_is_named(self):
        for old in ("f(i, l)", "f(i"):
            with self.assertRaisesRegex(SystemExit, r"a\.hpp has this text \d times, not once:\nf\(i"):
                self.planted(error(Edit("a.hpp", old, "")))

    def test_the_end_of_an_expression_is_refused(self):
        for before in ("a.", "a->", "a::"):
            (self.root / "a.hpp").write_text(f"x = {before}b[i];\n")
            with self.assertRaisesRegex(SystemExit, r"the end of an expression in a\.hpp:\nb\[i\]"):
                self.planted(error(Edit("a.hpp", "b[i]", "b[j]")))

    def test_errors_that_overlap_are_in_different_layers(self):
        first, second = error(Edit("a.hpp", "f(i, j)", "0")), error(Edit("a.hpp", "j", "0"))
        third = error(Edit("a.hpp", "k", "0"), Edit("a.hpp", "warp.sync();", ""))
        self.assertEqual(layers(self.root, {1: first, 2: second, 3: third}), [{1: first, 3: third}, {2: second}])


class Removals(unittest.TestCase):
    def test_statements_that_synchronise_are_found(self):
        for line in ("  ctx.barrier();", "ctx_.template wait_copies<stages - 3>();", "    warp.sync();  // why"):
            self.assertTrue(STATEMENT.search(line), line)
        for line in ("// ctx.barrier();", "ctx.barrier_arrive_all;", "x = warp.sync();", "ctx.load(p);"):
            self.assertFalse(STATEMENT.search(line), line)


if __name__ == "__main__":
    unittest.main()
