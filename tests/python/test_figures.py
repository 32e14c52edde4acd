"""The figures of the report."""

from __future__ import annotations

import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from typing import Any

import support
import synthetic
from sptrsv_results import report
from sptrsv_results.format import parse_results

if support.HAS_MATPLOTLIB:
    from sptrsv_results import figures, plot

NAMES = {
    "performance_profile",
    "speedup_rows_per_level",
    "speedup_nnz",
    "time_over_model",
    "analysis",
    "break_even",
    "cold_warm",
}
SVG = "{http://www.w3.org/2000/svg}"
MANY = ("cusparse", "dataflow", "dataflow_partitioned", "level_set", "sync_free_warp", "merged", "automatic")

ONE_PANEL = {"break_even", "performance_profile", "speedup_nnz", "speedup_rows_per_level", "time_over_model"}


def svg_title(path: pathlib.Path) -> str | None:
    return ElementTree.parse(path).getroot().findtext("{http://www.w3.org/2000/svg}title")


@support.needs_matplotlib
class Figures(support.CommandTest):
    def draw(self, made: dict[str, Any], folder: str = "out", *options: str) -> dict[str, pathlib.Path]:
        out = self.folder / folder
        status, output = self.call(report.main, self.write("r.json", made), "-o", str(out), *options)
        self.assertEqual(status, 0, output)
        return {path.stem: path for path in out.glob("*.svg")}

    def test_what_every_figure_holds(self) -> None:
        made = synthetic.results()
        made["context"]["command"] = "bench --cost $5 & <more>"
        drawn = self.draw(made)
        self.assertEqual(set(drawn), NAMES)
        markdown = (self.folder / "out" / "report.md").read_text(encoding="utf-8")
        page = (self.folder / "out" / "report.html").read_text(encoding="utf-8")
        machine = "NVIDIA H200, driver 550.90, CUDA 12.4, cuSPARSE 12.3.1; sptrsv_bench 0.1.0; 2025-01-31T12:00:00Z"
        for name, path in drawn.items():
            texts = support.svg_texts(path)
            self.assertIn("bench --cost $5 & <more>", texts)
            self.assertIn(machine, texts)
            self.assertIn(f"({name}.svg)", markdown)
            if name in ONE_PANEL:  # other figures have a title above each panel
                self.assertIn(svg_title(path), texts)
        self.assertEqual(page.count("data:image/svg+xml"), len(NAMES))
        for fact in (r"| command | bench --cost $5 & \<more\> |", "| GPU | NVIDIA H200 |", "| driver | 550.90 |"):
            self.assertIn(fact, markdown)

    def test_the_text_says_which_series_are_in_exact_order(self) -> None:
        for policies, text in ((MANY, figures.ALL_EXACT), ((*MANY, "dataflow_inverses"), figures.NOT_EXACT)):
            self.draw(synthetic.results(policies=policies))
            self.assertIn(text, (self.folder / "out" / "report.md").read_text(encoding="utf-8"))

    def test_files_are_small_and_have_no_background(self) -> None:
        for path in self.draw(synthetic.results(count=107)).values():
            self.assertLess(path.stat().st_size, 40_000, path)
            root = ElementTree.parse(path).getroot()
            self.assertEqual(list(root.iter(f"{SVG}rect")), [])
            for drawn in root.iter(f"{SVG}path"):
                self.assertNotIn(f"L{plot.WIDTH:g} ", drawn.get("d", ""))

    def test_every_colour_has_one_for_each_mode(self) -> None:
        for path in self.draw(synthetic.results()).values():
            light, dark = path.read_text(encoding="utf-8").split("@media (prefers-color-scheme:dark)")
            dark, elements = dark.split("</style>")
            rules = [dict(re.findall(r"\.(s\d+)\{(.*?)\}", part)) for part in (light, dark)]
            self.assertEqual(set(rules[0]), set(re.findall(r'class="([^"]*)"', elements)), path)
            for name, rule in rules[0].items():
                before, after = (dict(re.findall(r"(\w+): ?(#\w+)", text)) for text in (rule, rules[1][name]))
                self.assertTrue(before, rule)
                self.assertEqual({what: plot.DARK[colour] for what, colour in before.items()}, after)
            self.assertIsNone(re.search(r"style=|#[0-9a-f]{6}", elements), path)

    def test_every_look_has_a_colour_a_mark_and_dashes_of_its_own(self) -> None:
        looks = [*plot.LOOKS, plot.BASELINE]
        for values in zip(*((look.light, look.dark, look[2:5], look.dashes) for look in looks), strict=True):
            self.assertEqual(len(set(values)), len(looks), values)

    def test_the_dark_colour_follows_from_the_light_one(self) -> None:
        pairs = [*(look[:2] for look in plot.LOOKS), plot.BASELINE[:2], plot.INK, plot.MUTED, plot.AXIS, plot.GRID]
        for light, dark in [*pairs, plot.GAP]:
            self.assertEqual(plot.DARK[light], dark)

    def test_few_policies_are_shown_one_by_one(self) -> None:
        texts = support.svg_texts(self.draw(synthetic.results())["speedup_nnz"])
        for policy in ("level_set", "sync_free_warp", "merged"):
            self.assertIn(policy, texts)

    def test_many_policies_are_shown_as_the_default_and_the_best_of_the_others(self) -> None:
        made = synthetic.results(policies=(*MANY, "dataflow_inverses"))
        texts = support.svg_texts(self.draw(made)["time_over_model"])
        for label in (
            "dataflow (default, exact order)",
            "dataflow_inverses (not exact order)",
            "best of 3 others (exact order)",
            "cuSPARSE",
        ):
            self.assertIn(label, texts)
        self.assertFalse(set(MANY) & set(texts))
        self.assertTrue(any("fastest policy of the project that is not a form of dataflow" in text for text in texts))

    def test_the_best_of_the_others_is_chosen_for_each_problem(self) -> None:
        made = synthetic.results(count=3, policies=MANY)
        for row in made["rows"]:
            fast = {"file_00": "merged", "file_01": "level_set"}.get(row["matrix"], "sync_free_warp")
            is_fast = row["policy"] == fast or row["policy"].startswith("dataflow") or row["policy"] == "automatic"
            row["warm"] |= {"batch_ms": 1.0 if is_fast else 2.0}
        for row in made["rows"]:
            if row["policy"] == "sync_free_warp" and row["matrix"] == "file_02":
                synthetic.not_solved(row, "failed", "no memory")
        synthetic.compare_with_baseline(made)
        results = parse_results(made)
        default, best, baseline = figures.choose_series(results, results.policies)
        self.assertEqual({row.policy for row in default.rows.values()}, {"dataflow"})
        self.assertEqual(
            {row.matrix: row.policy for row in best.rows.values()},
            {"file_00": "merged", "file_01": "level_set", "file_02": "level_set"},
        )
        self.assertTrue(baseline.is_baseline)

    def test_text_is_anchored_inside_the_picture(self) -> None:
        for path in self.draw(synthetic.results()).values():
            root = ElementTree.parse(path).getroot()
            width, height = (float(number) for number in root.get("viewBox", "").split()[2:])
            for text in root.iter(f"{SVG}text"):
                self.assertTrue(0 <= float(text.get("x", "")) <= width, "".join(text.itertext()))
                self.assertTrue(0 <= float(text.get("y", "")) <= height, "".join(text.itertext()))

    def test_marks_are_inside_the_picture(self) -> None:
        for path in self.draw(synthetic.results()).values():
            root = ElementTree.parse(path).getroot()
            width, height = (float(number) for number in root.get("viewBox", "").split()[2:])
            for mark in root.iter(f"{SVG}use"):
                x, y = float(mark.get("x", "")), float(mark.get("y", ""))
                self.assertTrue(0 <= x <= width and 0 <= y <= height, (path, x, y))

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
        self.assertEqual(set(self.draw(alone, "alone")), {"performance_profile", "time_over_model"})

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
        drawn = self.draw(made)
        self.assertIn(
            "no GPU (an x86 machine); sptrsv_bench 0.1.0; 2025-01-31T12:00:00Z",
            support.svg_texts(drawn["time_over_model"]),
        )
        self.assertIn("speed-up over host_serial", support.svg_texts(drawn["speedup_nnz"]))


@support.needs_matplotlib
class Marks(support.CommandTest):
    def test_every_point_has_one(self) -> None:
        for count in (1, 2, 3):
            figure = plot.Figure("", [], 1, 100)
            axis = plot.log_axis("", [1, 10], plot.plain)
            figure.panel(0, axis, axis).marks([(1.0 + i, 1.0 + i) for i in range(count)], plot.LOOKS[0])
            path = self.folder / "marks.svg"
            figure.save(path)
            root = ElementTree.parse(path).getroot()
            drawn = {(use.get("x"), use.get("y"), use.get("href")) for use in root.iter(f"{SVG}use")}
            self.assertEqual(len(drawn), count)
            self.assertEqual({href for *_, href in drawn}, {"#m0"})
            self.assertEqual([mark.get("id") for mark in root.iter(f"{SVG}path") if mark.get("id")], ["m0"])


@support.needs_matplotlib
class Axes(unittest.TestCase):
    def test_ticks_are_round_and_few(self) -> None:
        for low, high in ((1, 1.02), (1, 1.5), (0.9, 4), (0.3, 30), (1, 1e5), (1e-3, 1e9)):
            axis = plot.log_axis("", [low, high], plot.plain)
            self.assertTrue(2 <= len(axis.ticks) <= 14, (low, high, axis.ticks))
            for tick in axis.ticks:
                self.assertTrue(axis.low <= tick <= axis.high)
                self.assertLess(len(plot.plain(tick)), 8, tick)

    def test_a_single_value_has_an_axis(self) -> None:
        axis = plot.log_axis("", [7.0], plot.plain)
        self.assertTrue(axis.low < 7 < axis.high)

    def test_shares_are_steps(self) -> None:
        figure = plot.Figure("", [], 1, 100)
        panel = figure.panel(0, plot.log_axis("", [1, 100], plot.plain, with_margin=False), plot.percent_axis(""))
        panel.shares([10.0], 2, plot.LOOKS[0])
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "steps.svg"
        figure.save(path)
        drawn = [line.get("d", "") for line in ElementTree.parse(path).iter(f"{SVG}path")]
        (steps,) = (line for line in drawn if line.count("L") > 1)
        points = [tuple(map(float, point.split())) for point in re.split("[ML]", steps)[1:]]
        (left, low), (middle, _), (_, high), *_, (right, end) = points
        self.assertEqual((left, end), (62, high))
        self.assertAlmostEqual(low - high, 50 / 102 * 100, delta=0.11)
        self.assertAlmostEqual(middle, (62 + right) / 2, delta=0.11)


if __name__ == "__main__":
    unittest.main()
