#!/usr/bin/env python3
"""check_waits.py FILE.ptx: fails if a kernel of the library reaches for global memory before it waits for what is
before it in the stream, or never waits. Such a load is the compiler's doing: one of memory that a kernel only reads (ld.global.nc)
may be moved before the wait, though the kernel before may still write there."""

import re
import sys

ENTRY = re.compile(r"\.entry\s+(\w+)")
WAIT = re.compile(r"\bgriddepcontrol\.wait\b")
ACCESS = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:ld|st|ldu|red|atom|prefetch|cp)\.(?!param|shared|local|const)\S*)")


def early_accesses(lines):
    """By kernel: what comes before the wait and must not, else None."""
    found = {}
    kernel = None
    for line in lines:
        if entry := ENTRY.search(line):
            kernel = entry[1]
            found[kernel] = "all that it does"  # until there is a wait
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
        print(f"error: {name}: {access} comes before the wait")
    print(f"{len(kernels)} kernels, {len(early)} with something before the wait")
    return 1 if early or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
