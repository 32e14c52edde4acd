#!/usr/bin/env bash
# usage: check_tidy.sh
#
# Checks the host's translation units with clang-tidy, see .clang-tidy: one that includes all headers of the library,
# and those of the examples, the benchmarks and the acceptance test, which instantiate the policies of the host.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing build gtest benchmark zlib python clang-tidy
configure host -D CMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null
clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
"$clang_tidy" --version | grep version

build="$root/build/host"
mapfile -t sources < <(python3 - "$build/compile_commands.json" "$root" << 'END'
import json, sys
for name in sorted({command["file"] for command in json.load(open(sys.argv[1]))}):
    folder = name.removeprefix(sys.argv[2] + "/")
    if folder.startswith(("examples/", "benchmarks/", "tests/acceptance/")) or name.endswith("/together/first.cpp"):
        print(name)
END
)
# The number of warnings that it reports counts those of system headers, which it does not show.
printf '%s\0' "${sources[@]}" | xargs -0 -P "$cores" -n 1 "$clang_tidy" -p "$build" --quiet 2>&1 |
  sed '/^[0-9]* warnings\? generated\.$/d'
echo "${#sources[@]} translation units"
