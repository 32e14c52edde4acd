#!/usr/bin/env bash
# check_python.sh [--fix]: checks all Python files with ruff (rules and format, see pyproject.toml), or fixes what
# ruff can fix. Installs ruff into build/ruff if it is not there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

version=0.17.6
ruff=build/ruff/bin/ruff
if ! "$ruff" --version 2> /dev/null | grep -qx "ruff $version"; then
  echo "installing ruff $version into build/ruff" >&2
  if ! install_missing python venv || ! python3 -m venv build/ruff >&2 ||
    ! build/ruff/bin/pip install -q "ruff==$version" >&2; then
    echo "error: this check needs ruff $version (pip install ruff==$version), which could not be installed" >&2
    exit 1
  fi
fi

"$ruff" --version
if [ "${1:-}" = --fix ]; then
  "$ruff" check --fix
  "$ruff" format
else
  "$ruff" check
  "$ruff" format --check
fi
