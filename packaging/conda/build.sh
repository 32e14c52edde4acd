#!/usr/bin/env bash
# Builds and installs sptrsv for the recipe beside this file, whose tool sets the variables.
set -euo pipefail

# CMAKE_ARGS: several arguments in one string.
# shellcheck disable=SC2086
cmake -S . -B build_conda -G Ninja ${CMAKE_ARGS:-} \
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$PREFIX" -D CMAKE_INSTALL_LIBDIR=lib \
  -D BUILD_SHARED_LIBS=ON -D SPTRSV_BUILD_COMPILED=ON -D SPTRSV_ENABLE_CUDA="$SPTRSV_CUDA" \
  -D CMAKE_CUDA_ARCHITECTURES="75-real;80-real;90-real;100-real;120" \
  -D SPTRSV_BUILD_TESTS=OFF -D SPTRSV_BUILD_EXAMPLES=OFF -D SPTRSV_BUILD_BENCHMARKS=OFF
cmake --build build_conda --parallel "${CPU_COUNT:-2}"
cmake --install build_conda
