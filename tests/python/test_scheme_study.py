"""The study of schemes and the training of the model, on synthetic results."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import pathlib
import re
import tempfile
import unittest
from typing import Any
from unittest import mock

import support
from sptrsv_results.studies import schemes as scheme_study

REST = "group=rg_sequential warps=ws_hardware alpha_level=inf signal=value buffered=no early_division=yes"
WARP = f"nw=16 ng=1 sw_rnnz=1 trans=none {REST}"
LANE = f"nw=16 ng=1 sw_rnnz=inf trans=merge_fixed(32) {REST}"
AVERAGE = f"nw=16 ng=1 sw_rnnz=8 trans=merge_avg(32,8) {REST}"
DEALT = WARP.replace("ws_hardware", "ws_rr")
REORDERED = WARP.replace("trans=none", "trans=reorder")
SCHEMES = (WARP, LANE, AVERAGE, DEALT, REORDERED)


def system(name: str, ms: dict[str, float], model_ms: float, rows: float = 1000, family: str = "f") -> dict[str, Any]:
    return {
        "matrix": name,
        "family": family,
        "search_seconds": 0.5,
        "model": {"scheme": WARP, "analysis_ms": 3.0, "ms": model_ms},
        "features": [rows, 3 * rows, 3, 5, 0.5, 30, 60, 0.2, 10, 0.5],
        "schemes": [{"scheme": s, "ms": v} for s, v in ms.items()] + [{"scheme": "nw=2", "refused": "why"}],
    }


TWO = [
    system("one", {WARP: 4, LANE: 8, AVERAGE: 2, DEALT: 1, REORDERED: 0.5}, 0.5),
    system("two", {WARP: 4, LANE: 1, AVERAGE: 4, DEALT: 4, REORDERED: 4}, 2.0, rows=30),
]


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, systems: list[dict[str, Any]]) -> pathlib.Path:
        path = self.folder / "schemes.json"
        path.write_text(json.dumps({"device": "A GPU", "systems": systems}), encoding="utf-8")
        return path


class Study(Files):
    def test_spaces_contain_each_other(self) -> None:
        _, systems = scheme_study.load([self.write(TWO)])
        self.assertEqual(scheme_study.speedups(systems[0]), [1, 2, 4, 8])
        self.assertEqual(scheme_study.speedups(systems[1]), [1, 1, 1, 1])
        self.assertEqual(scheme_study.spaces(systems).table.rows[0][2:], ["1.00x", "1.41x", "2.00x", "2.83x"])

    def test_choices_are_compared_at_their_best(self) -> None:
        _, systems = scheme_study.load([self.write(TWO)])
        rows = {row[0]: row[1:] for row in scheme_study.contrasts(systems).table.rows}
        self.assertEqual(rows["one warp per row over one lane per row (3a)"], ["1.41x", "0.25x", "8.00x", "1 of 2"])
        self.assertEqual(rows["reordered over natural (4b)"], ["0.71x", "0.25x", "2.00x", "1 of 2"])
        self.assertNotIn("32 warps over 16 (3b)", rows)

    def test_selection_says_what_the_model_loses(self) -> None:
        _, systems = scheme_study.load([self.write(TWO)])
        rows = {row[0]: row[1:] for row in scheme_study.selection(systems).table.rows}
        self.assertEqual(rows["fewer than 4"][-2:], ["0 %", "50.0 %"])
        self.assertEqual(rows["all"][-2:], ["50 %", "25.0 %"])
        self.assertEqual(rows["100 to 10,000"][1:4], ["500", "3", "0.5"])

    def test_takes_the_choices_of_models_that_did_not_know_the_system(self) -> None:
        made = [system("one", {WARP: 4, LANE: 1}, 1.0), system("two", {WARP: 4, LANE: 1}, 1.0)]
        for measured in (m for s in made for m in s["schemes"] if "ms" in m):
            measured["analysis_ms"] = 7.0
        _, systems = scheme_study.load([self.write(made)], {"one": WARP, "two": DEALT})
        self.assertEqual([s.model_ms for s in systems], [4, 10])  # the other was not measured
        self.assertEqual([s.model_analysis_ms for s in systems], [7, 7])

    def test_writes_all_tables(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(scheme_study.main([str(self.write(TWO)), "-o", str(self.folder)]), 0)
        text = (self.folder / "scheme_study.md").read_text(encoding="utf-8")
        self.assertEqual(text.count("\n## "), 3)
        self.assertIn("geometric mean", out.getvalue())

    def test_refuses_files_without_results(self) -> None:
        for systems in ([], [{"matrix": "x"}]):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(scheme_study.main([str(self.write(systems))]), 2)
            self.assertIn("error", said.getvalue())


class Figures(Files):
    def draw(self, systems: list[dict[str, Any]]) -> dict[str, list[str]]:
        """Returns the texts of each figure."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(scheme_study.main([str(self.write(systems)), "-o", str(self.folder)]), 0)
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


@unittest.skipUnless(
    importlib.util.find_spec("numpy") and importlib.util.find_spec("sklearn"), "no numpy or no scikit-learn"
)
class Training(Files):
    """The number of rows decides which of two schemes is the best, which a model can learn."""

    def systems(self, count: int) -> list[dict[str, Any]]:
        made = []
        for i in range(count):
            rows = 10 ** (2 + 4 * (i * 37 % count) / count)
            fast, slow = (WARP, LANE) if rows < 1e4 else (LANE, WARP)
            made.append(system(f"s{i}", {fast: 1, slow: 2, AVERAGE: 10}, 1, rows, f"family {i % 8}"))
        return made

    def test_learns_a_rule_that_holds_for_other_systems(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        data = train_schemes.load([self.write(self.systems(120))])
        self.assertEqual({data.schemes[i] for i in train_schemes.useful(data, 2)}, {WARP, LANE})
        quality, order = train_schemes.cross_validate(data, 2, 4, 1, train_schemes.SETTINGS[:1])
        self.assertGreater(quality.satisfactory, 0.9)
        self.assertLess(quality.mape, 0.05)
        of_two = train_schemes.Quality.of(data.times, train_schemes.fastest_of(data, order, 2))
        self.assertEqual(of_two.satisfactory, 1, "there are only two")
        self.assertLess(train_schemes.best_single(data).satisfactory, 0.7)

    def test_writes_a_header_of_the_chosen_schemes(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        header = self.folder / "table.hpp"
        short = tuple(train_schemes.Settings(0.1, iterations) for iterations in (20, 60))
        with mock.patch.object(train_schemes, "SETTINGS", short), contextlib.redirect_stdout(io.StringIO()):
            code = train_schemes.main(
                [str(self.write(self.systems(24))), "-o", str(header), "--schemes", "2", "--folds", "2"]
            )
        self.assertEqual(code, 0)
        text = header.read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'"(nw=[^"]*)"', text)), {WARP, LANE})
        for declared in (
            "mean[10]",
            "weights_1[5][24][10]",
            "weights_2[5][24][24]",
            "weights_3[5][2][24]",
            "bias_3[5][2]",
        ):
            self.assertIn(declared, text)
        self.assertIn("24 systems on A GPU", text)

    def test_a_scheme_that_was_not_measured_is_not_satisfactory(self) -> None:
        import numpy

        from sptrsv_results.fit import schemes as train_schemes

        quality = train_schemes.Quality.of(numpy.array([[1, numpy.inf], [1, 1.1]]), numpy.array([1, 1]))
        self.assertEqual(quality.satisfactory, 0.5)
        self.assertAlmostEqual(quality.mape, (0.9 + 1 - 1 / 1.1) / 2)

    def test_learns_from_other_orders_and_is_judged_without_them(self) -> None:
        import numpy

        from sptrsv_results.fit import schemes as train_schemes

        systems = self.systems(60)
        for made in systems[1::2]:
            made["renumbering"] = "random"
            made["schemes"] = [m for m in made["schemes"] if m["scheme"] != AVERAGE]
        systems[0]["schemes"][2]["ms"] = 0.5
        data = train_schemes.load([self.write(systems)])
        self.assertEqual(list(data.own_order), [True, False] * 30)
        self.assertEqual(
            {data.schemes[i] for i in train_schemes.useful(data, 16)}, {WARP, LANE, "nw=2"}, "tried on all"
        )
        quality, order = train_schemes.cross_validate(data, 16, 4, 1, train_schemes.SETTINGS[:1])
        own = numpy.flatnonzero(data.own_order)
        chosen = train_schemes.fastest_of(data, order, 1)
        self.assertEqual(quality, train_schemes.Quality.of(data.times[own], chosen[own]))
        self.assertLess(quality.satisfactory, 1, "the first is best with a scheme that is not known")
        self.assertGreater(quality.satisfactory, 0.8)

    def test_refuses_systems_of_one_family(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(train_schemes.main([str(self.write(TWO))]), 2)
        self.assertIn("one family", said.getvalue())


if __name__ == "__main__":
    unittest.main()
