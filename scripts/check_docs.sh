#!/usr/bin/env bash
# usage: check_docs.sh
#
# Builds the API reference in build/docs/html. Lists the public names without a doc comment and the other warnings
# of Doxygen, and fails if there is one.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing doxygen
cd "$root"
rm -rf build/docs
mkdir -p build/docs
status=0
doxygen docs/Doxyfile 2> build/docs/messages || status=$?
# A function that a derived class inherits is named once for each class.
sort -u build/docs/messages | sed "s|^$root/||"
# The first page leads a user on, and the C interface is there.
for wanted in 'index.html getting_started' 'sptrsv_8h.html sptrsv_last_error_row'; do
  if ! grep -q "${wanted#* }" "build/docs/html/${wanted% *}"; then
    echo "error: build/docs/html/${wanted% *} does not name ${wanted#* }"
    status=1
  fi
done
count=$(sort -u build/docs/messages | grep -c 'is not documented\.$' || true)
echo "API reference in build/docs/html; public names without a doc comment: $count"
exit $status
