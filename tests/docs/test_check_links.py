"""Tests of scripts/check_links.py: figures that differ between pages are seen."""

import importlib.util
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
specification = importlib.util.spec_from_file_location("check_links", ROOT / "scripts/check_links.py")
check_links = importlib.util.module_from_spec(specification)
specification.loader.exec_module(check_links)


class Figures(unittest.TestCase):
    def faults(self, pages, figures):
        return list(check_links.differing_figures(pages, figures))

    def test_numbers_agree_as_far_as_they_have_digits(self):
        for first, second, expected in (
            ("7.83", "7.8", True),
            ("6.85x", "6.9x", True),
            ("6.85x", "6.8x", True),
            ("6.8x", "6.9x", False),
            ("7.83", "7.9", False),
            ("1,284", "1284", True),
            ("105 of 107", "103 of 107", False),
            ("1 and 2", "1", False),
        ):
            self.assertEqual(check_links.agree(first, second), expected, (first, second))
            self.assertEqual(check_links.agree(second, first), expected, (second, first))

    def test_a_figure_that_differs_is_named_with_both_pages(self):
        figures = [{"figure": "wins", "pages": {"a.md": r"fastest on (\d+) of 9", "b.md": r"wins (\d+)"}}]
        self.assertEqual(self.faults({"a.md": "fastest\non **8** of 9", "b.md": "wins 8"}, figures), [])
        self.assertEqual(
            self.faults({"a.md": "fastest on 8 of 9", "b.md": "wins 7"}, figures), ["b.md: wins is 7, but 8 in a.md"]
        )

    def test_a_page_that_is_not_named_has_to_agree(self):
        pages = {"a.md": "fastest on 8 of 9", "b.md": "wins 8", "other.md": "It is fastest on 7 of 9."}
        figures = [{"figure": "wins", "pages": {"a.md": r"fastest on (\d+) of 9", "b.md": r"wins (\d+)"}}]
        self.assertEqual(self.faults(pages, figures), ["other.md: wins is 7, but 8 in a.md"])

    def test_a_sentence_that_is_gone_is_named(self):
        figures = [{"figure": "wins", "pages": {"a.md": r"fastest on (\d+) of 9"}}]
        self.assertEqual(len(self.faults({"a.md": "nothing"}, figures)), 1)


class Repository(unittest.TestCase):
    """Plants a change in the pages of the repository."""

    def setUp(self):
        self.figures = json.loads((ROOT / check_links.MEASURED).read_text())
        names = {check_links.REPORT, *(page for figure in self.figures for page in figure["pages"])}
        self.pages = {name: (ROOT / name).read_text() for name in sorted(names)}
        self.figure = (ROOT / check_links.FIGURE).read_text()

    def faults(self):
        return [
            *check_links.differing_figures(self.pages, self.figures),
            *check_links.differing_tables(self.pages, self.figure),
        ]

    def test_the_pages_agree(self):
        self.assertEqual(self.faults(), [])

    def test_no_figure_shows_the_folders_of_a_machine(self):
        for path in (ROOT / "docs").rglob("*.svg"):
            self.assertEqual(re.findall(r">[^<]*/(?:tmp|root|home|work)/[^<]*<", path.read_text()), [], path)

    def test_figures_say_what_they_show(self):
        for name, texts in (
            ("benchmark/break_even", ["Break-even against cuSPARSE"]),
            ("benchmark/performance_profile", ["Performance profile"]),
            ("benchmark/speedup_nnz", ["Speed-up over cuSPARSE by size"]),
            ("benchmark/speedup_rows_per_level", ["Speed-up over cuSPARSE by rows per level"]),
            ("benchmark/time_over_model", ["Time over the model"]),
            ("complete_factors", ["speed-up over cuDSS (logarithmic)", "1 right-hand side"]),
            ("krylov", ["ms (logarithmic)"]),
            ("orderings_convergence", ["Residuals by iteration", "relative residual", "iterations"]),
            ("lab_log/studies/scheme_figure_9", ["Larger spaces of schemes"]),
        ):
            for text in texts:
                self.assertIn(f">{text}</text>", (ROOT / f"docs/{name}.svg").read_text(), name)

    def test_each_change_is_seen(self):
        for page, now, planted in (
            ("docs/guide.md", "103 of 107", "105 of 107"),
            ("README.md", "| **6.8x** |", "| **6.9x** |"),
            ("README.md", "| **6.8x** | 2.4x", "| **6.8x** | 2.5x"),
            ("README.md", "| 8.3x | exact", "| 8.4x | exact"),
            ("README.md", "| cuDSS | 4.3x |", "| cuDSS | 4.4x |"),
            ("docs/performance.md", "| real systems | 54 | 7.7x |", "| real systems | 54 | 7.8x |"),
        ):
            with self.subTest(page=page, planted=planted):
                before = self.pages[page]
                self.assertIn(now, before)
                self.pages[page] = before.replace(now, planted)
                self.assertNotEqual(self.faults(), [])
                self.pages[page] = before


class Umbrella(unittest.TestCase):
    def included(self):
        """Returns the headers that sptrsv.hpp includes, directly or not."""
        found, left = set(), ["sptrsv/sptrsv.hpp"]
        while left:
            header = left.pop()
            if header not in found and (ROOT / "include" / header).exists():
                found.add(header)
                left += re.findall(r'^\s*#\s*include "([^"]+)"', (ROOT / "include" / header).read_text(), re.MULTILINE)
        return found

    def test_the_page_names_the_headers_that_are_not_in_it(self):
        included = self.included()
        rows = [line for line in (ROOT / "docs/api.md").read_text().splitlines() if line.startswith("| `sptrsv/")]
        named = {
            name: "not in the umbrella" in row for row in rows for name in re.findall(r"`(sptrsv/[\w/]+\.\w+)`", row)
        }
        for name, is_exception in named.items():
            self.assertEqual(name not in included, is_exception, name)
        folder = ROOT / "include/sptrsv"
        public = [path for pattern in ("*.hpp", "*.cuh") for path in folder.glob(pattern)]
        for name in sorted(f"sptrsv/{path.name}" for path in public):
            self.assertTrue(name in included or name in named, f"{name} is not in the umbrella, nor in docs/api.md")


if __name__ == "__main__":
    unittest.main()
