#!/usr/bin/env bash
# usage: solve_distributed.sh PES [ARGUMENTS OF examples/solve_distributed...]
#
# Builds the example program `solve_distributed` and runs it with PES processing elements (a number, or several as in
# 1,2,4), dealt to the GPUs of this machine. The build writes to stderr. The script installs the Debian packages that it
# needs. It needs nvcc and a GPU; without a GPU it ends with status 77.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ $# -eq 0 ] || [[ $1 == -* ]]; then
  echo "usage: solve_distributed.sh PES [ARGUMENTS OF examples/solve_distributed...]" >&2
  exit 2
fi
pes=$1
shift
if ! has_gpu; then
  echo "solve_distributed.sh: this machine has no GPU" >&2
  exit 77
fi

{
  install_missing build zlib cli11 python
  configure examples
  compile examples solve_distributed
} >&2
exec "$root/build/examples/examples/solve_distributed" --pes "$pes" "$@"
