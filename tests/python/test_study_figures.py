"""The figures of the studies of papers."""

from __future__ import annotations

import unittest
from typing import Any

import support
import synthetic
from sptrsv_results.studies import command


class StudyFigures(support.CommandTest):
    def draw(self, study: str, made: dict[str, Any]) -> dict[str, list[str]]:
        """Returns the texts of each figure."""
        out = self.folder / "out"
        status, output = self.call(command.main, study, self.write("r.json", made), "-o", str(out))
        self.assertEqual(status, 0, output)
        page = (out / f"{study}.md").read_text(encoding="utf-8")
        for path in out.glob("*.svg"):
            self.assertIn(f"({path.name})", page)
            self.assertLess(path.stat().st_size, 20_000)
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


if __name__ == "__main__":
    unittest.main()
