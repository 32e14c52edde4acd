#!/usr/bin/env bash
# solve.sh [ARGUMENTS OF examples/solve...]: builds the example program `solve` and runs it. Installs what is
# missing on a Debian machine. What the build says goes to stderr.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing build zlib cli11 >&2
configure examples >&2
cmake --build "$root/build/examples" --parallel "$cores" --target solve >&2
exec "$root/build/examples/examples/solve" "$@"
