#!/usr/bin/env python3
"""Makes programs of the code blocks of Markdown pages.

usage: extract.py --check PAGE...
       extract.py --output FOLDER PAGE...

The first words after the fence say how a block is checked:

  cpp              a whole program: it defines main. A program that names nothing of the GPU is compiled by the C++
                   compiler, another one by nvcc.
  cpp fragment     statements. The fragments of a page become one program, each in a scope of its own inside of main,
                   after the declarations of PREAMBLE below.
  cpp declaration  declarations, which stand at namespace scope before main in the program of the page's fragments.
  sh               a script: `bash -n` must accept it, and its options must be those of its programs, see shell.py.
  sh run           a script that also runs, in a few seconds, without a GPU.
  text output      what the cpp block before it prints. Lines `// prints: ...` at the start of a block say the same.

Other blocks are not checked. --check fails if a block has none of these forms or is no shell script, and names it.
--output writes the sources and their expected output to FOLDER, and a line NAME;SOURCE for each program to stdout.
"""

import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"( *)```(.*)")
PRINTS = re.compile(r"// prints: ?(.*)")
MAIN = re.compile(r"\bint main\(")
INCLUDE = re.compile(r"\s*#\s*include\b")
OF_THE_GPU = re.compile(r"cuda|__global__|device|pool_memory_resource|policy(::|/)(?!host_)")

INCLUDES = """\
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <sptrsv/sptrsv.hpp>
"""
PREAMBLE = """\
int main() {
  // | 2 . . . |       |  2 |
  // | 1 2 . . | * x = |  5 |
  // | . 1 4 . |       | 14 |
  // | 1 . 1 2 |       | 12 |
  sptrsv::csr_matrix<double> lower{
      4, 4, {0, 1, 3, 5, 8}, {0, 0, 1, 1, 2, 0, 2, 3}, {2, 1, 2, 1, 4, 1, 1, 2}};
  cudaStream_t stream = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) {
    return 1;
  }
  auto A = sptrsv::to_device(lower, stream);
  sptrsv::system_options options;
  auto solver = sptrsv::analyze(A, options, stream);
  std::vector<double> host_b{2, 5, 14, 12};
  auto b = sptrsv::to_device(host_b, stream);
  auto x = sptrsv::to_device(std::vector<double>(4), stream);
"""
AFTER_FRAGMENT = """\
  if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) {
    std::printf("%s\\n", cudaGetErrorString(error));
    return 1;
  }
"""


@dataclass
class Block:
    page: str  # relative to the root of the repository
    line: int  # number of the first line of the code
    info: str
    code: str
    output: str | None = None

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def form(self):
        """Returns the form of a block that is checked, None for the others, and raises ValueError for a mistake."""
        words = self.info.split()
        if words in (["sh"], ["sh", "run"]):
            return "sh"
        if words[:1] != ["cpp"]:
            return None
        if words == ["cpp"] and MAIN.search(self.code):
            return "program"
        if words in (["cpp", "fragment"], ["cpp", "declaration"]):
            return words[1]
        raise ValueError("a cpp block defines `int main` or begins with `cpp fragment` or `cpp declaration`")

    @property
    def runs(self):
        return self.info.split() == ["sh", "run"]

    def source(self):
        return f'#line {self.line} "{self.page}"\n{self.code}'


def read_blocks(path):
    """Returns the fenced blocks of a page, each with its expected output."""
    page = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
    blocks, open_block = [], None
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        fence = FENCE.match(line)
        if open_block is None and fence:
            indent, open_block = len(fence[1]), Block(page, number + 1, fence[2].strip(), "")
        elif fence and not fence[2].strip():
            blocks.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.code += line[min(indent, len(line) - len(line.lstrip())) :] + "\n"
    if open_block is not None:
        raise SystemExit(f"{open_block.place}: the block has no end")

    for block, following in itertools.zip_longest(blocks, blocks[1:]):
        if following is not None and following.info == "text output":
            block.output = following.code
        elif (lines := block.code.splitlines()) and PRINTS.match(lines[0]):
            leading = next((i for i, line in enumerate(lines) if not PRINTS.match(line)), len(lines))
            block.output = "".join(PRINTS.match(line)[1] + "\n" for line in lines[:leading])
    return blocks


def mistakes(block):
    try:
        form = block.form
    except ValueError as error:
        yield str(error)
        return
    if form == "sh":
        bash = subprocess.run(["bash", "-n"], input=block.code, capture_output=True, text=True)
        if bash.returncode != 0:
            yield bash.stderr.strip()


def form_or_none(block):
    try:
        return block.form
    except ValueError:
        return None  # --check names it


def page_program(declarations, fragments):
    """Returns the program of a page: its declarations, and main with its fragments."""
    parts = [INCLUDES, *(block.source() for block in declarations)]
    bodies = []
    for block in fragments:
        lines = block.source().splitlines(keepends=True)
        parts += [line for line in lines if INCLUDE.match(line)]
        # An empty line takes the place of an include, so that the numbers of the lines stay right.
        body = "".join("\n" if INCLUDE.match(line) else line for line in lines)
        bodies += [f'  std::puts("=== {block.place}");\n  {{\n{body}  }}\n', AFTER_FRAGMENT]
    return "".join([*parts, "\n", PREAMBLE, *bodies, "}\n"])


def programs(blocks):
    """Yields (name, extension, source, expected output by place) of the programs of one page."""
    name = "docs_" + pathlib.PurePath(blocks[0].page).stem.lower()
    of_form = {form: [b for b in blocks if form_or_none(b) == form] for form in ("program", "declaration", "fragment")}
    for number, block in enumerate(of_form["program"], start=1):
        expected = {} if block.output is None else {"": block.output}
        extension = "cu" if OF_THE_GPU.search(block.code) else "cpp"
        yield f"{name}_program_{number}", extension, block.source(), expected
    if of_form["declaration"] or of_form["fragment"]:
        expected = {b.place: b.output for b in of_form["fragment"] if b.output is not None}
        yield name, "cu", page_program(of_form["declaration"], of_form["fragment"]), expected


def write(path, text):
    """Writes a file only if its content changes: an unchanged source is not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--output", type=pathlib.Path)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    pages = [blocks for page in arguments.pages if (blocks := read_blocks(page.resolve()))]

    if arguments.check:
        found = [f"{block.place}: {text}" for blocks in pages for block in blocks for text in mistakes(block)]
        count = sum(form_or_none(block) is not None for blocks in pages for block in blocks)
        print("\n".join([*found, f"{count} blocks of {len(pages)} pages are checked, {len(found)} mistakes"]))
        return 1 if found else 0

    arguments.output.mkdir(parents=True, exist_ok=True)
    for blocks in pages:
        for name, extension, source, expected in programs(blocks):
            path = arguments.output / f"{name}.{extension}"
            write(path, source)
            write(path.with_suffix(".json"), json.dumps(expected, indent=2) + "\n")
            print(f"{name};{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
