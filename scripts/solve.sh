#!/usr/bin/env bash
# usage: solve.sh [ARGUMENTS OF examples/solve...]
#
# Builds the example program `solve` and runs it; without a GPU it is compiled without nvcc. The build writes to
# stderr. The script installs the Debian packages that it needs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=examples
has_gpu || preset=host_examples

{
  install_missing build zlib cli11 python
  configure "$preset"
  compile "$preset" solve
} >&2
exec "$root/build/$preset/examples/solve" "$@"
