#!/usr/bin/env bash
# usage: report.sh [ARGUMENTS OF benchmarks/report.py...]
#
# Makes a report from the results of a benchmark. The script installs the Debian packages that it needs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Debian installs matplotlib for its own interpreter, which need not be the first on PATH.
install_missing python matplotlib
python=python3
"$python" -c 'import matplotlib' 2> /dev/null || python=/usr/bin/python3
exec "$python" "$root/benchmarks/report.py" "$@"
