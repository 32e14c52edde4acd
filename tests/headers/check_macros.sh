#!/usr/bin/env bash
# check_macros.sh INCLUDE_FOLDER: fails if a header defines a macro without the prefix SPTRSV_, or lacks
# `#pragma once`.
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
exit $status
