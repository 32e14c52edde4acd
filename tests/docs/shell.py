#!/usr/bin/env python3
"""Checks and runs the shell blocks of Markdown pages.

usage: shell.py BUILD PAGE...

A block `sh run` runs in a folder that looks like a fresh checkout, in which the builds that the pages name are the
build BUILD. Of each other command, the program must be there, and it must know the long options: those that are built,
and the Python programs, are asked for their --help. The exit status is 1 if a block fails or a command is wrong.
"""

import functools
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from extract import ROOT, form_or_none, read_blocks

BUILDS = ("default", "examples", "host_examples")  # build folders that the pages name
OPTION = re.compile(r"--[a-z][a-z0-9-]*")
SEPARATORS = re.compile(r"\s*(?:&&|\|\||;|\|)\s+")


def commands(code):
    """Yields the words of each command of a script; words of the shell stand before some of them."""
    for line in code.replace("\\\n", " ").splitlines():
        for part in SEPARATORS.split(re.sub(r"(^|\s)#.*", "", line)):
            words = shlex.split(part)
            while words and (words[0] in ("do", "done") or "=" in words[0]):
                words = words[1:]
            if words:
                yield words


@functools.cache
def words_of_cmake():
    pages = (page for folder in ("examples", "benchmarks", "tests") for page in (ROOT / folder).rglob("CMakeLists.txt"))
    return {word for page in pages for word in re.findall(r"\w+", page.read_text())}


def is_target(name):
    """Returns whether CMake may build a program of that name; a loop may put the `sptrsv_` before it."""
    return name in words_of_cmake() or name.removeprefix("sptrsv_") in words_of_cmake()


@functools.cache
def known_options(command):
    """Returns the long options that a program knows, or None if its help cannot be had."""
    help_text = subprocess.run([*command, "--help"], capture_output=True, text=True, cwd=ROOT)
    return set(OPTION.findall(help_text.stdout)) if help_text.returncode == 0 else None


def program_of(words, build):
    """Returns the command that prints the help of a command, () if it is not asked. Raises ValueError for a program
    that is not there."""
    name = pathlib.PurePosixPath(words[0])
    if words[0] == "python3":
        if not (ROOT / words[1]).exists():
            raise ValueError(f"there is no {words[1]}")
        is_folder = (ROOT / words[1]).is_dir()  # its first argument is a command
        return (sys.executable, "-B", *words[1 : 3 if is_folder else 2])
    if name.parts[0] == "scripts":
        if not (ROOT / name).exists():
            raise ValueError(f"there is no {name}")
        return (sys.executable, "-B", str(name)) if name.suffix == ".py" else ()
    if name.parts[0] != "build" and not is_target(name.name):
        return ()  # a program of the system
    if not is_target(name.name):
        raise ValueError(f"CMake builds no {name.name}")
    built = [path for folder in ("examples", "benchmarks") if (path := build / folder / name.name).exists()]
    return (str(built[0]),) if built else ()


def mistakes(block, build):
    """Yields what is wrong with the commands of a block."""
    for words in commands(block.code):
        try:
            command = program_of(words, build)
        except ValueError as error:
            yield str(error)
            continue
        known = known_options(command) if command else None
        unknown = [] if known is None else [w for w in words[1:] if (m := OPTION.match(w)) and m[0] not in known]
        yield from (f"{words[0]} has no option {option}" for option in unknown)


def run(block, build):
    """Runs a block and returns its exit status and output."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in ROOT.iterdir():
            if path.name == "include":  # CMake installs a link as a link, and what follows behind it
                shutil.copytree(path, folder / "include")
            elif not path.name.startswith((".", "build")):
                (folder / path.name).symlink_to(path)
        (folder / "build").mkdir()
        for alias in BUILDS:
            (folder / "build" / alias).symlink_to(build)
        ran = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=block.code,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return ran.returncode, ran.stdout


def main(build, *pages):
    build = pathlib.Path(build).resolve()
    count = failed = 0
    for block in (
        block for page in pages for block in read_blocks(pathlib.Path(page).resolve()) if form_or_none(block) == "sh"
    ):
        faults = list(mistakes(block, build))
        if block.runs:
            count += 1
            status, output = run(block, build)
            faults += [f"the block ends with the status {status}:\n{output}"] if status != 0 else []
        for fault in faults:
            print(f"{block.place}: {fault}")
        failed += len(faults)
    print(f"{count} blocks ran, {failed} mistakes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
