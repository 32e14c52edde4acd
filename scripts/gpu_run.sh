#!/usr/bin/env bash
# usage: gpu_run.sh [MINUTES [REGEX [ARGUMENTS OF CMAKE...]]]
#        gpu_run.sh --missing
#
# Runs on a GPU what tests/gpu/ledger.json has no record of: the GPU's test programs, the trial, compute-sanitizer's
# tools, the Python package's tests, and the search for an error of ptxas in what was built. It starts nothing new after
# MINUTES (default: 60) and goes on where the last call has stopped. REGEX chooses checks by name. See gpu_ledger.py;
# --missing lists what the present tree has not run, and needs no GPU.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ "${1:-}" = --missing ]; then
  exec python3 -B "$root/scripts/gpu_ledger.py" --missing
fi
minutes=${1:-60}
only=${2:-}
shift $(($# < 2 ? $# : 2))
has_gpu || {
  echo "gpu_run.sh: this machine has no GPU" >&2
  exit 77
}
configure default -D CMAKE_CUDA_ARCHITECTURES=native -D SPTRSV_BUILD_COMPILED=ON -D BUILD_SHARED_LIBS=ON "$@"
exec python3 -B "$root/scripts/gpu_ledger.py" --build "$root/build/default" --minutes "$minutes" --jobs "$cores" \
  --only "$only"
