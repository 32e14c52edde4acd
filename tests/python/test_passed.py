"""Tests of scripts/passed.py: a check that has passed is not repeated, unless something has changed."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PASSED = Path(__file__).resolve().parents[2] / "scripts/passed.py"


class Passed(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=Path(__file__).resolve().parents[2] / "build"))
        self.runs = self.folder / "runs"
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder])

    def check(self, script: str, *options: object, **variables: str) -> tuple[int, str]:
        """Runs a script of the shell that adds a line to `runs`; returns its status and output."""
        environment = os.environ | {"SPTRSV_PASSED_CACHE": str(self.folder / "cache"), "SPTRSV_REPEAT": "0"} | variables
        command = [sys.executable, "-B", PASSED, *options, "--", "bash", "-c", f"echo >> {self.runs}; {script}"]
        done = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout

    def count(self) -> int:
        return len(self.runs.read_text().splitlines())

    def test_what_has_passed_is_not_repeated(self):
        report = self.folder / "report"
        script = f"echo output; echo result > {report}"
        self.assertEqual(self.check(script, "--output", report), (0, "output\n"))
        report.unlink()
        status, output = self.check(script, "--output", report)
        self.assertEqual((status, output.splitlines()[0], self.count()), (0, "output", 1))
        self.assertEqual(report.read_text(), "result\n")

    def test_what_has_failed_is_repeated(self):
        self.assertEqual(self.check("exit 3")[0], 3)
        self.assertEqual(self.check("exit 3")[0], 3)
        self.assertEqual(self.count(), 2)

    def test_inputs_count(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "a").write_text("1")
        self.check("true", "--input", data)
        self.check("true", "--input", data)
        self.assertEqual(self.count(), 1)
        (data / "a").write_text("2")
        self.check("true", "--input", data)
        self.assertEqual(self.count(), 2)

    def test_files_that_the_command_has_read_count(self):
        header = self.folder / "header"
        header.write_text("1")
        depfile = self.folder / "depfile"
        script = f"echo object: {header} > {depfile}"
        self.check(script, "--depfile", depfile)
        depfile.unlink()
        self.check(script, "--depfile", depfile)
        self.assertEqual((self.count(), depfile.read_text()), (1, f"object: {header}\n"))
        header.write_text("2")
        self.check(script, "--depfile", depfile)
        self.assertEqual(self.count(), 2)
        header.write_text("1")
        self.check(script, "--depfile", depfile)
        self.assertEqual(self.count(), 2)

    def test_variables_of_the_tests_count(self):
        self.check("true", GTEST_SHARD_INDEX="0")
        self.check("true", GTEST_SHARD_INDEX="1")
        self.check("true", GTEST_SHARD_INDEX="1", UNRELATED="1")
        self.assertEqual(self.count(), 2)

    def test_everything_is_repeated_on_request(self):
        self.check("true")
        self.check("true", SPTRSV_REPEAT="1")
        self.assertEqual(self.count(), 2)


if __name__ == "__main__":
    unittest.main()
