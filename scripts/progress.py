#!/usr/bin/env python3
"""Runs a build or a test run and shows how far it is.

usage: progress.py NAME COMMAND [ARGUMENT...]

COMMAND is `cmake --build` (with Ninja or Make) or `ctest`. Its status lines become a bar on a terminal; without a
terminal they become one line for each 10 % and for each minute without one. All other lines pass through. The exit
status is that of COMMAND.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

COUNT = re.compile(r"\s*\[\s*(\d+)/(\d+)\]|\s*(\d+)/(\d+) Test\s")  # Ninja; CTest
PERCENT = re.compile(r"\[\s*(\d+)%\] ")  # Make
# CMake's own commands, which Ninja counts apart from the build's.
REGENERATION = re.compile(r"\[\d+/\d+\] (Re-checking globbed|Re-running CMake)|.*VerifyGlobs\.cmake")
# What says neither how far the command is nor what it found.
SILENT = re.compile(r"\s+Start\s+\d+: |Scanning dependencies of |Consolidate compiler generated dependencies")
SILENCE_S = 60
BAR_WIDTH = 30


class Progress:
    def __init__(self, name):
        self.name = name
        self.start = self.last_line = time.monotonic()
        self.done = self.total = self.tenth = 0
        self.unit = ""
        self.terminal = sys.stdout.isatty()

    def position(self):
        if not self.total:
            return f"{time.monotonic() - self.start:.0f} s"
        share = f"{100 * self.done // self.total:3d} %"
        count = "" if self.unit else f", {self.done} of {self.total}"
        return f"{share}{count}, {time.monotonic() - self.start:.0f} s"

    def draw(self):
        if self.terminal:
            filled = BAR_WIDTH * self.done // self.total if self.total else 0
            text = f"{self.name} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {self.position()}"
            print(f"\r\033[K{text[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)

    def tell(self):
        print(f"{self.name}: {self.position()}", flush=True)
        self.last_line = time.monotonic()

    def advance(self, done, total, unit):
        self.done, self.total, self.unit = done, total, unit
        tenth = 10 * done // total if total else 0
        if not self.terminal and tenth != self.tenth:
            self.tell()
        self.tenth = tenth

    def take(self, line):
        if count := COUNT.match(line):
            if not REGENERATION.match(line):
                done, total = (int(n) for n in count.groups() if n)
                self.advance(done, total, "")
            if "Test" not in count.group() or re.search(r"Passed\s+[\d.]+ sec$", line):
                return
        elif percent := PERCENT.match(line):
            self.advance(int(percent[1]), 100, "%")
            return
        elif SILENT.match(line):
            return
        print(f"\r\033[K{line}" if self.terminal else line, flush=True)

    def tick(self):
        if not self.terminal and time.monotonic() - self.last_line >= SILENCE_S:
            self.tell()
        self.draw()

    def end(self, status):
        result = "done" if status == 0 else "FAILED"
        count = f", {self.done} of {self.total}" if self.total and not self.unit else ""
        start = "\r\033[K" if self.terminal else ""
        print(f"{start}{self.name}: {result}{count}, {time.monotonic() - self.start:.0f} s", flush=True)


def main(name, command):
    progress = Progress(name)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the command, too, which then ends
    rest = b""
    while True:
        if select.select([process.stdout], [], [], 1)[0]:
            block = os.read(process.stdout.fileno(), 1 << 16)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                progress.take(line.decode(errors="replace").rstrip("\r"))
        progress.tick()
    if rest:
        progress.take(rest.decode(errors="replace"))
    status = process.wait()
    progress.end(status)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
