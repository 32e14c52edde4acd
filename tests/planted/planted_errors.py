"""Plants errors into the kernels, one at a time, and checks that the tests of the emulator catch each of them.

All errors of a program are compiled into it, each with a switch, so that a program is compiled once (or a few times
where errors overlap). It must pass without an error, and fail with each of them that is not listed as equivalent."""

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from errors import ERRORS
from planting import Error, layers, plant
from programs import PROGRAMS, Program
from removals import removals

ROOT = Path(__file__).resolve().parents[2]
# One error of each family of policies, by name.
SAMPLE = (
    "a batch is known when its last component is",
    "sync_free_column counts in shared memory before it adds",
    "a block waits for the tasks of earlier solves only",
    "a fenced flag is set before its value",
    "row_per_thread uses components that are pending",
    "a warp group hands on its turn before it stores its components",
    "producers copy to the stage that is consumed",
    "a row waits for a shuffle of a level that has been shuffled",
    "a step of a factorisation does not wait for its operands",
)


@dataclass(frozen=True)
class Result:
    error: Error
    caught_by: str  # the program; empty: none
    how: str  # the first line that says so


def at_once(call: Callable[..., None], items: Iterable[tuple]) -> None:
    """Calls `call` with each of the items as its arguments, all at the same time."""
    listed = list(items)
    with ThreadPoolExecutor(max(1, len(listed))) as threads:
        for done in [threads.submit(call, *item) for item in listed]:
            done.result()


class Workshop:
    """Builds programs with planted errors below a folder, and runs them, `jobs` processes at a time."""

    def __init__(self, folder: Path, compiler: str, optimisation: str, timeout: int, emulator: Path | None, jobs: int):
        self.folder = folder
        self.compiler = compiler
        self.optimisation = optimisation
        self.timeout = timeout
        self.processes = threading.Semaphore(jobs)
        folder.mkdir(parents=True, exist_ok=True)
        self.emulator = emulator or self.compile_emulator()

    def compile_emulator(self) -> Path:
        sources = sorted(path for path in (ROOT / "tests/emulator").rglob("*.cpp") if "test" not in path.parts[-2:-1])
        unity = self.folder / "emulator.cpp"
        unity.write_text("".join(f'#include "{path.relative_to(ROOT / "tests")}"\n' for path in sources))
        built = self.folder / "emulator.o"
        self.compile([unity, "-O2", "-c", "-o", built], ROOT)
        return built

    def compile(self, arguments: list[object], tree: Path) -> None:
        includes = [f"-I{path}" for path in (tree / "include", ROOT, ROOT / "tests", ROOT / "tests/planted")]
        with self.processes:
            subprocess.run([self.compiler, "-std=c++17", *includes, *map(str, arguments)], check=True)

    def build(self, program: Program, number: int, layer: dict[int, Error]) -> Path:
        """Builds the program with all errors of a layer."""
        name = f"{program.name}_{number}"
        tree = self.folder / name
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT / "include", tree / "include")
        plant(ROOT, tree, layer)
        source = tree / f"{name}.cpp"
        source.write_text(program.text())
        out = tree / name
        instrumented = ["-fsanitize=thread", "-Wno-tsan", "--param", "tsan-instrument-func-entry-exit=0"]
        options = [self.optimisation, "-include", "planted.hpp", *instrumented]
        self.compile([*options, "-c", source, "-o", f"{out}.o"], tree)
        self.compile([f"{out}.o", self.emulator, "-lgtest", "-lgtest_main", "-pthread", "-o", out], tree)
        return out

    def run(self, program: Path, cases: str, error: int) -> tuple[bool, str]:
        """Runs cases of a program with one error switched on (0: none); returns whether they pass, and why not."""
        command = [program, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={cases}"]
        environment = os.environ | {"SPTRSV_PLANTED_ERROR": str(error)}
        try:
            with self.processes:
                done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return False, f"no end after {self.timeout} s"
        if done.returncode == 0:
            return True, ""
        return False, what_failed(done.stdout) or f"exit status {done.returncode}"


def what_failed(output: str) -> str:
    """Returns what the emulator or the test says about a failure, in a few words."""
    for word, meaning in (
        ("neither happens before the other", "data race"),
        ("emulator: deadlock", "deadlock"),
        ("exceeds", "livelock"),
        ("which nobody has written", "uninitialised read"),
        ("in no buffer", "out of bounds"),
        ("of shared memory", "out of bounds"),
        ("is in a barrier", "barrier"),
        ("at barrier", "barrier"),
        ("of a tile", "divergence"),
        ("copy_", "asynchronous copy"),
        ("has ended", "barrier"),
        ("which there is not", "barrier"),
        ("bytes at", "out of bounds"),
        ("C++ exception", "exception"),
        ("Failure", "wrong result"),
    ):
        if word in output:
            return meaning
    return ""


def chosen_errors(arguments: argparse.Namespace) -> dict[int, Error]:
    """Returns the errors to plant, by number from 1 on."""
    every = [*ERRORS, *removals(ROOT)]
    names = Counter(error.name for error in every)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise SystemExit(f"error: planted errors with one name: {twice}")
    missing = set(SAMPLE) - set(names)
    if missing:
        raise SystemExit(f"error: the sample names errors that there are not: {sorted(missing)}")
    numbered = dict(enumerate(every, start=1))
    if arguments.sample:
        return {number: error for number, error in numbered.items() if error.name in SAMPLE}
    return {
        number: error
        for number, error in numbered.items()
        if arguments.only in error.name and (not arguments.program or arguments.program in error.programs)
    }


def joined(programs: list[Program]) -> Program:
    """Returns a program with the subjects of all these programs, whose headers and kernels are compiled once."""
    return Program("policies", tuple(dict.fromkeys(subject for program in programs for subject in program.subjects)))


def examine(
    workshop: Workshop,
    built_as: Program,
    programs: list[Program],
    errors: dict[int, Error],
    caught: dict[int, Result],
    runs_without: bool,
) -> None:
    """Builds one program, which has the cases of `programs`, with the errors of these that no program has caught yet.
    Runs the cases of a program with each of its errors; first without if `runs_without`."""
    names = {program.name for program in programs}
    mine = {n: error for n, error in errors.items() if not names.isdisjoint(error.programs) and n not in caught}
    for index, layer in enumerate(layers(ROOT, mine)):
        start = time.monotonic()
        built = workshop.build(built_as, index, layer)
        passes, why = workshop.run(built, built_as.cases(), 0) if runs_without else (True, "")
        if not passes:
            raise SystemExit(f"error: {built_as.name} fails without a planted error: {why}")
        done = "built and passed" if runs_without else "built"
        print(f"{built_as.name}: {len(layer)} errors, {done} after {time.monotonic() - start:.0f} s", flush=True)

        def run(number: int, error: Error, built: Path = built) -> None:
            for program in programs:
                if program.name in error.programs and number not in caught:
                    passes, why = workshop.run(built, program.cases(), number)
                    if not passes:
                        caught[number] = Result(error, program.name, why)
                    print(f"  {program.name:24} {'not caught' if passes else why:20} {error.name}", flush=True)

        at_once(run, layer.items())


def summary(results: list[Result]) -> tuple[list[str], bool]:
    """Returns the table of results as lines of Markdown, and whether all is as it should be."""
    lines = ["| Planted error | Kind | Result |", "|---|---|---|"]
    good = True
    for result in results:
        if result.caught_by:
            text = f"caught: {result.how} ({result.caught_by})"
        elif result.error.equivalent:
            text = f"equivalent: {result.error.equivalent}"
        else:
            text = "**not caught**"
            good = False
        if result.caught_by and result.error.equivalent:
            text += "; but listed as equivalent"
            good = False
        lines.append(f"| {result.error.name.replace('|', chr(92) + '|')} | {result.error.kind} | {text} |")
    return lines, good


def main() -> int:
    parser = argparse.ArgumentParser(prog="planted_errors.py", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="folder for the copies of the sources and the programs")
    parser.add_argument("--check", action="store_true", help="only check that each error can be planted")
    parser.add_argument(
        "--sample", action="store_true", help="plant one error of each family of policies, and run only with it"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="plant the errors whose names contain TEXT")
    parser.add_argument("--program", default="", help="plant the errors that this program must catch")
    parser.add_argument("--timeout", type=int, default=900, metavar="S", help="seconds after which a run has failed")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument(
        "--emulator", type=Path, metavar="FILE", help="the emulator's library or object, which is compiled by default"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="compilers and programs at a time")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the results as a Markdown table")
    arguments = parser.parse_args()

    errors = chosen_errors(arguments)
    for program in PROGRAMS:
        layers(ROOT, {number: error for number, error in errors.items() if program in error.programs})
    for program in PROGRAMS.values():
        if program.source and not (ROOT / "tests" / program.source).is_file():
            raise SystemExit(f"error: planted errors: the program {program.name} has no source tests/{program.source}")
    if arguments.check:
        print(f"{len(errors)} errors can be planted")
        return 0
    if arguments.folder is None:
        parser.error("a folder is needed")
    # The programs of the sample run only until the error is caught: they take longer to compile than to run.
    optimisation = "-O0" if arguments.sample else "-O1"
    workshop = Workshop(
        arguments.folder.resolve(),
        arguments.compiler,
        optimisation,
        arguments.timeout,
        arguments.emulator,
        arguments.jobs,
    )
    caught: dict[int, Result] = {}
    needed = {name for error in errors.values() for name in error.programs}
    programs = [program for program in PROGRAMS.values() if program.name in needed]
    if arguments.sample:
        # What the programs of the sample test without an error is also in contract_<family>, which .ci/run runs.
        together = [program for program in programs if not program.source]
        examine(workshop, joined(together), together, errors, caught, runs_without=False)
        programs = [program for program in programs if program.source]

    def examine_alone(program: Program) -> None:
        examine(workshop, program, [program], errors, caught, runs_without=not arguments.sample)

    at_once(examine_alone, [(program,) for program in programs])
    results = [caught.get(number, Result(error, "", "")) for number, error in errors.items()]
    lines, good = summary(results)
    if arguments.table:
        arguments.table.write_text("\n".join(lines) + "\n")
    missed = [result.error.name for result in results if not result.caught_by and not result.error.equivalent]
    equivalent = sum(not result.caught_by and bool(result.error.equivalent) for result in results)
    print(f"{len(results)} errors: {len(caught)} caught, {equivalent} equivalent, {len(missed)} not caught")
    for name in missed:
        print(f"  not caught: {name}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
