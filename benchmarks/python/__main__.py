"""Runs the command that is named first: python3 benchmarks/python COMMAND [ARGUMENTS...]."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

# The module of each command, which is imported only when it runs: train-schemes needs packages that others do not. The
# modules that draw figures, which need matplotlib, are imported only when there is something to draw.
COMMANDS = {
    "check": ("sptrsv_results.format", "checks that files of results can be used"),
    "compare": ("sptrsv_results.compare", "compares two files of results, or one with a table of baseline times"),
    "report": ("sptrsv_results.report", "writes a report of results: tables and figures"),
    "study": ("sptrsv_results.studies.command", "writes the tables and figures of a paper's study"),
    "scheme-study": ("sptrsv_results.studies.schemes", "writes the study of schemes (Hu et al. 2024)"),
    "fit-paths": ("sptrsv_results.fit.paths", "fits models of the times of dataflow's paths"),
    "fit-block-kernels": ("sptrsv_results.fit.block_kernels", "fits the thresholds of the block policies"),
    "train-schemes": ("sptrsv_results.fit.schemes", "trains the model of policy::scheme"),
}


def usage() -> str:
    lines = [f"  {name:<18} {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: python3 benchmarks/python COMMAND [ARGUMENTS...]",
            "",
            "Commands for the results of the benchmark programs:",
            *lines,
            "",
            "python3 benchmarks/python COMMAND --help describes the arguments of a command.",
        ]
    )


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        module, _ = COMMANDS[arguments[0]]
        try:
            return importlib.import_module(module).main(arguments[1:])
        except ModuleNotFoundError as error:
            print(f"error: {arguments[0]} needs the Python package {error.name}", file=sys.stderr)
            return 2
    asks_for_help = bool(arguments) and arguments[0] in ("-h", "--help")
    print(usage(), file=sys.stdout if asks_for_help else sys.stderr)
    if arguments and not asks_for_help:
        print(f"error: no command named {arguments[0]}", file=sys.stderr)
    return 0 if asks_for_help else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
