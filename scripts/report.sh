#!/usr/bin/env bash
# report.sh [ARGUMENTS OF benchmarks/report.py...]: makes a report of a benchmark's results. Installs what is
# missing on a Debian machine.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Debian's packages are those of its own interpreter, which need not be the first on PATH.
install_missing python matplotlib
python=python3
"$python" -c 'import matplotlib' 2> /dev/null || python=/usr/bin/python3
exec "$python" "$root/benchmarks/report.py" "$@"
