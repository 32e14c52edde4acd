from __future__ import annotations

import pathlib
import random
import unittest

import support
from sptrsv_results.fit import block_kernels as fit


def square(entries_per_row: float, empty: float, tree: fit.SquareTree) -> fit.Block:
    """Returns a square on which the kernel that `tree` chooses is twice as fast as the others."""
    rows = 1000
    with_entries = round(rows * (1 - empty))
    part = fit.Block(False, rows, with_entries, round(entries_per_row * with_entries), 0, {})
    part.times = dict.fromkeys(fit.SQUARES, 2.0) | {tree.choose(part): 1.0}
    return part


def triangle(levels: int, width: int, tree: fit.TriangleTree) -> fit.Block:
    part = fit.Block(True, levels * width, levels * width, 3 * levels * width, levels, {})
    part.times = dict.fromkeys(fit.TRIANGLES, 3.0) | {tree.choose(part): 1.0}
    return part


class KnownThresholds(unittest.TestCase):
    def setUp(self) -> None:
        self.random = random.Random(5)

    def test_of_squares_are_found_again(self) -> None:
        tree = fit.SquareTree(4, 0.25, 0.75)
        parts = [square(self.random.uniform(1, 40), self.random.uniform(0, 0.99), tree) for _ in range(400)]
        self.assertEqual(fit.fit(parts, fit.square_trees()), (tree, None))
        self.assertEqual(fit.loss(parts, tree.choose), 1)
        self.assertGreater(fit.loss(parts, fit.paper_square), 1.1)

    def test_of_triangles_are_found_again(self) -> None:
        tree = fit.TriangleTree(8, 1000, 3000, 4)
        parts = [
            triangle(round(10 ** self.random.uniform(0.4, 4.5)), round(10 ** self.random.uniform(0, 4)), tree)
            for _ in range(1500)
        ]
        found, _ = fit.fit(parts, fit.triangle_trees())
        self.assertEqual((found.level_set_levels, found.serial_levels, found.serial_rows), (8, 3000, 4))
        self.assertLess(fit.loss(parts, found.choose), 1.001)

    def squares_of(self, first: str, second: str, count: int) -> list[fit.Block]:
        """Returns squares of two matrices, on which opposite kernels are fastest."""
        made = []
        for matrix, tree in ((first, fit.SquareTree(64, 0.5, 0.5)), (second, fit.SquareTree(0, 0.5, 0.5))):
            for _ in range(count):
                part = square(self.random.uniform(2, 40), 0, tree)
                part.matrix = matrix
                made.append(part)
        return made

    def test_are_judged_on_matrices_that_were_held_out(self) -> None:
        """Two matrices have opposite fastest kernels, so that the tree of one loses a factor of 2 on the other."""
        parts = self.squares_of("a", "b", 20)
        found, held_out = fit.fit(parts, fit.square_trees())
        self.assertAlmostEqual(held_out, 2)
        self.assertLess(fit.loss(parts, found.choose), 1.5)

    def test_are_judged_on_the_other_half(self) -> None:
        """The matrices are in different halves and have opposite fastest kernels."""
        parts = self.squares_of("cage8", "Andrews", 10)
        lost = fit.losses_on_other_half(parts, fit.square_trees())
        rounded = [(matrix, round(loss, 9)) for matrix, loss in lost]
        self.assertEqual(rounded, [("Andrews", 2)] * 10 + [("cage8", 2)] * 10)
        self.assertIn(
            "// on the other half of the systems: mean 2.000, worst 2.00 (Andrews)",
            fit.report(parts, cross_validate=True),
        )

    def test_a_kernel_that_was_not_measured_is_a_bad_choice(self) -> None:
        part = fit.Block(True, 100, 100, 300, 50, {"sync_free": 2.0})
        self.assertAlmostEqual(fit.loss([part], lambda _: "serial"), 10)


class PapersTree(unittest.TestCase):
    def test_squares(self) -> None:
        for per_row, empty, expected in (
            (12, 50, "scalar_csr"),
            (12, 51, "scalar_dcsr"),
            (13, 15, "vector_csr"),
            (13, 16, "vector_dcsr"),
        ):
            part = fit.Block(False, 100, 100 - empty, 100 * per_row, 0, {})
            self.assertEqual(fit.paper_square(part), expected)

    def test_triangles(self) -> None:
        for per_row, levels, expected in (
            (1, 100, "level_set"),
            (1, 101, "sync_free"),
            (15, 20, "level_set"),
            (16, 20, "sync_free"),
            (3, 20001, "serial"),
        ):
            part = fit.Block(True, 30000, 30000, 30000 * (per_row - 1), levels, {})
            self.assertEqual(fit.paper_triangle(part), expected)


class Program(support.CommandTest):
    def run_on(self, *lines: str) -> tuple[int, str]:
        path = self.folder / "parts.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self.call(fit.main, str(path))

    def test_prints_constants_and_the_fastest_kernels(self) -> None:
        lines = [",".join(fit.COLUMNS)]
        for kernel, time in (("scalar_csr", 4.0), ("vector_csr", 8.0), ("scalar_dcsr", 2.0), ("vector_dcsr", 9.0)):
            lines.append(f"m,1,1,square,1000,300,900,0,{kernel},{time}")
        for kernel, time in (("level_set", 9.0), ("sync_free", 3.0)):
            lines.append(f"m,1,0,triangle,1000,1000,2000,40,{kernel},{time}")
        status, output = self.run_on(*lines)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"static constexpr double scalar_entries = \d")
        self.assertRegex(output, r"static constexpr int level_set_levels = \d")
        self.assertRegex(output, r"(?m)^ +70 +2  scalar_dcsr 1$")
        self.assertRegex(output, r"(?m)^ +32 +2  sync_free 1$")
        self.assertIn("1 squares: 1.000 times the best", output)

    def test_the_kernel_of_cusparse_cannot_be_chosen(self) -> None:
        times = (("scalar_csr", 4.0), ("vector_csr", 8.0), ("cusparse_spmv", 1.0))
        lines = [f"m,1,1,square,1000,1000,2900,0,{kernel},{time}" for kernel, time in times]
        parts = fit.load(pathlib.Path(self.write("parts.csv", "\n".join([",".join(fit.COLUMNS), *lines]))))
        self.assertEqual([part.times for part in parts], [{"scalar_csr": 4.0, "vector_csr": 8.0}])
        status, output = self.run_on(",".join(fit.COLUMNS), *lines)
        self.assertEqual(status, 0, output)
        self.assertIn("1 squares: 1.000 times the best", output)
        self.assertNotIn("cusparse", output)

    def test_unusable_tables(self) -> None:
        self.assertEqual(self.run_on("a,b")[0], 2)
        self.assertEqual(self.call(fit.main, str(self.folder / "none.csv"))[0], 2)


if __name__ == "__main__":
    unittest.main()
