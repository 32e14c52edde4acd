#!/usr/bin/env bash
# usage: solve_distributed.sh PES [ARGUMENTS OF examples/solve_distributed...]
#
# Builds the example program `solve_distributed` and runs it with PES processing elements (a number, or several as in
# 1,2,4), dealt to the GPUs of this machine. Each PE is a process; the program starts them, and ends all of them, with a
# message that names the PE, if one fails or if they do not end within its option --time-limit. If PEs share a GPU, they
# run under an MPS daemon of their own, where there is MPS. With NVSHMEM (nvidia-nvshmem-cu13 of PyPI, or NVSHMEM_ROOT)
# there is --team nvshmem, too. The build writes to stderr. The script installs the Debian packages that it needs. It
# needs nvcc and a GPU; without a GPU it ends with status 77.
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

# NVSHMEM, if the program has it: PEs of one host find each other through its loopback device.
export NVSHMEM_REMOTE_TRANSPORT=${NVSHMEM_REMOTE_TRANSPORT:-none}
export NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=${NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME:-lo}

# start_mps: starts an MPS daemon that ends with this script.
start_mps() {
  CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
  if ! nvidia-cuda-mps-control -d > /dev/null 2>&1; then
    rm -rf "$CUDA_MPS_PIPE_DIRECTORY"
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    return 1
  fi
  trap 'echo quit | nvidia-cuda-mps-control > /dev/null 2>&1; rm -rf "$CUDA_MPS_PIPE_DIRECTORY"' EXIT
}

gpus=$(nvidia-smi -L | grep -c '^GPU ')
if [[ " $* " == *" --gpus "* ]]; then
  gpus=1 # fewer than all: PEs may share one
fi
if [ "$(tr ',' '\n' <<< "$pes" | sort -n | tail -n 1)" -gt "$gpus" ] && [[ " $* " != *" threads "* ]]; then
  if ! has_command nvidia-cuda-mps-control || ! start_mps; then
    echo "solve_distributed.sh: no MPS here: a GPU runs the kernels of PEs that share it in turn, so that solves take" \
      "milliseconds; --team threads has PEs that run at the same time" >&2
  fi
fi
"$root/build/examples/examples/solve_distributed" --pes "$pes" "$@"
