#!/usr/bin/env bash
# usage: test.sh [--all | --core | --papers] [ARGUMENTS OF CTEST...]
#
# Builds and runs the tests, shows the progress and ends with the line "N passed, N failed". By default every suite
# runs with few schedules, forms of matrices and random systems, in double precision. --all runs every test: all
# schedules and value types, and the tests of headers, packages and pages. --papers builds and runs only the tests of
# the policies of the papers (label `papers`). --core builds only the other tests. CTest gets ARGUMENTS, which can
# choose some of the tests that were built. On a machine with a GPU the script uses the preset `default` of
# CMakePresets.json and runs the GPU tests, too. On a machine without a GPU it uses the preset `host`: programs that
# nvcc compiles could not run there. SPTRSV_PRESET names another preset. The script installs the Debian packages that
# it needs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tier=quick
if [[ ${1:-} =~ ^--(all|core|papers)$ ]]; then
  tier=${BASH_REMATCH[1]}
  shift
fi
targets=()
if has_gpu; then
  preset=${SPTRSV_PRESET:-default}
  targets+=(sptrsv_gpu_tests)
  echo "test.sh: preset $preset; this machine has a GPU: its tests run"
else
  preset=${SPTRSV_PRESET:-host}
  echo "test.sh: preset $preset; this machine has no GPU: its tests are skipped"
fi

arguments=()
cpu_s=(4500 300)
case $tier in
  quick)
    # The tests with these labels compile much and find errors of the library's developers only, or are the contract in
    # other types, the hostile schedules in other forms of the same kernels, the memory of analyses of larger systems,
    # or test the tests.
    arguments=(--label-exclude 'headers|package|device|docs|types|schedules|memory|planted')
    export SPTRSV_QUICK=1
    cpu_s=(700 120)
    targets+=(sptrsv_tests sptrsv_papers_tests)
    ;;
  papers) arguments=(--label-regex papers) ;;&
  all | papers) targets+=(sptrsv_papers_tests sptrsv_papers_types_tests) ;;&
  all | core) targets+=(sptrsv_tests sptrsv_types_tests sptrsv_docs) ;;
esac
# Measured on one core of a machine of 2024; what is in the caches is not compiled and not run again.
echo "test.sh: tier $tier; $cores cores take about $(((cpu_s[0] / cores + 59) / 60)) minutes, or" \
  "$(((cpu_s[1] / cores + 59) / 60)) with what earlier runs left in the caches"

install_missing build ccache gtest zlib cli11 python scipy
configure "$preset"
compile "$preset" "${targets[@]}"
SPTRSV_TIER=$tier run_ctest "$preset" "${arguments[@]}" "$@"
