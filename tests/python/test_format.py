from __future__ import annotations

import json
import pathlib
import unittest
from typing import Any

import support
import synthetic
from sptrsv_results import format as results_format
from sptrsv_results.format import FormatError, geometric_mean, load_results, parse_results, quantile


class GoodResults(support.CommandTest):
    def test_all_fields_arrive(self) -> None:
        results = parse_results(synthetic.results(count=5))
        self.assertEqual(len(results.by_problem), 5)
        self.assertEqual(results.policies, ["level_set", "merged", "sync_free_warp", "cusparse"])
        self.assertEqual(results.baselines, ["cusparse"])
        row = results.rows[0]
        self.assertEqual(row.ms, row.warm.batch_ms)
        self.assertEqual(row.alone_ms, row.warm.alone_ms)
        self.assertAlmostEqual(row.alone_ms / row.ms, synthetic.ALONE)
        self.assertEqual(results.context.device, "NVIDIA H200")

    def test_a_machine_without_a_gpu(self) -> None:
        made = synthetic.results(count=3, policies=("host_parallel", "host_serial"), baseline="host_serial")
        made["context"] |= dict.fromkeys(
            ("device", "sm_count", "driver", "cuda_runtime", "cusparse", "hop_ns", "l2_bytes")
        )
        for row in made["rows"]:
            row["cold"] = row["speedup_cold"] = row["hop_floor_ms"] = row["warm"]["graph_ms"] = None
        self.assertEqual(len(parse_results(made).rows), 6)

    def test_a_file_that_the_program_wrote(self) -> None:
        """`host.json` is by sptrsv_bench on a machine without a GPU."""
        path = pathlib.Path(__file__).parent / "files" / "host.json"
        results = load_results(path)
        row = next(row for row in results.rows if (row.matrix, row.policy) == ("chain_1000", "host_parallel"))
        self.assertEqual((row.path, row.levels), ("natural", 1000))
        self.assertEqual(row.row_lengths, results_format.Distribution(0, 1, 1, 1))
        self.assertEqual(row.level_rows, results_format.Distribution(1, 1, 1, 1))
        self.assertEqual(row.predicted_ms, {one.path: one.ms for one in row.predictions}["natural"])
        self.assertGreater(row.first_analysis_ms, 0)
        serial = next(row for row in results.rows if row.policy == "host_serial")
        self.assertEqual((serial.path, serial.predictions, serial.predicted_ms), ("", [], None))

    def test_rows_that_were_not_solved_hold_no_measurements(self) -> None:
        made = synthetic.results(count=2)
        synthetic.not_solved(made["rows"][1], "unsupported", "cannot")
        self.assertIsNone(parse_results(made).rows[1].ms)

    def test_a_wrong_solution_may_have_an_infinite_error_and_no_times(self) -> None:
        made = synthetic.results(count=2)
        made["rows"][1] |= {"status": "wrong", "backward_error": None, "warm": None, "cold": None}
        self.assertIsNone(parse_results(made).rows[1].ms)

    def test_a_call_on_an_idle_machine_need_not_be_measured(self) -> None:
        made = synthetic.results(count=2)
        made["rows"][0]["warm"]["alone_ms"] = None
        del made["rows"][1]["warm"]["alone_ms"], made["rows"][1]["cold"]["alone_ms"]  # an older file
        self.assertEqual([row.alone_ms for row in parse_results(made).rows[:2]], [None, None])

    def test_a_wrong_solution_has_no_times_to_compare(self) -> None:
        made = synthetic.results(count=2)
        made["rows"][1] |= {"status": "wrong", "message": "off"}
        row = parse_results(made).rows[1]
        self.assertIsNotNone(row.warm)
        self.assertEqual((row.ms, row.alone_ms), (None, None))

    def test_unknown_keys_are_ignored(self) -> None:
        made = synthetic.results(count=2)
        made["rows"][0]["new"] = made["new"] = 1
        self.assertEqual(len(parse_results(made).rows), 8)


class BadResults(support.CommandTest):
    def expect(self, change: Any, *texts: str) -> None:
        made = synthetic.results(count=3)
        change(made)
        with self.assertRaises(FormatError) as caught:
            parse_results(made)
        for text in texts:
            self.assertIn(text, str(caught.exception))

    def expect_in_row(self, changes: dict[str, Any], *texts: str) -> None:
        self.expect(lambda made: made["rows"][1].update(changes), *texts)

    def test_fields_of_the_wrong_type(self) -> None:
        self.expect_in_row({"n": 1.5}, "rows[1].n is 1.5, not an integer")
        self.expect_in_row({"n": True}, "rows[1].n is true, not an integer")
        self.expect_in_row({"n": None}, "rows[1].n is null, not an integer")
        self.expect_in_row({"matrix": 7}, "rows[1].matrix is 7, not a string")
        self.expect_in_row({"matrix": "a\nb"}, "control characters")
        self.expect_in_row({"matrix": ""}, "rows[1].matrix is empty")
        self.expect_in_row({"analysis_ms": "1"}, 'rows[1].analysis_ms is "1", not a number')
        self.expect_in_row({"kernels": "agent"}, 'rows[1].kernels is "agent", not an array')
        self.expect_in_row({"kernels": [1]}, "rows[1].kernels[0] is 1, not a string")
        self.expect(
            lambda made: made["rows"][1]["warm"].update(alone_ms="1"),
            'rows[1].warm.alone_ms is "1", not a number',
        )
        self.expect_in_row({"warm": [1]}, "rows[1].warm is [1], not an object")
        self.expect_in_row({"status": "fine"}, 'rows[1].status is "fine", not one of ok, wrong, unsupported, failed')
        self.expect_in_row({"source": {}}, "rows[1].source is {}, not one of file, generated")

    def test_numbers_out_of_range(self) -> None:
        self.expect_in_row({"nnz": -1}, "rows[1].nnz is -1, which must be at least 0")
        self.expect_in_row({"rhs": 0}, "rows[1].rhs is 0, which must be greater than 0")
        self.expect_in_row({"ratio_to_floor": float("inf")}, "rows[1].ratio_to_floor is not finite")
        self.expect_in_row({"gb_s": 10**400}, "rows[1].gb_s is not finite")
        self.expect(lambda made: made["rows"][0]["warm"].update(batch_ms=0), "rows[0].warm.batch_ms is 0")
        self.expect(lambda made: made["rows"][0]["warm"].update(alone_ms=0), "rows[0].warm.alone_ms is 0")

    def test_missing_fields(self) -> None:
        self.expect(lambda made: made.pop("context"), 'results has no "context"')
        self.expect(lambda made: made["context"].pop("driver"), 'context has no "driver"')
        self.expect(lambda made: made["rows"][2].pop("speedup"), 'rows[2] (file_00, sync_free_warp) has no "speedup"')
        self.expect(lambda made: made["rows"][2]["cold"].pop("p5_ms"), 'rows[2].cold has no "p5_ms"')

    def test_results_that_contradict_themselves(self) -> None:
        self.expect_in_row({"warm": None}, "rows[1] (file_00, level_set) is ok and has no warm")
        self.expect_in_row({"status": "failed"}, "is failed and has no message")
        self.expect_in_row({"backward_error": 1e-3}, "is ok with an error of 0.001 over the bound")
        self.expect_in_row({"backward_error": None}, "is ok and has no backward_error")
        self.expect_in_row({"speedup": 99.0}, "has a speed-up of 99, the times say")
        self.expect_in_row({"policy": "cusparse"}, "is the same measurement as rows[0]")
        self.expect(lambda made: made["rows"][0]["warm"].update(p5_ms=1e3), "has warm percentiles out of order")
        self.expect(lambda made: made["rows"].pop(0), "has a speed-up over cusparse, which has no time")

    def test_other_things_than_results(self) -> None:
        for data in (None, 3, [], "rows", {"context": [], "rows": {}}):
            with self.assertRaises(FormatError):
                parse_results(data)
        self.expect(lambda made: made["rows"].clear(), "rows is empty")

    def test_many_faults_are_cut_short(self) -> None:
        made = synthetic.results(count=20)
        for row in made["rows"]:
            row["n"] = "many"
        with self.assertRaises(FormatError) as caught:
            parse_results(made)
        self.assertTrue(str(caught.exception).endswith("... and 60 more"))


class Program(support.CommandTest):
    def test_a_good_file(self) -> None:
        status, output = self.call(results_format.main, self.write("good.json", synthetic.results(count=3)))
        self.assertEqual(status, 0)
        self.assertIn("3 problems, 4 policies, rows: 12 ok, 0 wrong", output)

    def test_files_that_cannot_be_read(self) -> None:
        nan = json.dumps(synthetic.results(count=1)).replace("4290.0", "NaN")
        for path, text in (
            (str(self.folder / "none.json"), "No such file"),
            (self.write("a", "{"), "not JSON"),
            (self.write("b", nan), "NaN is not a number of JSON"),
            (self.write("c", "[" * 100_000), "not JSON"),
            (self.write("d", {}), 'no "rows"'),
        ):
            status, output = self.call(results_format.main, path)
            self.assertEqual(status, 2, path)
            self.assertIn(text, output)
        self.assertEqual(self.call(results_format.main)[0], 2)


class Means(unittest.TestCase):
    def test_geometric_mean(self) -> None:
        self.assertAlmostEqual(geometric_mean([1, 10, 100]), 10)
        self.assertIsNone(geometric_mean([]))
        for value in (0, -3.77, float("inf"), float("-inf"), float("nan")):
            self.assertIsNone(geometric_mean([1, value]), value)

    def test_quantile(self) -> None:
        self.assertEqual(quantile([3, 1, 2], 0.5), 2)
        self.assertEqual(quantile([1, 2, float("inf")], 1), float("inf"))
        self.assertIsNone(quantile([], 0.5))


if __name__ == "__main__":
    unittest.main()
