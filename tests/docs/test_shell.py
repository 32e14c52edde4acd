"""Tests of shell.py with small pages."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import shell


class Shell(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "examples").mkdir()
        program = self.folder / "examples/pcg"
        program.write_text("#!/bin/sh\necho '  --grid N  --host'\n")
        program.chmod(0o700)

    def check(self, code, info="sh"):
        page = self.folder / "page.md"
        page.write_text(f"```{info}\n{code}\n```\n")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = shell.main(self.folder, page)
        return status, output.getvalue()

    def test_accepts_known_programs_and_options(self):
        for code in (
            "pcg --grid 3 --host && build/default/examples/pcg --grid=4  # --gird",
            "for n in 1 2; do\n  pcg --grid $n \\\n    --host\ndone",
            "python3 benchmarks/python compare A B --threshold 3",
            "scripts/krylov_comparison.py A B --fill 3",
            "scripts/test.sh",
            "ls --no-such-option",
        ):
            self.assertEqual(self.check(code)[0], 0, (code, self.check(code)[1]))

    def test_names_what_is_not_there(self):
        for code, text in (
            ("pcg --gird 3", "pcg has no option --gird"),
            ("true && build/default/examples/pcg --gird 3", "has no option --gird"),
            ("python3 benchmarks/python compare A B --treshold 3", "has no option --treshold"),
            ("python3 scripts/none.py", "there is no scripts/none.py"),
            ("scripts/none.sh", "there is no scripts/none.sh"),
            ("build/default/benchmarks/sptrsv_nothere", "CMake builds no sptrsv_nothere"),
        ):
            status, output = self.check(code)
            self.assertEqual(status, 1, code)
            self.assertIn(text, output)

    def test_runs_a_block_among_the_files_of_the_repository(self):
        self.assertEqual(
            self.check("test -f README.md\nbuild/default/examples/pcg", "sh run"), (0, "1 blocks ran, 0 mistakes\n")
        )
        status, output = self.check("echo before; false; echo behind", "sh run")
        self.assertEqual(status, 1)
        self.assertIn("before", output)
        self.assertNotIn("behind", output)


if __name__ == "__main__":
    unittest.main()
