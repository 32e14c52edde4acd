"""The steps of .ci/run: what a function does counts, not only its last command."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Steps(unittest.TestCase):
    def said_of(self, body: str) -> str:
        """Returns what .ci/run prints of a step whose function has this body."""
        found = re.search(r"^step\(\) \{\n.*?^\}\n", (ROOT / ".ci/run").read_text(), re.DOTALL | re.MULTILINE)
        assert found is not None
        with tempfile.TemporaryDirectory() as results:
            script = "exec 3>&1\nset -euo pipefail\n"
            script += f"results={results}\n{found[0]}check() {{\n{body}\n}}\nstep name check\n"
            script += 'cat "$results/name.counts"\n'
            return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout

    def test_fails_with_its_first_command(self):
        said = self.said_of("false\necho went on")
        self.assertIn("=== name: FAILED", said)
        self.assertNotIn("went on", said)
        self.assertTrue(said.endswith("\n0 1\n"), said)

    def test_passes_and_counts(self):
        self.assertTrue(self.said_of("true\necho all").endswith("\n1 0\n"))
        self.assertTrue(self.said_of("echo '12 passed, 0 failed'").endswith("\n12 0\n"))
        self.assertTrue(self.said_of("echo '12 passed, 0 failed'\nexit 3").endswith("\n12 1\n"))


if __name__ == "__main__":
    unittest.main()
