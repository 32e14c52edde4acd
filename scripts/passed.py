#!/usr/bin/env python3
"""Runs a check, unless the same check has passed before with the same inputs.

usage: passed.py [--input PATH]... [--depfile FILE] [--output FILE]... [--touch FILE]... -- COMMAND [ARGUMENT...]

For checks whose result depends on nothing but their inputs: a compiler that checks a source, or a test program whose
threads and random numbers are simulated. The inputs are COMMAND with its arguments, the program that it names, the
environment variables GTEST_* and SPTRSV_*, each --input (a file, or a folder with all in it), and the files that
--depfile (as compilers write it) names after a run. Files below the repository count by path and contents; others by
path, size and time of change. A check that passed is stored in $SPTRSV_PASSED_CACHE (default:
$XDG_CACHE_HOME/sptrsv_passed), with what it printed, its --output files and its depfile, which come back when it need
not run again. A --touch file is one whose contents nobody reads: it comes back empty.

SPTRSV_REPEAT=1 runs every check. The exit status is that of COMMAND, or 0.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
VARIABLES = re.compile(r"GTEST_(?!OUTPUT)|SPTRSV_(?!REPEAT|PASSED_CACHE|PRESET|TIER)")
DAYS = 30  # after which an entry that was not used is removed


def portable(text: str) -> str:
    """Returns the text as it is in a clone in any other folder."""
    return text.replace(ROOT, "@root@")


def local(text: str) -> str:
    return text.replace("@root@", ROOT)


def digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def state_of(name: str) -> str:
    """Returns what identifies the present state of a file: portable name and contents, or size and time."""
    try:
        if os.path.isdir(name):
            files = sorted(path for path in Path(name).rglob("*") if path.is_file() and path.suffix != ".pyc")
            return digest([f"{path.relative_to(name)} {state_of(str(path))}" for path in files])
        if os.path.abspath(name).startswith(ROOT + os.sep):
            return hashlib.sha256(Path(name).read_bytes()).hexdigest()
        status = os.stat(name)
    except OSError:
        return "none"
    return f"{status.st_size} {status.st_mtime_ns}"


def dependencies(depfile: Path) -> list[str]:
    """Returns the files that a compiler has read."""
    text = depfile.read_text().replace("\\\n", " ")
    names = re.split(r"(?<!\\)\s+", text.split(": ", 1)[1].strip())
    return sorted({os.path.abspath(name.replace("\\ ", " ")) for name in names})


class Entry:
    """What is stored of one command: a folder for each set of inputs with which it has passed."""

    def __init__(self, arguments: argparse.Namespace):
        cache = os.environ.get("SPTRSV_PASSED_CACHE")
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.arguments = arguments
        program = shutil.which(arguments.command[0]) or arguments.command[0]
        environment = [f"{k}={v}" for k, v in sorted(os.environ.items()) if VARIABLES.match(k)]
        inputs = [program, *arguments.input]
        parts = [*arguments.command, os.getcwd() if arguments.depfile else "", *environment]
        parts += [f"{name} {state_of(name)}" for name in inputs]
        self.folder = Path(cache or f"{base}/sptrsv_passed") / digest([portable(part) for part in parts])

    def find(self) -> Path | None:
        """Returns the folder of a run with the present inputs."""
        for run in sorted(self.folder.glob("*/inputs.json")):
            recorded = json.loads(run.read_text())
            if all(state_of(local(name)) == state for name, state in recorded.items()):
                return run.parent
        return None

    def restore(self, run: Path) -> None:
        os.utime(run)
        for number, name in enumerate(self.arguments.output):
            shutil.copyfile(run / f"output_{number}", name)
        for name in self.arguments.touch:
            Path(name).touch()
        if self.arguments.depfile:
            Path(self.arguments.depfile).write_text(local((run / "depfile").read_text()))
        sys.stdout.write((run / "text").read_text())
        if not self.arguments.depfile:
            print("passed before with the same inputs; SPTRSV_REPEAT=1 repeats it")

    def store(self, text: str) -> None:
        depfile = Path(self.arguments.depfile) if self.arguments.depfile else None
        read = dependencies(depfile) if depfile else []
        inputs = {portable(name): state_of(name) for name in read}
        self.folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=self.folder.parent))
        (made / "text").write_text(text)
        if depfile:
            (made / "depfile").write_text(portable(depfile.read_text()))
        for number, name in enumerate(self.arguments.output):
            shutil.copyfile(name, made / f"output_{number}")
        (made / "inputs.json").write_text(json.dumps(inputs))
        try:
            made.rename(self.folder / digest([json.dumps(inputs)]))
        except OSError:  # another process was faster
            shutil.rmtree(made)
        self.remove_old()

    def remove_old(self) -> None:
        """Removes what was not used for long, once a day."""
        mark = self.folder.parent / "cleaned"
        if mark.exists() and mark.stat().st_mtime > time.time() - 86400:
            return
        mark.touch()
        for run in self.folder.parent.glob("*/*"):
            if run.stat().st_mtime < time.time() - DAYS * 86400:
                shutil.rmtree(run, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--depfile")
    parser.add_argument("--output", action="append", default=[])
    parser.add_argument("--touch", action="append", default=[])
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    entry = Entry(arguments)
    if os.environ.get("SPTRSV_REPEAT") != "1" and (run := entry.find()) is not None:
        entry.restore(run)
        return 0
    done = subprocess.run(arguments.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    sys.stdout.write(done.stdout)
    if done.returncode == 0:
        entry.store(done.stdout)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main())
