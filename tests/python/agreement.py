#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what vitrine.py shows of every NAME.segment of a folder with NAME.json, which the C++
reader made of it (tests/shm/segment_json.h). Exit 1 and the places when they differ.

Usage: agreement.py FOLDER
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/python"))
import vitrine  # noqa: E402

# Times that are the reader's own, not the segment's.
READERS_OWN = (("snapshot_age_seconds",), ("engine", "heartbeat_age_seconds"))


def shown_by_python(path, schema=None):
    """The JSON of vitrine.py without what is the reader's own; {"refused": why} when refused."""
    try:
        with vitrine.Segment(str(path), file=True, schema=schema) as segment:
            out = vitrine.observe_settled(segment).to_json()
    except vitrine.SegmentError as error:
        return {"refused": str(error)[len(str(path)) + 2:]}
    for *parents, name in READERS_OWN:
        place = out
        for parent in parents:
            place = place[parent]
        del place[name]
    out["engine"]["segment_path"] = path.name
    return out


def differences(one, other, place=""):
    """Every place where two JSON values differ, as text."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in one or key not in other:
                yield f"{place}.{key}: only {'here' if key in one else 'there'}"
            else:
                yield from differences(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other)):
            yield from differences(*pair, f"{place}[{index}]")
    elif one != other or type(one) is not type(other):
        yield f"{place}: {one!r}, not {other!r}"


def main(folder):
    compared = differing = inconsistent = 0
    for path in sorted(pathlib.Path(folder).glob("*.segment")):
        expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        shown = shown_by_python(path)
        found = list(differences(shown, expected))
        compared += 1
        differing += bool(found)
        inconsistent += shown.get("consistent") is False
        for line in found[:5]:
            print(f"{path.name}{line}")
    print(f"agreement: {compared} segments, {inconsistent} of them not consistent, "
          f"{differing} differ")
    return 1 if differing or not compared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
