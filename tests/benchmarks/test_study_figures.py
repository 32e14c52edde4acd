"""The figures of the studies, made in another process like those of the report."""

from __future__ import annotations

import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from typing import Any

import support
import synthetic


@unittest.skipUnless(support.python_with_matplotlib(), "no matplotlib (Debian: python3-matplotlib)")
class StudyFigures(support.ScriptTest):
    def draw(self, study: str, made: dict[str, Any]) -> dict[str, list[str]]:
        """The texts of each figure."""
        out = self.folder / "out"
        command = [
            support.python_with_matplotlib(),
            str(support.SCRIPTS / "studies.py"),
            study,
            self.write("r.json", made),
            "-o",
            str(out),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (out / f"{study}.md").read_text(encoding="utf-8")
        texts = {}
        for path in out.glob("*.svg"):
            self.assertIn(f"({path.name})", page)
            svg = "{http://www.w3.org/2000/svg}text"
            texts[path.stem] = ["".join(text.itertext()) for text in ElementTree.parse(path).iter(svg)]
        return texts

    def test_li_zhang(self) -> None:
        figures = self.draw("li_zhang", synthetic.pairs())
        self.assertEqual(set(figures), {"li_zhang_5_point", "li_zhang_27_point"})
        for texts in figures.values():
            for text in ("GFLOPS", "Single precision", "Double precision", "self_scheduled", "cuSPARSE"):
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
