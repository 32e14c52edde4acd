"""The figures of the studies of papers."""

from __future__ import annotations

import unittest
from typing import Any

import support
import synthetic
from sptrsv_results.fit import block_kernels as fit
from sptrsv_results.studies import command
from sptrsv_results.studies import schemes as scheme_study
from synthetic_schemes import REORDERED, TWO, SchemesTest, system


@support.needs_matplotlib
class StudyFigures(support.CommandTest):
    def draw(self, study: str, made: dict[str, Any]) -> dict[str, list[str]]:
        """Returns the texts of each figure."""
        out = self.folder / "out"
        status, output = self.call(command.main, study, self.write("r.json", made), "-o", str(out))
        self.assertEqual(status, 0, output)
        page = (out / f"{study}.md").read_text(encoding="utf-8")
        for path in out.glob("*.svg"):
            self.assertIn(f"({path.name})", page)
            self.assertLess(path.stat().st_size, 40_000)
        return {path.stem: support.svg_texts(path) for path in out.glob("*.svg")}

    def test_li_zhang(self) -> None:
        figures = self.draw("li_zhang", synthetic.pairs())
        self.assertEqual(set(figures), {"li_zhang_5_point", "li_zhang_27_point"})
        for texts in figures.values():
            for text in ("GFLOPS (logarithmic)", "Single precision", "Double precision", "self_scheduled", "cuSPARSE"):
                self.assertIn(text, texts)

    def test_liu(self) -> None:
        self.assertIn("sync_free_column_global", self.draw("liu", synthetic.lower_triangles())["liu"])

    def test_lu_niu_liu(self) -> None:
        texts = self.draw("lu_niu_liu", synthetic.block_solves())["lu_niu_liu"]
        self.assertIn("recursive_block", texts)
        self.assertNotIn("recursive_block_16", texts)

    def test_one_precision(self) -> None:
        made = synthetic.lower_triangles()
        made["rows"] = [row for row in made["rows"] if row["value"] == "f32"]
        self.assertNotIn("Double precision", self.draw("liu", made)["liu"])


@support.needs_matplotlib
class SchemeFigures(SchemesTest):
    def draw(self, systems: list[dict[str, Any]]) -> dict[str, list[str]]:
        """Returns the texts of each figure."""
        status, output = self.call(scheme_study.main, str(self.write_systems(systems)), "-o", str(self.folder))
        self.assertEqual(status, 0, output)
        page = (self.folder / "scheme_study.md").read_text(encoding="utf-8")
        for path in self.folder.glob("*.svg"):
            self.assertIn(f"({path.name})", page)
        return {path.stem: support.svg_texts(path) for path in self.folder.glob("*.svg")}

    def test_of_the_paper(self) -> None:
        figures = self.draw(TWO)
        self.assertEqual(set(figures), {f"scheme_figure_{number}" for number in (3, 4, 9)})
        self.assertIn("one warp per row over one lane per row: 1.41x", figures["scheme_figure_3"])
        self.assertIn("reordered over natural: 0.71x", figures["scheme_figure_4"])
        for space in ("NM over MF: 1.41x", "MHS over MF: 2.00x", "RL over MF: 2.83x"):
            self.assertIn(space, figures["scheme_figure_9"])

    def test_figures_without_numbers_are_left_out(self) -> None:
        self.assertEqual(self.draw([system("one", {REORDERED: 1}, 1)]), {})


@support.needs_matplotlib
class BlockFigure(support.CommandTest):
    def test_draws_the_fastest_kernels(self) -> None:
        lines = [",".join(fit.COLUMNS)]
        for kernel, time in (("level_set", 9.36), ("sync_free", 3.0)):
            lines.append(f"m,1,0,triangle,1000,1000,2000,40,{kernel},{time}")
        for kernel, time in (("scalar_csr", 4.0), ("vector_csr", 9.32)):
            lines.append(f"m,1,1,square,1000,300,900,0,{kernel},{time}")
        table, figure = self.write("parts.csv", "\n".join(lines) + "\n"), self.folder / "figure.svg"
        status, output = self.call(fit.main, table, "--figure", str(figure), "--caption", "one machine")
        self.assertEqual(status, 0, output)
        drawn = figure.read_text(encoding="utf-8")
        for text in (">SF sync-free<", ">SF<", ">SC scalar-CSR<", ">SC<", ">3.12<", ">2.33<", "one machine<"):
            self.assertIn(text, drawn)
        self.assertNotIn("level-set", drawn)


if __name__ == "__main__":
    unittest.main()
