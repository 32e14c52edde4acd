#!/usr/bin/env python3
"""Runs a program that extract.py made and compares its output with what the page says.

usage: run.py PROGRAM EXPECTED [--gpu]

EXPECTED is the JSON file that extract.py wrote. The exit status is 1 if the program fails or prints something else.
With --gpu the program needs a GPU. On a machine without one it must end with the status 1 and one line that names the
policies for the host.
"""

import json
import pathlib
import re
import subprocess
import sys

RUN_IF_GPU = pathlib.Path(__file__).resolve().parents[1] / "run_if_gpu.sh"


def printed_by_block(text):
    """Returns the output of each block by its place; that of a whole program has the place ""."""
    first, *others = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)
    return {"": first} | dict(zip(others[::2], others[1::2], strict=True))


def normalised(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def has_gpu():
    return subprocess.run([RUN_IF_GPU, "true"], stdout=subprocess.DEVNULL).returncode == 0


def says_what_is_missing(run):
    return run.returncode == 1 and bool(re.fullmatch("[^\n]*host_serial[^\n]*host_parallel[^\n]*\n", run.stdout))


def main(program, expected_file, *options):
    run = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout, end="")
    if "--gpu" in options and not has_gpu():
        if says_what_is_missing(run):
            return 0
        print(f"without a GPU: status {run.returncode}, not 1 with one line that names the policies for the host")
        return 1
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
