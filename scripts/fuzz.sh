#!/usr/bin/env bash
# usage: fuzz.sh [SECONDS]
#
# Builds the fuzzers of tests/fuzz with Clang in build/fuzz, and runs all of them at the same time for SECONDS
# (default: 60). Each starts with the inputs of its folder in tests/fuzz/corpus, which stays as it is. An input that
# fails is kept in build/fuzz/failures. The last line, "N passed, N failed", counts fuzzers. SPTRSV_FUZZ_SEED is the
# seed of the mutations (default: 1).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
seconds=${1:-60}

install_missing build gtest zlib clang python
configure fuzz
compile fuzz sptrsv_fuzzers

programs="$root/build/fuzz/tests/fuzz"
failures="$root/build/fuzz/failures"
new_inputs=$(mktemp -d)
trap 'rm -rf "$new_inputs"' EXIT
mkdir -p "$failures"

fuzzers=(analyze matrix_market scheme)
declare -A process
for name in "${fuzzers[@]}"; do
  mkdir "$new_inputs/$name"
  # An input that takes longer than 10 s fails, too. The first folder receives new inputs.
  "$programs/fuzz_$name" -max_total_time="$seconds" -seed="${SPTRSV_FUZZ_SEED:-1}" -max_len=2048 -timeout=10 \
    -artifact_prefix="$failures/$name-" "$new_inputs/$name" "$root/tests/fuzz/corpus/$name" \
    > "$new_inputs/$name.log" 2>&1 &
  process[$name]=$!
done

passed=0
failed=0
for name in "${fuzzers[@]}"; do
  if wait "${process[$name]}"; then
    passed=$((passed + 1))
    echo "$name: $(grep '^Done' "$new_inputs/$name.log"), $(grep -o 'cov: [0-9]*' "$new_inputs/$name.log" | tail -n 1)"
  else
    failed=$((failed + 1))
    tail -n 60 "$new_inputs/$name.log"
    echo "$name: FAILED; to repeat: $programs/fuzz_$name FILE, with the file that is named above"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
