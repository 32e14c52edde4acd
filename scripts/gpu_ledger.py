#!/usr/bin/env python3
"""Builds and runs the checks that need a GPU, and keeps a record of each in tests/gpu/ledger.json.

usage: gpu_ledger.py --build FOLDER [--prebuilt FOLDER] [--minutes N] [--jobs N] [--processes N] [--only REGEX]
       gpu_ledger.py --missing | --write-summary

A check is a program with its arguments, under a tool of compute-sanitizer or without one. Its record has the hash of
what the program is made of: its sources and all headers of the repository that they include, without comments and white
space. A check whose hash has a record that passed need not run again; a check that failed runs again. Programs are
built in FOLDER, those with a missing check only, and a program is checked as soon as it is built; those that stand in
the folder of --prebuilt, which another machine has built from this tree, are not built. Nothing starts after N minutes.
Checks that took long before start first. --missing lists the checks of the present tree without a record;
--write-summary puts into docs/reliability.md what has passed on which GPU. Exit status: 0, 1 if a check failed or is
missing.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEDGER = ROOT / "tests/gpu/ledger.json"
VERSION = ROOT / "include/sptrsv/version.hpp"
PAGE = ROOT / "docs/reliability.md"
BEGIN = "<!-- by scripts/gpu_ledger.py --write-summary -->"
END = "<!-- end -->"
FOLDERS = ("include", "plugins/interop", "tests", ".", "tests/acceptance/trial", "benchmarks")  # where #include looks
TOOLS = {
    "memcheck": ["--tool", "memcheck"],
    "initcheck": ["--tool", "initcheck"],
    "synccheck": ["--tool", "synccheck"],
    "racecheck": ["--tool", "racecheck", "--print-limit", "100000"],
}
# The programs that run under these tools, each with the arguments that make it run for a short time.
SANITIZED = {
    "sptrsv_trial": ["sanitize"],
    "gpu_entry_points": [],
    "gpu_factors": [],
    "gpu_incomplete": [],
    "gpu_incomplete_large": [],
    "gpu_batched": [],
    "gpu_supernodal_matrix": [],
    "gpu_analysis": [],
}
# Programs with kernels that wait for bulk copies at barriers in shared memory, and for how many of these synccheck gets
# room in each block: three stages of 32 warps need 96. It takes memory for them in all blocks of all kernels.
WITH_BULK_COPIES = {"sptrsv_trial", "gpu_entry_points", "gpu_factors"}
BARRIERS_OF_BLOCK = "256"
# Checks that take long, and into how many parts their tests are divided: one for each test.
PARTS = {
    "gpu_incomplete under racecheck": 40,
    "gpu_incomplete_large under racecheck": 7,
    "gpu_analysis under racecheck": 13,
}
# Kernels that racecheck may name: it loses what named barriers order (docs/lab_log/compute_sanitizer.md).
WITH_NAMED_BARRIERS = re.compile(r"partitioned|single_block|natural_blocks|hybrid")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)


@dataclass(frozen=True)
class Check:
    program: str
    arguments: tuple[str, ...]
    tool: str  # empty: none
    sources: tuple[str, ...]
    target: str  # what CMake builds for it
    part: int = 0  # of its tests, if they are divided
    parts: int = 1

    @property
    def name(self) -> str:
        name = " ".join([self.program, *self.arguments, *([f"under {self.tool}"] if self.tool else [])])
        return name if self.parts == 1 else f"{name}, part {self.part + 1} of {self.parts}"


class Sources:
    """The files of the repository, as a compiler sees them: no comments and no white space."""

    def __init__(self) -> None:
        self.hashes: dict[Path, str] = {}
        self.included: dict[Path, list[Path]] = {}
        self.places: dict[tuple[Path, str], Path | None] = {}

    def read(self, path: Path) -> None:
        code = path.read_text(encoding="utf-8")
        if path.suffix != ".py":
            code = COMMENT.sub(lambda match: match[1] or " ", code)
        names = [] if path.suffix == ".py" else INCLUDE.findall(code)
        found = [self.find(path.parent, name) for name in names]
        self.included[path] = [file for file in found if file is not None]
        self.hashes[path] = hashlib.sha256("".join(code.split()).encode()).hexdigest()

    def find(self, folder: Path, name: str) -> Path | None:
        """Returns the file of the repository that #include means; None: there is none."""
        if (folder, name) not in self.places:
            candidates = [(place / name).resolve() for place in (folder, *(ROOT / place for place in FOLDERS))]
            files = [file for file in candidates if file.is_file() and file.is_relative_to(ROOT)]
            self.places[folder, name] = files[0] if files else None
        return self.places[folder, name]

    def hash_of(self, check: Check) -> str:
        """Returns the hash of a check: of its sources and all that they include, whatever the conditions around it.

        The header with the version's numbers changes no kernel and does not count.
        """
        waiting = [ROOT / source for source in check.sources]
        found = set(waiting)
        while waiting:
            path = waiting.pop()
            if path not in self.hashes:
                self.read(path)
            waiting += [file for file in self.included[path] if file not in found]
            found.update(self.included[path])
        parts = [check.name, *(self.hashes[path] for path in sorted(found) if path != VERSION)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def families() -> list[str]:
    """Returns the families of policies, as tests/CMakeLists.txt lists them."""
    listed = re.search(r"^set\(families ([a-z_ ]+)\)", (ROOT / "tests/CMakeLists.txt").read_text(), re.MULTILINE)
    assert listed is not None
    return listed[1].split()


def all_checks() -> list[Check]:
    """Returns the checks, the short ones first."""
    sources: dict[str, tuple[str, ...]] = {}
    for path in sorted((ROOT / "tests/gpu").glob("*.cu")):
        if path.stem != "gpu_translation_units_other":
            sources[path.stem] = (f"tests/gpu/{path.name}",)
    sources["gpu_translation_units"] += ("tests/gpu/gpu_translation_units_other.cu",)
    sources["gpu_c_tests"] = ("tests/gpu_compiled/gpu_pending_errors_in_c.cu", "src/c_interface.cpp")
    for family in families():
        for value in ("f64", "f32", "c64", "c128"):
            name = f"gpu_contract_{family}_{value}"
            sources[name] = (f"tests/gpu/gpu_contract_{value}.cu.in", f"tests/support/subjects/{family}.hpp")
    trial = tuple(str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests/acceptance/trial").glob("*.cu")))
    sources["sptrsv_trial"] = trial

    def check(program: str, arguments: tuple[str, ...] = (), tool: str = "", target: str = "") -> Check:
        return Check(program, arguments, tool, sources[program], target or program)

    checks = [check(program) for program in sources if not program.startswith(("gpu_contract", "sptrsv_trial"))]
    checks += [check(program) for program in sources if program.startswith("gpu_contract")]
    checks += [check(program, tuple(arguments), tool) for program, arguments in SANITIZED.items() for tool in TOOLS]
    trial_arguments = ("--seconds", "10", "--large-entries", "300000000")
    checks.append(check("sptrsv_trial", trial_arguments))
    library = tuple(
        str(path.relative_to(ROOT))
        for folder, pattern in (("src", "*"), ("python", "**/*.py"), ("tests/python_package", "*.py"))
        for path in sorted((ROOT / folder).glob(pattern))
        if path.suffix in (".cpp", ".in", ".py")
    )
    checks.append(Check("python", (), "", library, "sptrsv_compiled"))
    for binary, target in [("libsptrsv.so", "sptrsv_compiled"), ("sptrsv_trial", "sptrsv_trial")]:
        made_of = tuple(path for path in library if path.startswith("src/")) if target == "sptrsv_compiled" else trial
        checks.append(Check("check_machine_code.py", (binary,), "", made_of, target))
    return [part for check in checks for part in parts_of(check)]


def parts_of(check: Check) -> list[Check]:
    """Returns the check, or the parts into which its tests are divided."""
    parts = PARTS.get(check.name, 1)
    return [replace(check, part=part, parts=parts) for part in range(parts)]


def program_of(check: Check, build: Path) -> Path:
    """Returns what a check needs of a build folder."""
    return build / ("src/libsptrsv.so" if check.target == "sptrsv_compiled" else f"tests/{check.target}")


def command_of(check: Check, build: Path) -> tuple[list[str], dict[str, str]]:
    """Returns the command and what it adds to the environment."""
    library = build / "src/libsptrsv.so"
    if check.program == "python":
        folder = str(ROOT / "tests/python_package")
        environment = {"PYTHONPATH": str(ROOT / "python"), "SPTRSV_LIBRARY": str(library)}
        return [sys.executable, "-B", "-m", "unittest", "discover", "-s", folder], environment
    if check.program == "check_machine_code.py":
        binary = program_of(check, build)
        return [sys.executable, "-B", str(ROOT / "scripts/check_machine_code.py"), str(binary)], {}
    command = [str(build / "tests" / check.program), *check.arguments]
    if check.tool:
        needs_barriers = check.tool == "synccheck" and check.program in WITH_BULK_COPIES
        barriers = ["--num-cuda-barriers", BARRIERS_OF_BLOCK] if needs_barriers else []
        command = ["compute-sanitizer", *TOOLS[check.tool], *barriers, "--error-exitcode", "9", *command]
    divided = {"GTEST_TOTAL_SHARDS": str(check.parts), "GTEST_SHARD_INDEX": str(check.part)}
    return command, divided if check.parts > 1 else {}


def outcome_of(check: Check, status: int, output: str) -> tuple[str, str]:
    """Returns "passed" or "failed", and what the program says in its last lines."""
    lines = [line for line in output.strip().split("\n") if line.strip()]
    said = [line for line in lines[-30:] if re.search(r"PASSED|FAILED|SUMMARY|^Ran|^OK|early reads|SKIPPED", line)]
    text = "; ".join(line.strip("= ") for line in said[-4:]) or (lines[-1] if lines else "")
    if check.tool == "racecheck" and status == 9:
        kernels = set(re.findall(r"Race reported between \w+ access at (.*)\+0x", output))
        if kernels and all(WITH_NAMED_BARRIERS.search(kernel) for kernel in kernels):
            return "passed", f"hazards at named barriers in {len(kernels)} kernels only; {text}"
    if "Internal Sanitizer Error" in output:
        text = f"compute-sanitizer lacked memory, and did not see all launches; {text}"
    return ("passed" if status == 0 else "failed"), text.replace(f"{ROOT}/", "")[:300]


def describe_machine() -> dict[str, str]:
    def said(*command: str) -> str:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()

    gpu, driver = (
        said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split("\n")[0].split(", ")
    )
    release = re.search(r"release ([\d.]+)", said("nvcc", "--version"))
    commit = os.environ.get("SPTRSV_COMMIT") or said("git", "rev-parse", "--short", "HEAD")
    return {"gpu": gpu, "driver": driver, "cuda": release[1] if release else "", "commit": commit}


class Run:
    """A check that runs on one GPU, or on all of them if `gpu` is negative."""

    def __init__(self, check: Check, identity: str, build: Path, gpu: int):
        self.check = check
        self.gpu = gpu
        self.identity = identity
        self.start = time.monotonic()
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 (open while the check runs)
        command, environment = command_of(check, build)
        if gpu >= 0:
            environment |= {"CUDA_VISIBLE_DEVICES": str(gpu)}
        self.process = subprocess.Popen(
            command, env=os.environ | environment, stdout=self.output, stderr=subprocess.STDOUT
        )

    def record(self, machine: dict[str, str]) -> dict[str, object]:
        """Returns the record of the run, which has ended."""
        self.output.seek(0)
        output = self.output.read().decode(errors="replace")
        outcome, said = outcome_of(self.check, self.process.returncode, output)
        seconds = round(time.monotonic() - self.start, 1)
        print(f"{self.check.name}: {outcome} after {seconds} s: {said}", flush=True)
        if outcome == "failed":
            print(output[-4000:], *re.findall("^=+ .*", output, re.MULTILINE)[:60], sep="\n", flush=True)
        return {"hash": self.identity, "outcome": outcome, "said": said, "seconds": seconds, **machine}


def needs_the_gpu_alone(check: Check) -> bool:
    """Returns whether a check needs most of the memory, or measures it, or has kernels on all GPUs that wait for each
    other, which takes 30 times as long in the time slices of other programs."""
    return check.arguments[:1] == ("--seconds",) or re.search("memory|threads|distributed", check.program) is not None


def count_gpus() -> int:
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    return max(1, len(re.findall("^GPU ", listed, re.MULTILINE)))


def free_gpu(check: Check, running: list[Run], gpus: int, processes: int) -> int | None:
    """Returns a GPU that can take the check, -1 for all of them; None: it has to wait."""
    if re.search("distributed", check.program):
        return None if running else -1
    load = [[run.check for run in running if run.gpu in (gpu, -1)] for gpu in range(gpus)]
    least = min(range(gpus), key=lambda gpu: len(load[gpu]))
    if needs_the_gpu_alone(check):
        return None if load[least] else least
    shared = [gpu for gpu in range(gpus) if not any(needs_the_gpu_alone(other) for other in load[gpu])]
    fits = [gpu for gpu in shared if len(load[gpu]) < processes]
    return min(fits, key=lambda gpu: len(load[gpu])) if fits else None


def run_missing(missing: list[tuple[Check, str]], arguments: argparse.Namespace, ledger: dict) -> int:
    """Builds the programs and runs each check when its program is built, several at a time."""
    start = time.time()
    build = Path(arguments.build)
    machine = describe_machine()
    prebuilt = Path(arguments.prebuilt)

    def is_prebuilt(check: Check) -> bool:
        return arguments.prebuilt != "" and program_of(check, prebuilt).exists()

    targets = sorted({check.target for check, _ in missing if not is_prebuilt(check)})
    command = ["cmake", "--build", build, "--parallel", str(arguments.jobs), "--target", *targets, "--"]
    command.append("-k0" if (build / "build.ninja").exists() else "-k")
    builder = subprocess.Popen(command if targets else ["true"], stdout=sys.stderr)

    def is_ready(check: Check) -> bool:
        if is_prebuilt(check):
            return True
        program = program_of(check, build)
        if not program.exists() or builder.poll() is not None:
            return program.exists()
        made = program.stat().st_mtime
        return start < made < time.time() - 5  # by this build, and completely

    gpus = count_gpus()
    waiting = sorted(missing, key=lambda each: -ledger.get(each[0].name, {}).get("seconds", 0))
    running: list[Run] = []
    failed = 0
    while time.time() < start + 60 * arguments.minutes and (waiting or running):
        for run in [run for run in running if run.process.poll() is not None]:
            running.remove(run)
            ledger[run.check.name] = record = run.record(machine)
            failed += record["outcome"] == "failed"
            LEDGER.write_text(json.dumps(ledger, indent=1, sort_keys=True) + "\n")
        ready = [each for each in waiting if is_ready(each[0])]
        if not ready and not running and builder.poll() is not None:
            break  # what was not built
        ready.sort(key=lambda each: needs_the_gpu_alone(each[0]))  # a GPU is shared as long as possible
        places = ((each, free_gpu(each[0], running, gpus, arguments.processes)) for each in ready)
        start_now = next(((each, gpu) for each, gpu in places if gpu is not None), None)
        if start_now is None:
            time.sleep(0.2)
            continue
        waiting.remove(start_now[0])
        folder = prebuilt if is_prebuilt(start_now[0][0]) else build
        running.append(Run(*start_now[0], folder, start_now[1]))
    for process in [builder, *(run.process for run in running)]:
        process.terminate()
        process.wait()
    left = len(waiting) + len(running)
    print(f"{len(missing) - left} checks ran, {failed} failed; {left} are still missing")
    return 1 if failed or left else 0


def summary(ledger: dict[str, dict]) -> str:
    """Returns what the ledger says, a line for each GPU and for each check that failed."""
    by_machine = defaultdict(list)
    for record in ledger.values():
        if record["outcome"] == "passed":
            by_machine[record["gpu"], record["driver"], record["cuda"]].append(record)
    lines = []
    for (gpu, driver, cuda), records in sorted(by_machine.items()):
        commits = Counter(record["commit"] for record in records)
        by_commit = ", ".join(f"{count} at {commit}" for commit, count in sorted(commits.items()))
        seconds = sum(record["seconds"] for record in records)
        lines.append(
            f"- {gpu}, driver {driver}, CUDA {cuda}: {len(records)} checks passed, which took {seconds:.0f} s:"
            f" {by_commit}."
        )
    for name, record in sorted(ledger.items()):
        if "SKIPPED" in record["said"]:
            tests = ", ".join(re.findall(r"[A-Z]\w+[.]\w+", record["said"]))
            lines.append(f"- {name} skipped tests on that machine: {tests}.")
    failed = [(name, record["said"]) for name, record in sorted(ledger.items()) if record["outcome"] != "passed"]
    lines += [f"- {name}: failed ({said})." for name, said in failed]
    return "\n".join(lines)


def write_summary(ledger: dict[str, dict]) -> None:
    """Replaces the paragraph of the page that says what has run."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{summary(ledger)}\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--prebuilt", default="")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=1, help="compilers at a time")
    parser.add_argument("--only", default="", help="a regular expression for the names of the checks")
    parser.add_argument("--processes", type=int, default=8, help="checks at a time on a GPU")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--write-summary", action="store_true")
    arguments = parser.parse_args()
    ledger = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
    if arguments.write_summary:
        write_summary(ledger)
        return 0
    sources = Sources()
    chosen = [check for check in all_checks() if re.search(arguments.only, check.name)]
    checks = [(check, sources.hash_of(check)) for check in chosen]
    missing = [
        (check, identity)
        for check, identity in checks
        if (record := ledger.get(check.name)) is None or record["hash"] != identity or record["outcome"] != "passed"
    ]
    if arguments.missing:
        for check, _ in missing:
            print(check.name)
        print(f"{len(missing)} of {len(checks)} checks have no record that passed")
        return 1 if missing else 0
    return run_missing(missing, arguments, ledger)


if __name__ == "__main__":
    sys.exit(main())
