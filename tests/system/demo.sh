#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves a bundled circuit in 10 partitions by a real engine, shows the partitions moving, and
# verifies every proof: demo.sh BIN [--once]. Without --once engine and page stay until Ctrl-C.
set -euo pipefail
bin=$(cd "$1" && pwd)
case ${2:-} in
  "") once= ;;
  --once) once=yes ;;
  *) echo "demo: unknown flag '$2' (there is --once)" >&2; exit 2 ;;
esac
data=$(cd "$(dirname "$0")/../data/bn128/demo" && pwd)
export VITRINE_INSTANCE=demo
work=$(mktemp -d)
unset STATE_DIRECTORY
export XDG_STATE_HOME=$work
pids=()
stop() {
  trap - EXIT INT TERM
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait
  # An operator's engine leaves its last state behind; a demo has nobody who would look at it.
  rm -rf "$work" /dev/shm/vitrine.demo /dev/shm/vitrine.demo.lock /dev/shm/vitrine.demo.*.dead
}
trap stop EXIT
trap 'exit 0' INT TERM

# wait_for SECONDS COMMAND...: until the command succeeds; fails when the time is over.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { echo "demo: gave up waiting for: $*" >&2; return 1; }
    sleep 0.1
  done
}

echo "== starting the engine and the page"
"$bin/vitrined" --circuit "demo=$data/circuit.zkey" --log-level warn &
pids+=($!)
# The page has its usual address; a demo that ends by itself takes any free port.
"$bin/vitrine-http" --listen "127.0.0.1:$([ "$once" ] && echo 0 || echo 9821)" >"$work/http" &
pids+=($!)
wait_for 20 "$bin/vitrine" show
wait_for 20 grep -q listening "$work/http"
[ "$once" ] || cat "$work/http"

echo "== proving 10 partitions"
witnesses=()
for n in 0 1 2 3 4 5 6 7 8 9; do witnesses+=(--wtns "$data/witness.$n.wtns"); done
job=$("$bin/vitrine" submit --circuit demo "${witnesses[@]}")
"$bin/vitrine" wait "$job" --progress --out "$work/out" --timeout 120s >/dev/null
"$bin/vitrine" show

made=0 verified=0
for n in 0 1 2 3 4 5 6 7 8 9; do
  [ -s "$work/out/proof.$n.json" ] && made=$((made + 1))
  "$bin/vitrine-verify" --vkey "$data/verification_key.json" \
    --proof "$work/out/proof.$n.json" --public "$work/out/public.$n.json" >/dev/null &&
    verified=$((verified + 1))
done
if [ -z "$once" ]; then
  echo "demo: $made proofs made, $verified verified"
  echo "The engine and the page stay until Ctrl-C. In another terminal:"
  echo "  $bin/vitrine show --instance demo"
  wait
fi
stop
echo "demo: $made proofs made, $verified verified"
[ "$made" -eq 10 ] && [ "$verified" -eq 10 ]
