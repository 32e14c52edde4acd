#!/usr/bin/env bash
# usage: check_format.sh [--fix]
#
# Names the C++ and CUDA sources that clang-format 14 would change; with --fix it changes them. Names files of the
# repository that are larger than 1 MB, too: packages and binaries do not belong here.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing clang-format
clang_format=$(command -v clang-format-14 || command -v clang-format)
"$clang_format" --version
mode=(--dry-run --Werror)
[ "${1:-}" != --fix ] || mode=(-i)

cd "$root"
large=$(git ls-files -z | xargs -0 -r stat -c '%s %n' 2> /dev/null | awk '$1 > 1000000' || true)
if [ -n "$large" ]; then
  printf 'larger than 1 MB:\n%s\n' "$large"
  exit 1
fi
find include src common tests examples benchmarks plugins -type f \
  \( -name '*.hpp' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.cu' -o -name '*.h' -o -name '*.c' \) -print0 |
  xargs -0 -r -P "$cores" -n 16 "$clang_format" --style=file "${mode[@]}"
