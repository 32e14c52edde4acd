#!/usr/bin/env python3
"""Runs a program that extract.py made and compares its output with what the page says.

usage: run.py PROGRAM EXPECTED

EXPECTED is the JSON file that extract.py wrote. The exit status is 1 if the program fails or prints something else.
"""

import json
import pathlib
import re
import subprocess
import sys


def printed_by_block(text):
    """Returns the output of each block by its place; that of a whole program has the place ""."""
    first, *others = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)
    return {"": first} | dict(zip(others[::2], others[1::2], strict=True))


def normalised(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def main(program, expected_file):
    run = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout, end="")
    if run.returncode != 0:
        print(f"the program ends with the status {run.returncode}")
        return 1
    printed = printed_by_block(run.stdout)
    status = 0
    for place, text in json.loads(pathlib.Path(expected_file).read_text()).items():
        if normalised(printed.get(place, "")) != normalised(text):
            print(f"{place or 'the program'} does not print what the page says:\n{text}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
