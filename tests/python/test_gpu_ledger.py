"""Tests of scripts/gpu_ledger.py: what counts as a change, and that the page says what the ledger holds."""

import argparse
import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import gpu_ledger


class Ledger(unittest.TestCase):
    def hash_with(self, source: str, header: str) -> str:
        """Returns the hash of a check whose source includes a header."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "include").mkdir()
            (root / "include/header.hpp").write_text(header)
            (root / "source.cu").write_text(source)
            with mock.patch.object(gpu_ledger, "ROOT", root):
                check = gpu_ledger.Check("program", (), "", ("source.cu",), "program")
                return gpu_ledger.Sources().hash_of(check)

    def test_long_checks_are_divided(self):
        parts = [check for check in gpu_ledger.all_checks() if check.parts > 1]
        self.assertEqual({re.sub(", part.*", "", check.name) for check in parts}, set(gpu_ledger.PARTS))
        self.assertEqual(len({check.name for check in parts}), sum(gpu_ledger.PARTS.values()))
        _, environment = gpu_ledger.command_of(parts[1], gpu_ledger.ROOT)
        self.assertEqual(environment, {"GTEST_TOTAL_SHARDS": str(parts[1].parts), "GTEST_SHARD_INDEX": "1"})

    def test_comments_and_white_space_do_not_count(self):
        plain = self.hash_with('#include "header.hpp"\nint a = 1;\n', "int b;\n")
        commented = self.hash_with('// A comment.\n#include "header.hpp"\n  int a = 1;  /* b */\n', "// c\nint b;\n")
        self.assertEqual(plain, commented)

    def test_code_strings_and_headers_count(self):
        include = '#include "header.hpp"\n'
        plain = self.hash_with(include + 'auto a = "x//y";\n', "int b;\n")
        self.assertNotEqual(plain, self.hash_with(include + 'auto a = "x//z";\n', "int b;\n"))
        self.assertNotEqual(plain, self.hash_with(include + 'auto a = "x//y";\n', "int c;\n"))

    def test_programs_are_there(self):
        checks = gpu_ledger.all_checks()
        self.assertGreater(len(checks), 60)
        self.assertEqual(len(checks), len({check.name for check in checks}))
        for check in checks:
            for source in check.sources:
                self.assertTrue((gpu_ledger.ROOT / source).exists(), source)

    def test_programs_that_are_built_elsewhere_run(self):
        with tempfile.TemporaryDirectory() as folder:
            prebuilt, ledger = Path(folder) / "prebuilt", {}
            (prebuilt / "tests").mkdir(parents=True)
            program = prebuilt / "tests/gpu_krylov"
            program.write_text('#!/bin/sh\necho "[  PASSED  ] 3 tests."\n')
            program.chmod(0o755)
            check = gpu_ledger.Check("gpu_krylov", (), "", (), "gpu_krylov")
            arguments = argparse.Namespace(build=folder, prebuilt=str(prebuilt), jobs=1, minutes=1, processes=2)
            with (
                mock.patch.object(gpu_ledger, "describe_machine", dict),
                mock.patch.object(gpu_ledger, "count_gpus", lambda: 2),
                mock.patch.object(gpu_ledger, "LEDGER", Path(folder) / "ledger.json"),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                self.assertEqual(gpu_ledger.run_missing([(check, "hash")], arguments, ledger), 0)
            self.assertEqual(ledger["gpu_krylov"]["outcome"], "passed")
            self.assertEqual(ledger["gpu_krylov"]["said"], "[  PASSED  ] 3 tests.")

    def test_what_waits_on_all_gpus_runs_alone(self):
        def run(name: str, gpu: int) -> mock.Mock:
            return mock.Mock(check=gpu_ledger.Check(name, (), "", (), name), gpu=gpu)

        distributed = gpu_ledger.Check("gpu_distributed", (), "", (), "gpu_distributed")
        self.assertEqual(gpu_ledger.free_gpu(distributed, [], 2, 8), -1)
        self.assertIsNone(gpu_ledger.free_gpu(distributed, [run("gpu_krylov", 0)], 2, 8))
        krylov = gpu_ledger.Check("gpu_krylov", (), "", (), "gpu_krylov")
        self.assertIsNone(gpu_ledger.free_gpu(krylov, [run("gpu_distributed", -1)], 2, 8))
        self.assertEqual(gpu_ledger.free_gpu(krylov, [run("gpu_krylov", 0)], 2, 8), 1)

    def test_skipped_tests_stand_on_the_page(self):
        record = {"outcome": "passed", "gpu": "g", "driver": "1", "cuda": "13.0", "commit": "c", "seconds": 1.0}
        said = "[  SKIPPED ] 1 test, listed below:; [  SKIPPED ] GpuDistributed.Puts"
        text = gpu_ledger.summary({"a": {**record, "said": said}, "b": {**record, "said": "[  PASSED  ] 3 tests."}})
        self.assertIn("- a skipped tests on that machine: GpuDistributed.Puts.", text)
        self.assertNotIn("- b", text)

    def test_racecheck_may_name_kernels_with_named_barriers_only(self):
        check = gpu_ledger.Check("program", (), "racecheck", (), "program")
        hazard = "========= Error: Race reported between Write access at void {}<double>(T1::params)+0x35c0\n"
        known = gpu_ledger.outcome_of(check, 9, hazard.format("dataflow::partitioned::agent"))
        self.assertEqual(known[0], "passed")
        self.assertEqual(gpu_ledger.outcome_of(check, 9, hazard.format("level_set::agent"))[0], "failed")

    def test_the_page_says_what_the_ledger_holds(self):
        ledger = json.loads(gpu_ledger.LEDGER.read_text())
        self.assertIn(gpu_ledger.summary(ledger), gpu_ledger.PAGE.read_text())


if __name__ == "__main__":
    unittest.main()
