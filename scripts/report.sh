#!/usr/bin/env bash
# usage: report.sh RESULTS.json [-o DIR] [...]
#
# Writes a report of the results of sptrsv_bench; --help describes the arguments. The script installs Python if this
# machine lacks it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing python
exec python3 "$root/benchmarks/python" report "$@"
