#!/usr/bin/env bash
# usage: check_shell.sh
#
# Checks all shell scripts of the repository with shellcheck.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing shellcheck
cd "$root"
mapfile -t files < <(find .ci scripts tests -type f \( -name '*.sh' -o -path .ci/run \) | sort)
shellcheck --external-sources --source-path=SCRIPTDIR "${files[@]}"
echo "${#files[@]} shell scripts"
