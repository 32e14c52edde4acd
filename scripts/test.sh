#!/usr/bin/env bash
# usage: test.sh [ARGUMENTS OF CTEST...]
#
# Builds and runs the tests, shows the progress and ends with the line "N passed, N failed". On a machine with a GPU
# it uses the preset `default` of CMakePresets.json and runs the GPU tests, too. On a machine without a GPU it uses
# the preset `host`: programs that nvcc compiles could not run there. SPTRSV_PRESET names another preset. The script
# installs the Debian packages that it needs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

targets=(sptrsv_tests)
if has_gpu; then
  preset=${SPTRSV_PRESET:-default}
  targets+=(sptrsv_gpu_tests)
  echo "test.sh: preset $preset; this machine has a GPU: all tests of the GPU run"
else
  preset=${SPTRSV_PRESET:-host}
  echo "test.sh: preset $preset; this machine has no GPU: the tests of the GPU are skipped"
fi

install_missing build gtest zlib cli11 python
configure "$preset"
compile "$preset" "${targets[@]}"

# The tests with these labels compile much and find errors of the library's developers only, or repeat the contract in
# other types and the hostile schedules in other forms of the same kernels, or analyse larger systems, or test the
# tests.
extensive='headers|package|device|docs|types|schedules|memory|planted'
echo "test.sh: skips the tests with the labels $extensive, which .ci/run runs"
run_ctest "$preset" --label-exclude "$extensive" "$@"
