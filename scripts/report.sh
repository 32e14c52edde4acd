#!/usr/bin/env bash
# report.sh RESULTS.json [-o DIR] [...]: writes a report of the results of sptrsv_bench; --help describes the
# arguments. Installs Python on a Debian machine without it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing python
exec python3 "$root/benchmarks/python" report "$@"
