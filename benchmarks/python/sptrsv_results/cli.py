"""What the command lines have in common."""

from __future__ import annotations

import argparse
import pathlib


def new_parser(command: str, description: str) -> argparse.ArgumentParser:
    """Returns a parser that shows the description as it is laid out."""
    return argparse.ArgumentParser(
        prog=f"python3 benchmarks/python {command}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_output_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=pathlib.Path,
        metavar="DIR",
        default=pathlib.Path("report"),
        help="the folder to write into; it is created if it does not exist (default: report)",
    )


def add_tables_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables-only", action="store_true", help="write no figures, which need matplotlib")
