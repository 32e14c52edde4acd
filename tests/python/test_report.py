from __future__ import annotations

import copy
import dataclasses
import re
import unittest

import support
import synthetic
from sptrsv_results import page, report
from sptrsv_results import tables as report_tables
from sptrsv_results.format import parse_results


class Tables(support.CommandTest):
    def setUp(self) -> None:
        super().setUp()
        made = synthetic.results(count=4, policies=("cusparse", "merged"))
        for i, (rows_per_level, factor) in enumerate([(3.9, 0.5), (4.0, 2.0), (100.0, 8.0), (1e4, 1.0)]):
            for row in made["rows"][2 * i : 2 * i + 2]:
                row["rows_per_level"] = rows_per_level
            made["rows"][2 * i + 1]["warm"]["batch_ms"] = made["rows"][2 * i]["warm"]["batch_ms"] / factor
        synthetic.compare_with_baseline(made)
        self.made = made
        self.results = parse_results(made)
        self.policies = self.results.policies

    def test_summary(self) -> None:
        table = report_tables.summary(self.results, self.policies)
        merged, baseline = (dict(zip(table.header, row, strict=True)) for row in table.rows)
        self.assertEqual(
            (merged["policy"], merged["correct"], merged["mean speed-up"], merged["worst"], merged["slower"]),
            ("merged", "4", "1.68x", "0.50x", "1 of 4"),
        )
        self.assertEqual((baseline["policy"], baseline["mean speed-up"]), ("cusparse", "-"))

    def test_the_command_shows_no_folders_of_the_machine(self) -> None:
        one = "/tmp/bench_new --matrices /tmp/m -r 2 --json /root/out/new.json"
        context = dataclasses.replace(self.results.context, command=f"{one} and {one}")
        shown = f"{context.program} --matrices DIRECTORY -r 2 --json new.json"
        self.assertEqual(page.public_command(context), f"{shown} and {shown}")
        self.assertEqual(page.caption(context).splitlines()[0], f"{shown} and {shown}")
        self.assertEqual(page.facts(context).rows[0][1], f"{shown} and {shown}")

    def test_classes_of_rows_per_level(self) -> None:
        table = report_tables.by_group(self.results, self.policies, "class", report_tables.rows_per_level_class)
        self.assertEqual(
            [row[::2] for row in table.rows],
            [
                ["fewer than 4", "0.50x"],
                ["4 to 100", "2.00x"],
                ["100 to 10,000", "8.00x"],
                ["10,000 or more", "1.00x"],
            ],
        )

    def test_sources(self) -> None:
        table = report_tables.by_group(self.results, self.policies, "source", lambda row: row.source)
        self.assertEqual((table.header, table.rows), (["source", "problems", "merged"], [["file", "4", "1.68x"]]))
        table = report_tables.by_group(
            self.results, self.policies, "source", lambda row: row.source, report_tables.least
        )
        self.assertEqual(table.rows, [["file", "4", "0.50x"]])

    def test_calls_alone_over_those_in_a_batch(self) -> None:
        for row, factor in zip(self.made["rows"][1::2], (2.0, 8.0, None, None), strict=True):
            row["warm"]["alone_ms"] = factor and factor * row["warm"]["batch_ms"]
        table = report_tables.cache(parse_results(self.made), self.policies)
        merged, baseline = (dict(zip(table.header, row, strict=True)) for row in table.rows)
        self.assertEqual(merged["alone / in a batch"], "4.00x")
        self.assertEqual(baseline["alone / in a batch"], f"{synthetic.ALONE:.2f}x")
        for row in self.made["rows"]:
            row["warm"]["alone_ms"] = None
        table = report_tables.cache(parse_results(self.made), self.policies)
        column = table.header.index("alone / in a batch")
        self.assertEqual([row[column] for row in table.rows], ["-", "-"])

    def test_the_report_says_what_warm_is(self) -> None:
        first = report_tables.sections(self.results, self.policies)[0]
        self.assertEqual(first.title, "Summary")
        self.assertIn("on a GPU the L2 cache is emptied", first.text)

    def test_worst_cases_come_in_order(self) -> None:
        table = report_tables.worst(self.results, "merged", 3)
        self.assertEqual(
            [(row[0], row[2]) for row in table.rows],
            [("file_00", "0.50x"), ("file_03", "1.00x"), ("file_01", "2.00x")],
        )

    def test_wrong_solutions_are_in_no_mean(self) -> None:
        self.made["rows"][1] |= {"status": "wrong", "message": "off by 7", "backward_error": None}
        results = parse_results(self.made)
        self.assertIn("2.52x", report_tables.summary(results, self.policies).rows[0])
        self.assertEqual(
            report_tables.not_solved(results, self.policies).rows,
            [["file_00", "merged", "wrong solution", "off by 7"]],
        )
        self.assertEqual(report_tables.count_fastest(results, self.policies), {"merged": 3, "cusparse": 2})

    def test_break_even(self) -> None:
        for row in self.made["rows"]:
            row["analysis_ms"] = 2.0 if row["policy"] == "merged" else 1.0
        synthetic.compare_with_baseline(self.made)
        table = report_tables.analysis(parse_results(self.made), self.policies)
        merged = dict(zip(table.header, table.rows[0], strict=True))
        self.assertEqual((merged["never"], merged["faster than cuSPARSE's"]), ("2 of 4", "0.50x"))

    def test_what_is_slower_comes_first_and_in_order(self) -> None:
        made = synthetic.results(count=3, policies=("cusparse", "merged"), noise=0)
        rows = []
        for i, baseline in enumerate(made["rows"][::2]):
            baseline["warm"] |= {"batch_ms": 1.0, "alone_ms": 2.0}
            baseline["analysis_ms"] = 10.0
            # Exact order, out of order, another policy. Only the first matrix has something that is slower.
            for policy, batch, alone, analysis in [
                ("dataflow", 0.5, 1.0, 4.0),
                ("dataflow_inverses", 0.51 if i else 0.6, 1.0, 8.0 if i else 30.0),
                ("merged", 0.48 if i else 0.25, 1.0, 90.0),
            ]:
                row = copy.deepcopy(baseline)
                row |= {"policy": policy, "analysis_ms": analysis}
                row["warm"] |= {"batch_ms": batch, "alone_ms": 3.0 if policy == "dataflow" and not i else alone}
                rows.append(row)
            rows.append(baseline)
        made["rows"] = rows
        synthetic.compare_with_baseline(made)
        results = parse_results(made)
        first = report_tables.sections(results, results.policies)[0]
        self.assertEqual(first.title, "What is slower")
        self.assertEqual(
            [row[1:5] for row in first.table.rows],
            [
                ["dataflow_inverses", "analysis", "cuSPARSE", "3.00x"],
                ["dataflow", "solves in a batch", "merged", "2.00x"],
                ["dataflow", "single calls", "cuSPARSE", "1.50x"],
                ["dataflow_inverses", "solves in a batch", "dataflow", "1.20x"],
            ],
        )
        self.assertEqual({row[0] for row in first.table.rows}, {"file_00"})

    def test_break_even_by_class(self) -> None:
        for row in self.made["rows"]:
            row["policy"] = "dataflow" if row["policy"] == "merged" else row["policy"]
            row["analysis_ms"] = 2.0 if row["policy"] == "dataflow" else 1.0
        synthetic.compare_with_baseline(self.made)
        results = parse_results(self.made)
        table = report_tables.break_even_by_class(results, ["dataflow"])
        self.assertEqual([row[3] for row in table.rows], ["1 of 1", "0 of 1", "0 of 1", "1 of 1"])
        solves = [row.break_even_solves for row in results.rows if row.policy == "dataflow"]
        self.assertEqual(table.rows[1][1:3], [report_tables.significant(solves[1])] * 2)

    def test_the_configuration_shows_where_there_are_several(self) -> None:
        titles = [section.title for section in report_tables.sections(self.results, self.policies)]
        self.assertNotIn("Mean speed-up by configuration", titles)
        for row in self.made["rows"][:2]:
            row |= {"rhs": 16, "part": "upper"}
        results = parse_results(self.made)
        titles = [section.title for section in report_tables.sections(results, self.policies)]
        self.assertIn("Mean speed-up by configuration", titles)
        self.assertEqual(report_tables.worst(results, "merged", 1).rows[0][0], "file_00 (upper, 16 rhs)")

    def test_numbers(self) -> None:
        self.assertEqual(
            [report_tables.significant(v) for v in (None, 0, 0.00123, 12.345, 12345.6, 1e-6)],
            ["-", "0", "0.00123", "12.3", "12,346", "1.00e-06"],
        )
        self.assertEqual([report_tables.times(v) for v in (None, 0.987, 1234.5)], ["-", "0.99x", "1,234x"])


class Program(support.CommandTest):
    def make(self, made: object, *options: str) -> tuple[int, str, str]:
        status, output = self.call(
            report.main, self.write("r.json", made), "-o", str(self.folder / "out"), "--tables-only", *options
        )
        page = self.folder / "out" / "report.md"
        return status, output, page.read_text(encoding="utf-8") if page.exists() else ""

    def test_every_table_line_has_as_many_cells_as_its_header(self) -> None:
        made = synthetic.results()
        synthetic.not_solved(made["rows"][1], "failed", "a | b\n`c` <d> *e*")
        status, _, text = self.make(made)
        self.assertEqual(status, 0)
        self.assertIn(r"a \| b \`c\` \<d\> \*e\*", text)
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            self.assertEqual(len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}), 1, block)
        for title in (
            "Summary",
            "Mean speed-up by rows per level",
            "Worst speed-up by source",
            "Analysis",
            "Not solved",
        ):
            self.assertIn(f"\n## {title}\n", text)

    def test_the_tables_by_system_are_on_a_page_of_their_own(self) -> None:
        _, _, text = self.make(synthetic.results(policies=("merged", "dataflow", "cusparse")))
        systems = (self.folder / "out" / "systems.md").read_text(encoding="utf-8")
        self.assertIn("\n## Ten worst cases of dataflow\n", text)
        self.assertNotIn("\n## Ten worst cases of dataflow\n", systems)
        for title in ("Ten worst cases of merged", "All times"):
            self.assertIn(f"\n## {title}\n", systems)
            self.assertNotIn(f"\n## {title}\n", text)

    def test_the_web_page_is_escaped_and_whole(self) -> None:
        made = synthetic.results(count=3)
        made["context"]["command"] = "bench <script> & more"
        self.make(made)
        page = (self.folder / "out" / "report.html").read_text(encoding="utf-8")
        self.assertIn("bench &lt;script&gt; &amp; more", page)
        self.assertNotIn("<script>", page)
        self.assertEqual(page.count("<table>"), page.count("</table>"))

    def test_the_same_results_make_the_same_report(self) -> None:
        self.assertEqual(self.make(synthetic.results()), self.make(synthetic.results()))

    def test_policies_and_conditions(self) -> None:
        _, _, text = self.make(synthetic.results(), "--policies", "merged", "--where", "source=generated")
        self.assertIn("12 problems with 12 matrices (0 from files, 12 generated)", text)
        self.assertNotIn("level_set", text)
        self.assertIn("cusparse", text)

    def test_only_one_policy_and_no_baseline(self) -> None:
        status, output, text = self.make(synthetic.results(count=3, policies=("merged",)))
        self.assertEqual(status, 0, output)
        self.assertIn("| merged | 3 | 0 | 0 | 0 | - | - | - | 100 % |", text)

    def test_nothing_was_solved(self) -> None:
        made = synthetic.results(count=2)
        for row in made["rows"]:
            synthetic.not_solved(row, "failed", "no memory")
        self.assertEqual(self.make(made)[0], 0)

    def test_unusable_input(self) -> None:
        made = synthetic.results(count=2)
        for options, text in (
            (("--policies", "fast"), 'no row of the policy "fast"'),
            (("--where", "rhs=7"), "no row has rhs=7"),
            (("--where", "colour=red"), "the key must be one of"),
        ):
            status, output, _ = self.make(made, *options)
            self.assertEqual(status, 2)
            self.assertIn(text, output)
        self.assertEqual(self.make("[]")[0], 2)


if __name__ == "__main__":
    unittest.main()
