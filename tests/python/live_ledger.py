#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a segment while its engine publishes (tests/shm/python_agreement_test.cc, Ledger): every
snapshot that says it is consistent must add up, and the events must be a stream without a gap.

Usage: live_ledger.py SEGMENT
"""
import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
import vitrine  # noqa: E402

TOTAL, ROWS = 1_000_000, 32
WANTED, DEADLINE_SECONDS = 100, 30


def check(snapshot, last_commit):
    rows, memory = snapshot.rows["partitions"], snapshot.rows["memory"][0]
    assert snapshot.commit >= last_commit, "commit fell"
    assert len(rows) == ROWS and sum(row["reserved_bytes"] for row in rows) == TOTAL, "torn"
    assert memory["stamp"] == snapshot.commit == memory["evictions"] + 1, "not the last one"
    engine = snapshot.rows["engine"]
    assert not engine or engine[0]["stale_events"] == memory["evictions"], "of two moments"


def check_events(segment):
    events, missed = segment.entries(vitrine.EVENTS)
    for place, event in enumerate(events, missed + 1):
        assert event["sequence"] == place == event["argument"], "event out of its order"


def main(path):
    consistent = inconsistent = last_commit = 0
    end = time.monotonic() + DEADLINE_SECONDS
    with vitrine.Segment(path) as segment:
        while consistent < WANTED and time.monotonic() < end:
            look = vitrine.observe(segment)
            assert look.lock_held and look.name_linked and look.verdict == "idle", look.reason
            if look.snapshot.consistent:
                consistent += 1
                check(look.snapshot, last_commit)
                last_commit = look.snapshot.commit
            else:
                inconsistent += 1
            check_events(segment)
    print(f"live: {consistent} consistent, {inconsistent} said not to be, commit {last_commit}")
    return 0 if consistent else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
