#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the programs in BIN against independent peers from npm: run.sh BIN
set -eu
if [ $# -ne 1 ] || [ ! -x "$1/vitrine-prove" ]; then
  echo "usage: run.sh BIN (a folder that holds vitrine-prove, vitrine-verify, vitrine-genkey)" >&2
  exit 2
fi
VITRINE_BIN=$(cd "$1" && pwd)
export VITRINE_BIN
cd "$(dirname "$0")"

# npm ci empties node_modules first, so do it only when the pinned versions changed.
installed=node_modules/.installed-lock
if ! cmp -s package-lock.json "$installed"; then
  npm ci
  cp package-lock.json "$installed"
fi
exec node --test ./*.test.mjs
