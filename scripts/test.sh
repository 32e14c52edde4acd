#!/usr/bin/env bash
# test.sh [ARGUMENTS OF CTEST...]: builds and runs the tests; those of the GPU if there is one. Installs what is
# missing on a Debian machine. SPTRSV_PRESET chooses another preset of CMakePresets.json than `default`.
# The last line is "N passed, N failed".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
preset=${SPTRSV_PRESET:-default}

install_missing build gtest zlib cli11 python
configure "$preset"
targets=(sptrsv_tests)
if "$root/tests/run_if_gpu.sh" true > /dev/null; then
  targets+=(sptrsv_gpu_tests)
fi
cmake --build "$root/build/$preset" --parallel "$cores" --target "${targets[@]}"

# The tests with these labels compile much and find errors of the library's developers only, or repeat those of
# the kernels in other types than double; .ci/run has them.
run_ctest "$preset" --label-exclude 'headers|package|device|types' "$@"
