from __future__ import annotations

import unittest
from typing import Any

import support
import synthetic
from sptrsv_results.format import parse_results
from sptrsv_results.page import Section
from sptrsv_results.studies import command as studies
from sptrsv_results.studies.complete_factors import complete_factors


def results() -> dict[str, Any]:
    """Returns solves of two factors: forward and backward, with one and eight right-hand sides."""
    solvers = ("supernodal", "dataflow", "cudss")
    made = synthetic.results(count=2, policies=solvers, baseline="cudss")
    rows = []
    for part in ("lower", "upper"):
        for rhs in (1, 8):
            for row in made["rows"]:
                own = row["policy"] == "supernodal"
                rows.append(row | {"part": part, "rhs": rhs, "kernel_levels": [20] if own else [0]})
                rows[-1]["warm"] = dict(row["warm"], batch_ms=rhs * (1.0 if own else 4.0))
                rows[-1] |= {"n": 1000, "nnz": 500_000 if row["policy"] != "cudss" else 600_000}
    made["rows"] = rows
    synthetic.compare_with_baseline(made)
    return made


def table(sections: list[Section], title: str) -> list[dict[str, str]]:
    found = next(section for section in sections if section.title == title)
    return [dict(zip(found.table.header, row, strict=True)) for row in found.table.rows]


class CompleteFactors(support.CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.made = results()

    def sections(self) -> list[Section]:
        synthetic.compare_with_baseline(self.made)
        return complete_factors(parse_results(self.made))

    def test_summary_of_each_direction_and_number_of_right_hand_sides(self) -> None:
        slow = next(r for r in self.made["rows"] if r["policy"] == "supernodal" and r["part"] == "upper")
        slow["warm"]["batch_ms"] = 16.0
        summary = table(self.sections(), "supernodal against the others")
        self.assertEqual(len(summary), 2 * 2 * 2)
        forward, backward = (
            next(r for r in summary if (r["direction"], r["rhs"], r["over"]) == (direction, "1", "cuDSS"))
            for direction in ("forward", "backward")
        )
        self.assertEqual((forward["mean"], forward["worst"], forward["slower"]), ("4.00x", "4.00x", "0 of 2"))
        self.assertEqual((backward["mean"], backward["worst"], backward["slower"]), ("1.00x", "0.25x", "1 of 2"))
        self.assertEqual(backward["worst system"], slow["matrix"])

    def test_times_have_the_larger_floor(self) -> None:
        context = self.made["context"]
        first = table(self.sections(), "Times")[0]
        self.assertEqual((first["supernodal"], first["cuDSS"], first["cuDSS / supernodal"]), ("1", "4", "4.00x"))
        self.assertEqual(first["floor"], f"{20 * context['hop_ns'] * 1e-6:.3g}")
        context["hop_ns"] = 1.0
        moved = 8 * 500_000 + 24 * 1000
        floor = moved / context["copy_bandwidth_gb_s"] * 1e-6
        self.assertEqual(table(self.sections(), "Times")[0]["floor"], f"{floor:.3g}")

    def test_factors_have_the_entries_of_each_ordering(self) -> None:
        factor = table(self.sections(), "Factors")[0]
        self.assertEqual((factor["entries of L"], factor["cuDSS"], factor["cuDSS, same order"]), ("0.5", "0.6", "-"))
        self.assertEqual(factor["levels of supernodal"], "20")

    def test_model_finds_the_constants_of_its_terms(self) -> None:
        made = synthetic.results(count=8, policies=("supernodal", "cudss"), baseline="cudss")
        for i, row in enumerate(made["rows"]):
            levels, supernodes = 10 + 7 * (i // 2 % 3), 1000 * (1 + i // 2)
            row |= {
                "kernel_levels": [levels],
                "kernel_partitions": [supernodes],
                "n": 1000,
                "nnz": 10_000 * (2 + i % 7),
            }
            moved = 8 * row["nnz"] + 24 * row["n"]
            row["warm"]["batch_ms"] = (3000 * levels + moved / 2000 + 4 * supernodes) * 1e-6
        synthetic.compare_with_baseline(made)
        model = next(s for s in complete_factors(parse_results(made)) if s.title == "Model of the forward solve")
        self.assertIn("A level of the tree takes 3,000 ns", model.text)
        self.assertIn("pass at 2,000 GB/s, and a supernode takes 4 ns", model.text)
        ratios = [dict(zip(model.table.header, row, strict=True))["predicted / measured"] for row in model.table.rows]
        self.assertEqual(ratios, ["1.00x"] * 8)

    def test_a_solver_that_failed_has_no_time(self) -> None:
        row = next(row for row in self.made["rows"] if row["policy"] == "cudss")
        row |= {"status": "failed", "message": "out of memory", "warm": None, "analysis_ms": None}
        first = table(self.sections(), "Times")[0]
        self.assertEqual((first["cuDSS"], first["cuDSS / supernodal"]), ("-", "-"))

    def test_page(self) -> None:
        path = self.write("factors.json", self.made)
        status, output = self.call(
            studies.main, "complete_factors", path, "-o", str(self.folder / "page"), "--tables-only"
        )
        self.assertEqual(status, 0, output)
        page = (self.folder / "page" / "complete_factors.md").read_text(encoding="utf-8")
        self.assertIn("# Complete factors\n", page)

    @support.needs_matplotlib
    def test_figure(self) -> None:
        path = self.write("factors.json", self.made)
        status, output = self.call(studies.main, "complete_factors", path, "-o", str(self.folder / "page"))
        self.assertEqual(status, 0, output)
        texts = support.svg_texts(self.folder / "page" / "complete_factors.svg")
        for text in ("forward", "backward", "1 right-hand side", "8 right-hand sides"):
            self.assertIn(text, texts)


if __name__ == "__main__":
    unittest.main()
