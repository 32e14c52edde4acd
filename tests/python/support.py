"""Helpers of the tests of the commands."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "benchmarks" / "python"  # python3 PROGRAM COMMAND runs a command
sys.path.insert(0, str(PROGRAM))
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
needs_matplotlib = unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib (Debian: python3-matplotlib)")


class CommandTest(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name: str, content: Any) -> str:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def call(self, command: Callable[[list[str]], int], *arguments: str) -> tuple[int, str]:
        """Returns the exit status of a command's main function, and what it printed."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                status = command(list(arguments))
            except SystemExit as stop:  # argparse
                status = int(stop.code or 0)
        return status, output.getvalue()


def svg_texts(path: pathlib.Path) -> list[str]:
    """Returns the texts of a figure, without its title."""
    return ["".join(text.itertext()) for text in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
