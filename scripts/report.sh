#!/usr/bin/env bash
# report.sh RESULTS.json [-o DIR] [...]: writes a report of the results of sptrsv_bench; --help describes the
# arguments. Installs Python and matplotlib on a Debian machine without them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Debian's packages are those of its own interpreter, which need not be the first on PATH.
install_missing python matplotlib
python=python3
"$python" -c 'import matplotlib' 2> /dev/null || python=/usr/bin/python3
exec "$python" "$root/benchmarks/python" report "$@"
