#!/usr/bin/env bash
# usage: report.sh RESULTS.json [-o DIR] [...]
#
# Writes a report of the results of sptrsv_bench; --help describes the arguments. The script installs Python and
# matplotlib if this machine lacks them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Debian's packages are those of its own interpreter, which need not be the first on PATH.
install_missing python matplotlib
python=python3
"$python" -c 'import matplotlib' 2> /dev/null || python=/usr/bin/python3
exec "$python" "$root/benchmarks/python" report "$@"
