"""The commands as a user calls them: python3 benchmarks/python COMMAND."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import unittest

import support
import synthetic

COMMANDS = (
    "check",
    "compare",
    "report",
    "study",
    "scheme-study",
    "fit-paths",
    "fit-block-kernels",
    "train-schemes",
)
NEEDS_PACKAGES = "train-schemes"
HAS_PACKAGES = all(importlib.util.find_spec(name) for name in ("numpy", "sklearn"))


class Commands(support.CommandTest):
    def run_command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in another folder."""
        program = [sys.executable, "-B", str(support.PROGRAM), *arguments]
        return subprocess.run(program, capture_output=True, text=True, check=False, cwd=self.folder)

    def test_the_usage_names_all_commands(self) -> None:
        done = self.run_command("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(tuple(line.split()[0] for line in done.stdout.splitlines() if line[:2] == "  "), COMMANDS)

    def test_every_command_describes_itself(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                done = self.run_command(command, "--help")
                if command == NEEDS_PACKAGES and not HAS_PACKAGES:
                    self.assertEqual(done.returncode, 2)
                    self.assertRegex(done.stderr, r"^error: train-schemes needs the Python package \w+\n$")
                    continue
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"usage: python3 benchmarks/python {command} ", done.stdout)

    def test_unknown_commands_and_none(self) -> None:
        done = self.run_command("reprot")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: no command named reprot", done.stderr)
        self.assertEqual(self.run_command().returncode, 2)

    def test_exit_status_and_output_are_those_of_the_command(self) -> None:
        path = self.write("good.json", synthetic.results(count=3))
        done = self.run_command("check", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("3 problems", done.stdout)
        self.assertEqual(self.run_command("check", "missing.json").returncode, 2)
        done = self.run_command("report", path, "--tables-only")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.folder / "report" / "report.md").exists())

    def test_only_figures_need_matplotlib(self) -> None:
        done = self.run_command("report", self.write("good.json", synthetic.results(count=3)))
        if support.HAS_MATPLOTLIB:
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        else:
            error = "error: report needs the Python package matplotlib\n"
            self.assertEqual((done.returncode, done.stderr), (2, error))


if __name__ == "__main__":
    unittest.main()
