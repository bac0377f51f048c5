#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the programs in BIN against independent peers from npm: run.sh BIN [TEST FILE...]
set -eu
if [ $# -lt 1 ] || [ ! -x "$1/vitrine-prove" ]; then
  echo "usage: run.sh BIN [TEST FILE...] (BIN holds the programs)" >&2
  exit 2
fi
VITRINE_BIN=$(cd "$1" && pwd)
export VITRINE_BIN
shift
cd "$(dirname "$0")"

# npm ci empties node_modules first, so do it only when the pinned versions changed.
installed=node_modules/.installed-lock
if ! cmp -s package-lock.json "$installed"; then
  npm ci
  cp package-lock.json "$installed"
fi
[ $# -gt 0 ] || set -- ./*.test.mjs
exec node --test "$@"
