from __future__ import annotations

import re
import unittest
from typing import Any

import support
import synthetic
from sptrsv_results.format import FormatError, parse_results
from sptrsv_results.page import Section
from sptrsv_results.studies import blocks as study_blocks
from sptrsv_results.studies import command as studies
from sptrsv_results.studies import triangles as study_tables


def row_of(made: dict[str, Any], **values: Any) -> dict[str, Any]:
    return next(row for row in made["rows"] if all(row[key] == value for key, value in values.items()))


def section(parts: list[Section], title: str) -> list[dict[str, str]]:
    found = next(part for part in parts if part.title == title)
    return [dict(zip(found.table.header, row, strict=True)) for row in found.table.rows]


class LiZhang(unittest.TestCase):
    def setUp(self) -> None:
        self.made = synthetic.pairs()

    def set(self, part: str, policy: str, solve: float, analysis: float, nnz: int = 1_500_000) -> None:
        row = row_of(self.made, matrix="laplace5_128x128", value="f64", part=part, policy=policy)
        row["warm"]["batch_ms"] = solve
        row["analysis_ms"] = analysis
        row |= {"nnz": nnz, "n": 500_000}

    def tables(self) -> list[Section]:
        synthetic.compare_with_baseline(self.made)
        return study_tables.li_zhang(parse_results(self.made))

    def test_both_solves_count_with_the_entries_of_the_matrix(self) -> None:
        self.set("lower", "self_scheduled", 1.0, 8.0)
        self.set("upper", "self_scheduled", 3.0, 12.0, nnz=2_000_000)
        tables = self.tables()
        gflops = section(tables, "GFLOPS, 2-D, 5-point, double precision (Figure 5.1)")[0]
        self.assertEqual((gflops["matrix"], gflops["aspect ratio"]), ("128 x 128", "1"))
        self.assertEqual(gflops["self_scheduled"], "1.5")  # 2 (1.5 + 2 - 0.5) million in 4 ms
        setup = section(tables, "Set-up, 2-D, 5-point, double precision (Tables 5.3 and 5.4)")[0]
        self.assertEqual(setup["self_scheduled"], "20 (5)")

    def test_break_even_is_that_of_both_solves(self) -> None:
        for part, own, theirs in (("lower", (1.0, 8.0), (2.0, 1.0)), ("upper", (1.0, 2.0), (3.0, 2.0))):
            self.set(part, "self_scheduled", *own)
            self.set(part, "cusparse", *theirs)
        even = section(self.tables(), "Break-even, 2-D, 5-point, double precision (Table 5.6)")[0]
        self.assertEqual((even["self_scheduled"], even["cusparse"]), ("3", "-"))  # 7 < 3 x 3

    def test_break_even_numbers(self) -> None:
        for own, theirs, expected in (
            ((4, 1), (1, 2), "4"),  # equal after 3
            ((4, 1), (1.5, 2), "3"),
            ((1, 1), (4, 2), "0"),
            ((1, 1), (1, 2), "1"),
            ((4, 2), (1, 1), "never"),
            ((1, 2), (1, 1), "never"),
            ((1, 1), (1, 1), "never"),
            ((1, 1), (2, 1), "0"),
            ((1, 2), (4, 1), "until 2"),  # equal after 3
            ((1, 2), (4.5, 1), "until 3"),
        ):
            self.assertEqual(study_tables.break_even(*own, *theirs), expected, (own, theirs))

    def test_grids_by_their_aspect_ratio_and_other_matrices_apart(self) -> None:
        tables = self.tables()
        rows = section(tables, "GFLOPS, 2-D, 5-point, single precision (Figure 5.1)")
        self.assertEqual([row["matrix"] for row in rows], ["128 x 128", "64 x 256"])
        rows = section(tables, "GFLOPS, 3-D, 27-point, double precision (Figure 5.2)")
        self.assertEqual([(row["matrix"], row["aspect ratio"]) for row in rows], [("8 x 16 x 32", "4")])
        rows = section(tables, "GFLOPS, general matrices, double precision (Figure 5.3)")
        self.assertEqual([row["matrix"] for row in rows], ["other"])
        self.assertIsNone(study_tables.Grid.of("ecology1_like"))

    def test_mean_speed_up(self) -> None:
        for row in self.made["rows"]:
            if row["policy"] == "dataflow":
                like = {key: row[key] for key in ("matrix", "value", "part")}
                theirs = row_of(self.made, policy="cusparse", **like)["warm"]["batch_ms"]
                row["warm"]["batch_ms"] = theirs / (8 if row["matrix"] == "laplace5_64x256" else 2)
        rows = {row["policy"]: row for row in section(self.tables(), "Speed-up over the baseline")}
        self.assertEqual(rows["dataflow"]["2-D, 5-point, f64"], "4.00x")
        self.assertEqual(rows["dataflow"]["general, f32"], "2.00x")
        self.assertNotIn("cusparse", rows)

    def test_policies_stand_in_the_order_of_the_paper(self) -> None:
        header = self.tables()[1].table.header
        self.assertEqual(header[3:], ["level_set_separate", "self_scheduled", "dataflow", "cusparse"])

    def test_half_a_pair_is_left_out_and_named(self) -> None:
        row = row_of(self.made, matrix="other", value="f64", part="upper", policy="dataflow")
        synthetic.not_solved(row, "failed", "no memory")
        tables = self.tables()
        other = section(tables, "GFLOPS, general matrices, double precision (Figure 5.3)")[0]
        self.assertEqual(other["dataflow"], "-")
        self.assertEqual(
            section(tables, "Not solved"),
            [{"matrix": "other (upper)", "policy": "dataflow", "what": "failed", "why": "no memory"}],
        )

    def test_no_pairs(self) -> None:
        with self.assertRaisesRegex(FormatError, "both triangles"):
            study_tables.li_zhang(parse_results(synthetic.lower_triangles()))


class Liu(unittest.TestCase):
    def test_gflops_and_preprocessing(self) -> None:
        made = synthetic.lower_triangles()
        row = row_of(made, matrix="file_02", value="f32", policy="sync_free_column")
        row |= {"nnz": 3_000_000, "analysis_ms": 0.25}
        row["warm"]["batch_ms"] = 2.0
        synthetic.compare_with_baseline(made)
        tables = study_tables.liu(parse_results(made))
        rows = section(tables, "GFLOPS, single precision (Figure 4)")
        self.assertEqual(
            [int(row["level sets"].replace(",", "")) for row in rows],
            sorted(int(row["level sets"].replace(",", "")) for row in rows),
        )
        gflops = {row["matrix"]: row["sync_free_column"] for row in rows}
        self.assertEqual(gflops["file_02"], "3")
        costs = section(tables, "Preprocessing, single precision (Table 4)")
        self.assertEqual({row["matrix"]: row["sync_free_column"] for row in costs}["file_02"], "0.25")
        self.assertEqual(costs[-1]["matrix"], "harmonic mean")

    def test_harmonic_mean(self) -> None:
        self.assertAlmostEqual(study_tables.harmonic_mean([1, 2, 4]) or 0, 12 / 7)
        self.assertIsNone(study_tables.harmonic_mean([]))
        self.assertIsNone(study_tables.harmonic_mean([1, 0]))

    def test_speed_ups(self) -> None:
        made = synthetic.lower_triangles(2)
        for row in made["rows"]:
            factor = {"file_00": 1.0, "file_01": 4.0}[row["matrix"]]
            own = row["policy"] == "sync_free_column"
            row["warm"]["batch_ms"] = 1.0 if own else factor
            row["analysis_ms"] = 0.5 if own else 5 * factor
        synthetic.compare_with_baseline(made)
        rows = section(study_tables.liu(parse_results(made)), "Speed-up of sync_free_column")
        first = next(row for row in rows if (row["form"], row["over"]) == ("sync_free_column", "cusparse"))
        self.assertEqual(list(first.values())[3:], ["2", "2.50x", "2.00x", "4.00x", "25.00x", "20.00x", "40.00x"])
        self.assertEqual(len(rows), 2 * 2 * 2)  # precisions, forms, others

    def test_without_its_policy(self) -> None:
        with self.assertRaisesRegex(FormatError, "sync_free_column"):
            study_tables.liu(parse_results(synthetic.pairs()))


class LuNiuLiu(unittest.TestCase):
    def tables(self, made: dict[str, Any]) -> list[Section]:
        synthetic.compare_with_baseline(made)
        return study_blocks.lu_niu_liu(parse_results(made))

    def test_traffic_beside_the_formulas(self) -> None:
        rows = section(self.tables(synthetic.block_solves()), "Traffic (Tables 1 and 2)")
        found = {(row["algorithm"], row["triangles"]): row for row in rows}
        row = found["recursive_block", "16"]
        self.assertEqual(list(row.values())[2:], ["5", "3", "2.5", "2", "1.75"])
        self.assertEqual(found["column_block", "16"]["b, formula"], "8.5")
        self.assertEqual(found["row_block", "16"]["x, formula"], "7.5")
        self.assertEqual(found["row_block", "4"]["b, counted"], "-")

    def test_preprocessing_counts_matrices_that_all_solve(self) -> None:
        made = synthetic.block_solves(2)
        for row in made["rows"]:
            row["analysis_ms"], row["warm"]["batch_ms"] = 8.0, 2.0 if row["matrix"] == "file_00" else 4.0
        synthetic.not_solved(row_of(made, matrix="file_01", value="f64", policy="cusparse"), "failed", "no memory")
        tables = self.tables(made)
        row = next(
            row
            for row in section(tables, "Preprocessing, double precision (Table 5)")
            if row["policy"] == "recursive_block"
        )
        self.assertEqual(list(row.values())[1:], ["1", "8", "2", "208", "1,008", "2,008", "2.83"])

    def test_precisions(self) -> None:
        made = synthetic.block_solves(2)
        for row in made["rows"]:
            row["warm"]["batch_ms"] = 2.0 if row["value"] == "f64" else 1.5
        rows = section(self.tables(made), "Performance in double over single precision (Figure 7)")
        self.assertEqual({row["median"] for row in rows}, {"0.75"})

    def test_against_published_times(self) -> None:
        made = synthetic.block_solves(3)
        row = row_of(made, matrix="file_00", value="f64", policy="recursive_block")
        row["warm"]["batch_ms"], row["analysis_ms"] = 2.0, 8.0
        row = row_of(made, matrix="file_01", value="f64", policy="recursive_block")
        row["warm"]["batch_ms"], row["analysis_ms"] = 4.0, 6.0
        published = [
            study_blocks.PublishedTimes("file_00", 3.0, 80.0),
            study_blocks.PublishedTimes("file_01", 24.0, None),
            study_blocks.PublishedTimes("unmeasured", 1.0, 1.0),
        ]
        synthetic.compare_with_baseline(made)
        found = study_blocks.against_published(parse_results(made), published)
        self.assertEqual(
            found.table.rows,
            [
                ["file_00", "2", "3", "1.50x", "8", "80", "10.00x", "4"],
                ["file_01", "4", "24", "6.00x", "6", "-", "-", "1.5"],
                ["unmeasured", "-", "1", "-", "-", "1", "-", "-"],
                ["geometric mean", "", "", "3.00x", "", "", "10.00x", ""],
            ],
        )

    def test_without_its_policy(self) -> None:
        with self.assertRaisesRegex(FormatError, "lu_niu_liu"):
            study_blocks.lu_niu_liu(parse_results(synthetic.lower_triangles()))


class Program(support.CommandTest):
    def make(self, study: str, made: Any, *options: str) -> tuple[int, str, str]:
        out = self.folder / "out"
        status, output = self.call(studies.main, study, self.write("r.json", made), *options, "-o", str(out))
        page = out / f"{study}.md"
        return status, output, page.read_text(encoding="utf-8") if page.exists() else ""

    def test_the_command_stands_there_and_every_line_has_as_many_cells_as_its_header(self) -> None:
        for study, made in (
            ("li_zhang", synthetic.pairs()),
            ("liu", synthetic.lower_triangles()),
            ("lu_niu_liu", synthetic.block_solves()),
        ):
            made["context"]["command"] = f"sptrsv_bench --study {study} --json r.json"
            status, output, text = self.make(study, made, "--tables-only")
            self.assertEqual(status, 0, output)
            self.assertIn(f"sptrsv_bench --study {study} --json r.json", text)
            self.assertIn(output.splitlines()[0], text)
            blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
            self.assertGreater(len(blocks), 4)
            for block in blocks:
                self.assertEqual(len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}), 1, block)

    def test_several_runs_make_one_study(self) -> None:
        made = synthetic.pairs()
        single = made | {"rows": [row for row in made["rows"] if row["value"] == "f32"]}
        double = made | {"rows": [row for row in made["rows"] if row["value"] == "f64"]}
        double["context"] = synthetic.context(command="the second command")
        second = self.write("second.json", double)
        _, together, text = self.make("li_zhang", single, second, "--tables-only")
        self.assertEqual(together, self.make("li_zhang", made, "--tables-only")[1])
        self.assertIn("the second command", text)
        self.assertEqual(self.make("li_zhang", single, self.write("again.json", single), "--tables-only")[0], 2)

    def test_published_times_come_first(self) -> None:
        header = "matrix,solve_ms,preprocessing_ms\n"
        known = self.write("known.csv", header + "file_00,1e6,\nfile_01,,3\n")
        made, options = synthetic.block_solves(), ("--tables-only", "--published")
        status, output, text = self.make("lu_niu_liu", made, *options, known)
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"\| file_00 +\|.*\| +1,000,000 \|")
        self.assertLess(text.index("Against the published code"), text.index("Traffic (Tables 1 and 2)"))
        for unusable in ("matrix,solve_ms\na,1\n", header + "a,fast,2\n", header + "a,1\n"):
            path = self.write("unusable.csv", unusable)
            status, output, _ = self.make("lu_niu_liu", made, *options, path)
            self.assertEqual(status, 2, unusable)
            self.assertIn("unusable.csv", output)
        self.assertEqual(self.make("liu", synthetic.lower_triangles(), "--published", known)[0], 2)

    def test_the_repositorys_published_times(self) -> None:
        table = support.ROOT / "docs/lab_log/studies/lu_niu_liu_published.csv"
        published = study_blocks.load_published(table)
        self.assertEqual(len(published), 7)
        self.assertIn(study_blocks.PublishedTimes("laplace27_128x128x128", 3.86, 1469), published)
        self.assertIn(study_blocks.PublishedTimes("random_2000000_6", 0.81, None), published)

    def test_unusable_results(self) -> None:
        self.assertEqual(self.make("liu", synthetic.pairs(), "--tables-only")[0], 2)
        self.assertEqual(self.make("li_zhang", "[]", "--tables-only")[0], 2)
        self.assertEqual(self.make("another", synthetic.pairs())[0], 2)


if __name__ == "__main__":
    unittest.main()
