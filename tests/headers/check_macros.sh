#!/usr/bin/env bash
# check_macros.sh INCLUDE_FOLDER: fails if a header defines a macro without the prefix SPTRSV_, lacks `#pragma once`, or
# distinguishes architectures whose machine code tests/headers/CMakeLists.txt makes from the same PTX, or clears an error
# of CUDA that may be the user's.
set -euo pipefail

headers() { find "$1" \( -name '*.hpp' -o -name '*.cuh' \) -print0; }
status=0

if headers "$1" | xargs -0 -r grep -nHE '^[[:space:]]*#[[:space:]]*define[[:space:]]' |
  grep -vE '#[[:space:]]*define[[:space:]]+SPTRSV_'; then
  echo "error: macros of the library start with SPTRSV_"
  status=1
fi
unguarded=$(headers "$1" | xargs -0 -r grep -L '^#pragma once' || true)
if [ -n "$unguarded" ]; then
  printf '%s\nerror: headers start with #pragma once\n' "$unguarded"
  status=1
fi
if headers "$1" | xargs -0 -r grep -nHoE '__CUDA_ARCH__ *[<>=!]+ *[0-9]+' |
  grep -vE '__CUDA_ARCH__ ((<|>=) (800|900)|== (800|900|1000))$'; then
  echo "error: code compares __CUDA_ARCH__ only by < and >= with 800 and 900, and by == with 800, 900 and 1000"
  status=1
fi
if headers "$1" | xargs -0 -r grep -nHF 'cudaGetLastError()' | grep -v '/detail/simt/cuda_check.cuh:'; then
  echo "error: only forget_failure in detail/simt/cuda_check.cuh clears an error, after a call of the library failed"
  status=1
fi
exit $status
