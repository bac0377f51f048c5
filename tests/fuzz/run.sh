#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets: run.sh BUILD [NAME] [--runs N] [--keep]. All targets without a NAME.
# An input that breaks a promise is left in BUILD/corpus as NAME.crash-... or NAME.timeout-...;
# `BUILD/bin/fuzz_NAME FILE` shows it again.
set -euo pipefail
fail() { echo "fuzz: $*" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
build=$1
shift
names=() runs=1000000 keep=false
while [ $# -gt 0 ]; do
  case $1 in
    --runs)
      runs=${2:-}
      [[ $runs =~ ^[1-9][0-9]*$ ]] || fail "--runs takes a number, not '$runs'"
      shift
      ;;
    --keep) keep=true ;;
    *)
      [ -f "$here/${1}_target.cc" ] || fail "no target '$1'"
      names+=("$1")
      ;;
  esac
  shift
done
if [ ${#names[@]} -eq 0 ]; then
  for source in "$here"/*_target.cc; do names+=("$(basename "$source" _target.cc)"); done
fi

# Of an allocation's history one frame is enough, and a short quarantine saves much time. What is
# never given back the replay under ./dev asan finds.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=4:max_malloc_fill_size=0
for name in "${names[@]}"; do
  found=$build/corpus/$name committed=$here/corpus/$name
  mkdir -p "$found" "$committed"
  echo "== fuzzing $name: $runs executions"
  "$build/bin/fuzz_$name" -runs="$runs" -timeout=60 -detect_leaks=0 -entropic=0 \
    -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$build/corpus/$name." "$found" "$committed"
  # Of the new inputs only those that reach what the committed ones do not.
  if $keep; then "$build/bin/fuzz_$name" -set_cover_merge=1 "$committed" "$found"; fi
done
