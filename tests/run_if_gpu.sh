#!/usr/bin/env bash
# Runs its arguments if this machine has a GPU, else exits with 77, which CTest counts as skipped.
set -euo pipefail

# The device file decides, too: with a driver that is there but does not answer, tests must fail, not be skipped.
if [ ! -e /dev/nvidiactl ] && ! nvidia-smi -L > /dev/null 2>&1; then
  echo "no GPU on this machine: skipped"
  exit 77
fi
exec "$@"
