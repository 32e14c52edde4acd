#!/usr/bin/env python3
"""Checks that the kernels of the library wait for the work before them in the stream before they access global memory.

usage: check_waits.py FILE.ptx

A kernel without a wait fails, too. The compiler can cause a failure: it may move a load of memory that the kernel only
reads (ld.global.nc) before the wait, although an earlier kernel may still write this memory.
"""

import re
import sys

ENTRY = re.compile(r"\.entry\s+(\w+)")
WAIT = re.compile(r"\bgriddepcontrol\.wait\b")
ACCESS = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:ld|st|ldu|red|atom|prefetch|cp)\.(?!param|shared|local|const)\S*)")


def early_accesses(lines):
    """Returns by kernel the first access before the wait; None if there is none."""
    found = {}
    kernel = None
    for line in lines:
        if entry := ENTRY.search(line):
            kernel = entry[1]
            found[kernel] = "no wait"  # until a wait is found
        elif line.startswith("}"):
            kernel = None
        elif kernel and WAIT.search(line):
            found[kernel], kernel = None, None
        elif kernel and (access := ACCESS.match(line)):
            found[kernel], kernel = access[1], None
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as ptx:
        accesses = early_accesses(ptx)
    kernels = {name: access for name, access in accesses.items() if "run_agent" in name}
    early = {name: access for name, access in kernels.items() if access}
    for name, access in early.items():
        print(f"error: {name}: {access}" + ("" if access == "no wait" else " before the wait"))
    print(f"{len(kernels)} kernels, {len(early)} with an access before the wait or without a wait")
    return 1 if early or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
