"""What the tests of the benchmark's scripts share."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from typing import Any

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(SCRIPTS))


class ScriptTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name: str, content: Any) -> str:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def call(self, script: Callable[[list[str]], int], *arguments: str) -> tuple[int, str]:
        """The exit status of a script's main function, and what it printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                status = script(list(arguments))
            except SystemExit as stop:  # argparse
                status = int(stop.code or 0)
        return status, output.getvalue()


@functools.cache
def python_with_matplotlib() -> str | None:
    """This interpreter, or the system's, which has Debian's packages."""
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            if (
                subprocess.run(
                    [python, "-c", "import matplotlib"], capture_output=True, check=False
                ).returncode
                == 0
            ):
                return python
    return None
