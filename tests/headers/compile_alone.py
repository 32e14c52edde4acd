#!/usr/bin/env python3
"""Checks that each header compiles without anything before it, and when it is included twice.

A compiler spends most of its time on such a check with the headers of the standard library. So the headers are
arranged in chains, and each chain is one translation unit, in which each header includes, directly or through others,
all headers in front of it and all that these include. So what stands in front of a header is only what it includes
anyway, and what it lacks alone it lacks there, too.

With --then, each header is a source of its own, in which it stands in front of another one. So no header depends on
what stands in front of it.

COMMAND compiles a source; `SOURCE -o OBJECT` is appended to it. The headers are read from LIST, one a line, as
paths below ROOT. Exit status: 0, 1 if a chain does not compile, 2 for wrong arguments.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif|include)\b\s*(.*)")
NAME = re.compile(r'[<"]([^>"]+)[>"]')
# Conditions whose value is known, with the value for a CUDA compiler.
CUDA = {("ifdef", "__CUDACC__"): True, ("ifndef", "__CUDACC__"): False}


def includes(text: str, is_cuda: bool) -> Iterator[tuple[str, bool]]:
    """Yields the name in each #include of a file, and whether the compiler certainly sees it. What it certainly does
    not see is left out."""
    conditions: list[bool | None] = []  # None: unknown
    for line in text.splitlines():
        match = DIRECTIVE.match(line)
        if match is None:
            continue
        word, rest = match.groups()
        if word in ("if", "ifdef", "ifndef"):
            for_cuda = CUDA.get((word, rest.strip()))
            conditions.append(None if for_cuda is None else for_cuda == is_cuda)
        elif word == "elif":
            conditions[-1] = None
        elif word == "else":
            conditions[-1] = None if conditions[-1] is None else not conditions[-1]
        elif word == "endif":
            conditions.pop()
        elif False not in conditions and (name := NAME.match(rest)):
            yield name[1], None not in conditions


class Files:
    """The files that each header includes, directly or through other headers of the library."""

    def __init__(self, root: Path, is_cuda: bool):
        self.root = root
        self.is_cuda = is_cuda
        self.direct: dict[str, list[tuple[str, bool]]] = {}

    def reached(self, header: str, only_certain: bool) -> frozenset[str]:
        """Returns the header and all that it includes: what it may include, or `only_certain` what it does for sure.
        Headers of other libraries stand for what they include."""
        found = {header}
        waiting = [header]
        while waiting:
            file = waiting.pop()
            if file not in self.direct:
                path = self.root / file
                text = path.read_text(encoding="utf-8") if path.is_file() else ""
                self.direct[file] = list(includes(text, self.is_cuda))
            for name, is_certain in self.direct[file]:
                if name not in found and (is_certain or not only_certain):
                    found.add(name)
                    waiting.append(name)
        return frozenset(found)


def chains(root: Path, headers: Iterable[str], is_cuda: bool) -> list[list[str]]:
    """Divides headers into as few chains as possible in which each header for sure includes the one in front of it, and
    all that this one may include."""
    headers = sorted(headers)
    files = Files(root, is_cuda)
    most = {header: files.reached(header, False) for header in headers}
    least = {header: files.reached(header, True) for header in headers}
    after = {
        first: sorted((h for h in headers if h != first and most[first] <= least[h]), key=lambda h: len(least[h]))
        for first in headers
    }

    # A largest matching of headers with the next ones leaves the smallest number of first ones.
    previous: dict[str, str] = {}

    def find_next(first: str, seen: set[str]) -> bool:
        for header in after[first]:
            if header not in seen:
                seen.add(header)
                if header not in previous or find_next(previous[header], seen):
                    previous[header] = first
                    return True
        return False

    sys.setrecursionlimit(10 * len(headers) + 1000)
    for header in headers:
        find_next(header, set())
    following = {first: header for header, first in previous.items()}
    made = []
    for header in headers:
        if header not in previous:
            chain = [header]
            while chain[-1] in following:
                chain.append(following[chain[-1]])
            made.append(chain)
    return sorted(made, key=lambda chain: len(least[chain[-1]]), reverse=True)  # the long jobs first


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="the folder of the library's headers")
    parser.add_argument("--list", type=Path, required=True, help="a file that names the headers")
    parser.add_argument("--folder", type=Path, required=True, help="where sources and objects are written")
    parser.add_argument("--then", metavar="HEADER", help="what follows each header")
    parser.add_argument("--cuda", action="store_true", help="compile CUDA sources")
    parser.add_argument("--jobs", type=int, default=1, help="how many compilers run at a time")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()

    headers = arguments.list.read_text(encoding="utf-8").split()
    if arguments.then:
        found = [[header, arguments.then] for header in headers]
    else:
        found = chains(arguments.root, headers, arguments.cuda)
    arguments.folder.mkdir(parents=True, exist_ok=True)

    def compile_chain(number: int) -> bool:
        source = arguments.folder / f"chain_{number}.{'cu' if arguments.cuda else 'cpp'}"
        source.write_text("".join(f'#include "{h}"\n#include "{h}"\n' for h in found[number]), encoding="utf-8")
        command = [*arguments.command, source, "-o", source.with_suffix(".o")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 or done.stdout:
            print(f"{' '.join(map(str, command))}\n{done.stdout}", flush=True)
        return done.returncode == 0

    with ThreadPoolExecutor(arguments.jobs) as pool:
        good = list(pool.map(compile_chain, range(len(found))))
    print(f"{len(headers)} headers in {len(found)} sources; {good.count(False)} sources do not compile")
    return 0 if headers and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
