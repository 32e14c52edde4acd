#!/usr/bin/env python3
"""Searches the kernels of a binary for registers that are read before their zero has arrived.

ptxas of CUDA 13.0 sets a pair of registers to zero by CS2R. If a predicated instruction may overwrite the pair, it has
let a later instruction read the pair after as few cycles as the predicated instruction needs. If that one does not
execute, the reader gets what the register held before. See docs/lab_log/incomplete_factors.md.

Needs cuobjdump of the CUDA toolkit. Exit status: 0, 1 if there are such reads, 2 for an error.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Cycles from the issue of a CS2R to the first read that gets its result. ptxas lets none come earlier where it sees the
# dependence.
LATENCY = 6
# Instructions of other units, which read their registers two cycles later.
LATE_READERS = ("MUFU", "LD", "ST", "SHFL", "ATOM", "RED", "F2", "I2", "POPC", "FLO", "BREV")

INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,5})\*/\s+(.*?)\s*;?\s*/\* 0x[0-9a-f]{16} \*/")
UPPER_HALF = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
PREDICATE = re.compile(r"^@!?U?P\d ")
ZERO = re.compile(r"CS2R R(\d+), SRZ")
WIDE = re.compile(r"64|WIDE|^D(ADD|MUL|FMA|SETP)|^CS2R")


@dataclass
class Instruction:
    address: str
    text: str
    stall: int  # cycles until the next one may issue

    @property
    def is_predicated(self) -> bool:
        return PREDICATE.match(self.text) is not None

    @property
    def operation(self) -> str:
        return PREDICATE.sub("", self.text).split(" ")[0]

    def operands(self) -> list[str]:
        return [part.strip() for part in PREDICATE.sub("", self.text)[len(self.operation) :].split(",")]

    def stores(self) -> bool:
        return self.operation.startswith(("ST", "RED", "BRA", "CALL"))

    def reads(self) -> set[int]:
        is_wide = re.search(r"^ST.*\.64|^D(ADD|MUL|FMA|SETP)", self.operation) is not None
        found = set()
        for part in self.operands() if self.stores() else self.operands()[1:]:
            for register, pair in re.findall(r"\bR(\d+)(\.64)?\b", part):
                found.add(int(register))
                if pair or (is_wide and "[" not in part):
                    found.add(int(register) + 1)
        return found

    def writes(self) -> set[int]:
        target = next((m for part in self.operands()[:2] if (m := re.fullmatch(r"R(\d+)", part))), None)
        if target is None or self.stores():
            return set()
        first = int(target[1])
        return {first, first + 1} if WIDE.search(self.operation) else {first}


@dataclass
class Pending:
    """A zero that is on its way."""

    source: Instruction
    registers: set[int]
    cycles: int  # since its issue


def instructions(lines: Iterable[str]) -> Iterator[tuple[str, Instruction]]:
    """Yields each instruction of a disassembly, with the name of its function."""
    name = ""
    found = None
    for line in lines:
        if "Function :" in line:
            name = line.split("Function :")[1].strip()
        elif match := INSTRUCTION.match(line):
            found = match
        elif found is not None and (upper := UPPER_HALF.match(line)):
            yield name, Instruction(found[1], found[2], int(upper[1], 16) >> 41 & 15)
            found = None


def early_reads(lines: Iterable[str], functions: set[str]) -> Iterator[tuple[str, Instruction, Instruction, int]]:
    """Yields the function, the CS2R, its first reader and the cycles between them, where these are too few. Adds the
    names of all functions to `functions`."""
    function = None
    pending: list[Pending] = []
    for name, instruction in instructions(lines):
        if name != function:
            function, pending = name, []
            functions.add(name)
        for zero in pending:
            if zero.registers & instruction.reads():
                delay = 2 if instruction.operation.startswith(LATE_READERS) else 0
                if zero.cycles + delay < LATENCY:
                    yield name, zero.source, instruction, zero.cycles
                zero.registers = set()
            elif not instruction.is_predicated:
                zero.registers -= instruction.writes()
            zero.cycles += instruction.stall
        if match := ZERO.search(instruction.text):
            first = int(match[1])
            pending.append(Pending(instruction, {first, first + 1}, instruction.stall))
        pending = [zero for zero in pending if zero.registers and zero.cycles < LATENCY]
        if instruction.operation in ("BRA", "EXIT", "RET", "CALL") and not instruction.is_predicated:
            pending = []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs="+", metavar="BINARY", help="program, library or object file")
    parser.add_argument("--arch", metavar="SM", help="only the kernels of this architecture, such as sm_90")
    arguments = parser.parse_args()
    total = 0
    for binary in arguments.binaries:
        functions = set()
        early = 0
        command = ["cuobjdump", "-sass", *(["-arch", arguments.arch] if arguments.arch else []), binary]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dump:
            assert dump.stdout is not None
            for name, source, reader, cycles in early_reads(dump.stdout, functions):
                early += 1
                print(name)
                print(f"  {source.address} {source.text}")
                print(f"  {reader.address} {reader.text}: {cycles} cycles later")
        if dump.returncode != 0:
            return 2
        print(f"{binary}: {len(functions)} functions, {early} early reads")
        total += early
    return 1 if total > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
