"""The figures are made in another process: the interpreter of the tests need not have matplotlib."""

from __future__ import annotations

import pathlib
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree
from typing import Any

import support
import synthetic

NAMES = {
    "performance_profile",
    "speedup_rows_per_level",
    "speedup_nnz",
    "floor",
    "analysis",
    "break_even",
    "cold_warm",
}
SVG = "{http://www.w3.org/2000/svg}"


@unittest.skipUnless(support.python_with_matplotlib(), "no matplotlib (Debian: python3-matplotlib)")
class Figures(support.ScriptTest):
    def draw(self, made: dict[str, Any], folder: str = "out", *options: str) -> dict[str, pathlib.Path]:
        command = [
            support.python_with_matplotlib(),
            str(support.SCRIPTS / "report.py"),
            self.write("r.json", made),
            "-o",
            str(self.folder / folder),
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {path.stem: path for path in (self.folder / folder).glob("*.svg")}

    def texts(self, path: pathlib.Path) -> list[str]:
        return ["".join(text.itertext()) for text in ElementTree.parse(path).iter(f"{SVG}text")]

    def test_what_every_figure_holds(self) -> None:
        made = synthetic.results()
        made["context"]["command"] = "bench --cost $5 & <more>"
        figures = self.draw(made)
        self.assertEqual(set(figures), NAMES)
        report = (self.folder / "out" / "report.md").read_text(encoding="utf-8")
        page = (self.folder / "out" / "report.html").read_text(encoding="utf-8")
        for name, path in figures.items():
            texts = self.texts(path)
            self.assertIn("bench --cost $5 & <more>", texts)
            caption = (
                "NVIDIA H200, driver 550.90, CUDA 12.4, cuSPARSE 12.3.1; sptrsv_bench 0.1.0; "
                "2025-01-31T12:00:00Z"
            )
            self.assertIn(caption, texts)
            self.assertIn(f"({name}.svg)", report)
            self.assertIn(caption, report)
            self.assertLess(path.stat().st_size, 120_000)
            self.assertIn("fill: #ffffff", path.read_text(encoding="utf-8"))
        self.assertEqual(page.count("data:image/svg+xml"), len(NAMES))

    def test_text_is_anchored_inside_the_picture(self) -> None:
        for path in self.draw(synthetic.results()).values():
            root = ElementTree.parse(path).getroot()
            width, height = (float(number) for number in root.get("viewBox", "").split()[2:])
            for text in root.iter(f"{SVG}text"):
                if text.get("x"):
                    self.assertTrue(0 <= float(text.get("x", "")) <= width, "".join(text.itertext()))
                    self.assertTrue(0 <= float(text.get("y", "")) <= height, "".join(text.itertext()))

    def test_the_same_results_make_the_same_figures(self) -> None:
        first, second = self.draw(synthetic.results(), "a"), self.draw(synthetic.results(), "b")
        for name in NAMES:
            self.assertEqual(first[name].read_bytes(), second[name].read_bytes(), name)

    def test_figures_without_numbers_are_left_out(self) -> None:
        made = synthetic.results()
        for row in made["rows"]:
            row["cold"] = row["speedup_cold"] = None
        self.assertEqual(set(self.draw(made)), NAMES - {"cold_warm"})
        alone = synthetic.results(count=3, policies=("merged",))
        self.assertEqual(set(self.draw(alone, "alone")), {"performance_profile", "floor"})

    def test_odd_results(self) -> None:
        self.draw(synthetic.results(count=1), "one")
        made = synthetic.results(count=8, policies=("cusparse", *(f"policy_number_{i}" for i in range(11))))
        for row in made["rows"]:
            row |= {"levels": 1, "rows_per_level": float(row["n"]), "ratio_to_floor": 1.0}
        self.draw(made, "many")
        made = synthetic.results(count=2)
        for row in made["rows"]:
            synthetic.not_solved(row, "failed", "no memory")
        self.assertEqual(self.draw(made, "failed"), {})

    def test_no_gpu(self) -> None:
        made = synthetic.results(count=9, policies=("host_parallel", "host_serial"), baseline="host_serial")
        made["context"] |= dict.fromkeys(
            ("device", "sm_count", "driver", "cuda_runtime", "cusparse", "hop_ns", "l2_bytes")
        )
        figures = self.draw(made)
        self.assertIn(
            "no GPU (an x86 machine); sptrsv_bench 0.1.0; 2025-01-31T12:00:00Z", self.texts(figures["floor"])
        )
        self.assertIn("speed-up over host_serial", self.texts(figures["speedup_nnz"]))


if __name__ == "__main__":
    unittest.main()
