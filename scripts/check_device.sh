#!/usr/bin/env bash
# usage: check_device.sh
#
# Checks all CUDA sources, also on a machine that cannot run them, and runs the tests that need nvcc alone. The last
# line, "N passed, N failed", counts the latter.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

configure ci_device
compile ci_device sptrsv_gpu_tests sptrsv_examples sptrsv_benchmarks sptrsv_docs sptrsv_acceptance sptrsv_compiled
run_ctest ci_device --label-regex device
