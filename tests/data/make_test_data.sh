#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes everything in this folder again from circuits/*.circom: see README.md.
set -eu
cd "$(dirname "$0")/../interop"
npm ci
node make_test_data.mjs
node known_answers.mjs
