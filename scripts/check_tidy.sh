#!/usr/bin/env bash
# usage: check_tidy.sh
#
# Checks the host's programs with clang-tidy, see .clang-tidy: a source that includes all headers of the library, as
# C++17 and as C++20, and the sources of the examples, the benchmarks and the acceptance test, which instantiate the
# policies of the host. What has passed before with the same files is not checked again (passed.py).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing build gtest benchmark zlib python clang-tidy
configure host -D CMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null
clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
"$clang_tidy" --version | grep version

# Prints, for each source, the words of the command that checks it, and last the size of the source: long ones start
# first.
commands() {
  python3 - "$root/build/host/compile_commands.json" "$root" "$clang_tidy" << 'END'
import json, shlex, sys
from pathlib import Path

database, root, clang_tidy = sys.argv[1:]
tidy = f"{root}/build/host/tidy"
Path(tidy).mkdir(exist_ok=True)
checks = []
for entry in json.load(open(database)):
    name = entry["file"]
    folder = name.removeprefix(root + "/")
    if not (folder.startswith(("examples/", "benchmarks/", "tests/acceptance/")) or name.endswith("/first.cpp")):
        continue
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.endswith("c++")) + 1 :]
    flags = []
    while words:
        word = words.pop(0)
        if word in ("-o", "-c", "-MT", "-MF"):
            words.pop(0)
        elif word != "-MD":
            flags.append(word)
    depfile = f"{tidy}/{len(checks)}.d"
    # The compiler lists the files on which the result depends.
    script = f'c++ -MM -MF {depfile} "$@" {name} && {clang_tidy} --quiet {name} -- "$@"'
    passed = ["python3", "-B", f"{root}/scripts/passed.py", "--depfile", depfile, "--input", f"{root}/.clang-tidy", "--"]
    checks.append((Path(name).stat().st_size, [*passed, "bash", "-c", script, "tidy", *flags]))
for _, command in sorted(checks, key=lambda check: -check[0]):
    print(shlex.join(command))
END
}
jobs=$cores
! has_job_server || jobs=1
# The number of warnings that it reports counts those of system headers, which it does not show.
commands | tr '\n' '\0' | xargs -0 -P "$jobs" -I COMMAND bash -c COMMAND 2>&1 |
  sed '/^[0-9]* warnings\? generated\.$/d'
