#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python reader on golden, damaged and changing segments, and its command line."""
import contextlib
import fcntl
import io
import json
import os
import pathlib
import random
import shutil
import struct
import tempfile
import unittest

from agreement import ROOT, differences, shown_by_python, vitrine
from vitrine_layout import SCHEMA

GOLDENS = ROOT / "tests/data/segments"


def golden(name):
    return GOLDENS / f"{name}.segment"


def run(*words):
    """(exit code, standard output, standard error) of the command line."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = vitrine.main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
    out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()


class GoldenSegments(unittest.TestCase):
    def test_each_is_shown_as_the_other_reader_shows_it(self):
        with vitrine.Segment(str(golden("v1_1")), file=True) as segment:
            schema = segment.schema_text
        for path in sorted(GOLDENS.glob("*.segment")):
            with self.subTest(path.name):
                expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
                self.assertEqual(list(differences(shown_by_python(path, schema), expected)), [])

    def test_without_a_schema_text_only_the_header_is_shown(self):
        code, out, err = run("show", "--file", golden("v1_0"))
        self.assertEqual((code, len(err.splitlines())), (5, 1))
        self.assertIn("process 4711 on prover-1", out)
        self.assertIn("--schema", err)
        code, out, _ = run("show", "--json", "--file", golden("v1_0"), "--schema", golden("v1_1"))
        self.assertEqual(code, 4)
        self.assertEqual(len(json.loads(out)["jobs"]), 3)

    def test_the_events_and_the_history_are_there_in_order(self):
        code, out, _ = run("events", "--json", "--file", golden("v1_1"))
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(code, 4)
        self.assertEqual([event["sequence"] for event in events], ["1", "2", "3"])
        self.assertEqual({event["type"] for event in events}, {"submit"})
        _, out, _ = run("history", "--json", "--file", golden("v1_1"))
        samples = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([sample["jobs_done"] for sample in samples], [0, 1, 2])

    def test_values_are_there_by_name(self):
        with vitrine.Segment(str(golden("v1_1")), file=True) as segment:
            rows = segment.snapshot().rows
        self.assertEqual([job["state"] for job in rows["jobs"]], ["done", "failed", "running"])
        self.assertEqual(rows["workers"][0]["device"], 0)
        self.assertIsNone(rows["workers"][0]["partition"])


class CommandLine(unittest.TestCase):
    def test_a_state_is_one_json_document_and_the_exit_code_is_the_engines(self):
        code, out, err = run("show", "--json", "--file", golden("v1_1"))
        self.assertEqual((code, err, out.count("\n")), (4, "", 1))
        self.assertEqual(json.loads(out)["engine"]["verdict"], "dead")

    def test_what_is_refused_ends_in_5_with_one_line(self):
        for name in ("refused_feature", "refused_newer_major", "refused_older_major"):
            code, out, err = run("show", "--json", "--file", golden(name))
            self.assertEqual((code, out, len(err.splitlines())), (5, "", 1))
            self.assertIn("is older: upgrade it", err)

    def test_an_instance_that_is_not_there_ends_in_3(self):
        for words in (["--instance", "no-such-engine-here"], ["--segment", "/nowhere/at/all"],
                      ["--file", "/nowhere/at/all"]):
            code, out, err = run("show", *words)
            self.assertEqual((code, out, len(err.splitlines())), (3, "", 1))

    def test_wrong_usage_ends_in_2_with_one_line(self):
        for words in ([], ["show", "--nonsense"], ["show", "--instance", "No Name"],
                      ["show", "--owner", "nobody-of-this-name"]):
            code, out, err = run(*words)
            self.assertEqual((code, out, len(err.splitlines())), (2, "", 1))

    def test_the_schema_is_that_of_the_segment(self):
        code, out, _ = run("schema", "--file", golden("future"))
        self.assertEqual(code, 0)
        self.assertIn("tenants", [section["name"] for section in json.loads(out)["sections"]])


class DamagedSegments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "one.segment"
        self.bytes = golden("v1_1").read_bytes()

    def tearDown(self):
        self.folder.cleanup()

    def look(self, raw, **options):
        """What is shown, or why not; anything but a SegmentError fails the test."""
        self.path.write_bytes(raw)
        try:
            with vitrine.Segment(str(self.path), **options) as segment:
                look = vitrine.observe(segment).to_json()
                for number in (vitrine.EVENTS, vitrine.HISTORY):
                    segment.entries(number)
                return json.dumps(look)
        except vitrine.SegmentError as error:
            return str(error)

    def test_any_byte_of_it_may_be_wrong(self):
        numbers, shown = random.Random(3), 0
        for _ in range(200):
            raw = bytearray(self.bytes)
            # Half of the damage to the header and the table of sections.
            end = numbers.choice((1200, 1200, 4096, len(raw)))
            for _ in range(numbers.randrange(1, 4)):
                raw[numbers.randrange(end)] = numbers.choice((0, 1, 0x7F, 0xFF))
            shown += self.look(raw, file=True).startswith("{")
        self.assertGreater(shown, 0)

    def test_a_schema_may_say_anything(self):
        with vitrine.Segment(str(golden("v1_1")), file=True) as segment:
            place, text = segment.places[SCHEMA], segment.schema_text
        numbers, words = random.Random(4), ("-1", "[]", "{}", "null", '"x"', "1e99", "true")
        for _ in range(50):
            told = bytearray(text.encode())
            for _ in range(20):
                at = numbers.randrange(len(told))
                word = numbers.choice(words).encode()
                told[at:at + len(word)] = word
            raw = bytearray(self.bytes)
            self.assertEqual(raw[place.offset:place.offset + 1], b"{")
            raw[place.offset:place.offset + len(text)] = told[:len(text)]
            digest = 0xcbf29ce484222325
            for byte in told[:len(text)]:
                digest = (digest ^ byte) * 0x100000001b3 % (1 << 64)
            struct.pack_into("=Q", raw, 128, digest)
            self.look(raw, file=True)

    def test_a_damaged_schema_is_not_believed(self):
        raw = bytearray(self.bytes)
        struct.pack_into("=Q", raw, 128, 1)
        self.assertIn("its schema text is damaged", self.look(raw, file=True))

    def test_entries_that_were_lost_are_counted_not_shown(self):
        with vitrine.Segment(str(golden("v1_1")), file=True) as segment:
            place = segment.places[vitrine.EVENTS]
            events, missed = segment.entries(vitrine.EVENTS)
        raw = bytearray(self.bytes)
        start = place.offset + 128 + (events[-1]["sequence"] - 1) % place.count * place.stride
        raw[start + 16:start + place.record_bytes] = bytes(place.record_bytes - 16)
        self.path.write_bytes(raw)
        with vitrine.Segment(str(self.path), file=True) as segment:
            left, missed_now = segment.entries(vitrine.EVENTS)
        self.assertEqual((len(left), missed_now), (len(events) - 1, missed + 1))

    def test_an_empty_path_and_a_name_like_a_flag_are_bad_usage(self):
        for words in (("show", "--file", ""), ("ls", "--segment", ""), ("show", "--instance=-x")):
            self.assertEqual(run(*words)[0], 2)

    def test_ls_keeps_to_the_segment_of_the_environment(self):
        self.path.write_bytes(self.bytes)
        os.environ["VITRINE_SEGMENT"] = str(self.path)
        try:
            code, out, _ = run("ls", "--json")
        finally:
            del os.environ["VITRINE_SEGMENT"]
        self.assertEqual(code, 4)
        self.assertEqual([one["segment_path"] for one in json.loads(out)["instances"]],
                         [str(self.path)])

    def test_a_file_may_end_anywhere(self):
        for size in (0, 7, 63, 64, 2047, 2048, 4096, len(self.bytes) - 1):
            self.assertIn(str(self.path), self.look(self.bytes[:size], file=True))

    def test_a_file_that_is_cut_while_it_is_read_is_an_error(self):
        self.path.write_bytes(self.bytes)
        with vitrine.Segment(str(self.path)) as segment:
            segment.snapshot()
            os.truncate(self.path, 8192)
            with self.assertRaises(vitrine.SegmentError) as caught:
                segment.snapshot()
        self.assertIn("cut short", str(caught.exception))

    def test_a_planted_file_is_refused(self):
        self.path.write_bytes(self.bytes)
        link, pipe = self.path.with_name("link"), self.path.with_name("pipe")
        link.symlink_to(self.path)
        os.mkfifo(pipe)
        for path, rule in ((link, "symbolic link"), (pipe, "not a regular file"),
                           (self.path.parent, "not a regular file")):
            with self.assertRaises(vitrine.SegmentError) as caught:
                vitrine.Segment(str(path))
            self.assertIn(rule, str(caught.exception))
        os.link(self.path, self.path.with_name("second"))
        self.assertIn("2 names", self.look(self.bytes))


class LiveSegments(unittest.TestCase):
    """A file under a writer's lock, which this process holds."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "one.segment"
        shutil.copy(golden("v1_1"), self.path)
        self.engine = os.open(self.path, os.O_RDWR)
        fcntl.fcntl(self.engine, fcntl.F_OFD_SETLK,
                    struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))

    def tearDown(self):
        os.close(self.engine)
        self.folder.cleanup()

    def test_the_lock_tells_life_from_death(self):
        with vitrine.Segment(str(self.path)) as segment:
            self.assertEqual(segment.liveness(), (True, True))
            self.assertEqual(vitrine.observe(segment).verdict, "busy")
            os.unlink(self.path)
            self.assertEqual(vitrine.observe(segment).verdict, "degraded")
            fcntl.fcntl(self.engine, fcntl.F_OFD_SETLK,
                        struct.pack("hhqqi4x", fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0))
            self.assertEqual(vitrine.observe(segment).verdict, "dead")

    def test_a_heart_that_stands_is_hung(self):
        os.pwrite(self.engine, struct.pack("=Q", 1), 2048 + 272)  # long ago, of this boot
        os.pwrite(self.engine, vitrine_boot_id(), 80)
        with vitrine.Segment(str(self.path)) as segment:
            look = vitrine.observe_settled(segment)
        self.assertEqual(look.verdict, "hung")
        self.assertIn("heartbeat has stood at 36000", look.reason)
        code, _, _ = run("show", "--segment", self.path)
        self.assertEqual(code, 6)

    def test_the_file_of_a_live_engine_is_not_a_recording(self):
        code, _, err = run("show", "--file", self.path)
        self.assertEqual(code, 5)
        self.assertIn("its engine lives", err)

    def test_each_life_has_its_verdict(self):
        for life, verdict, code in ((1, "starting", 0), (3, "degraded", 1), (4, "draining", 1),
                                    (5 | 7 << 32, "exited", 4)):
            os.pwrite(self.engine, struct.pack("=Q", life), 2048 + 128)
            with vitrine.Segment(str(self.path)) as segment:
                self.assertEqual(vitrine.observe(segment).verdict, verdict)
            self.assertEqual(run("show", "--segment", self.path)[0], code)


class LappedSegment(vitrine.Segment):
    """A segment whose writer goes on between the reads of the memory table, the first time: it has
    published three more versions, and is at the words of a fourth, over the one that was newest."""

    TORN, AFTER = 111, 222  # reserved bytes, at offset 24 of the record
    reads = 0

    def words(self, offset, size, room):
        place = self.places[5]
        if (offset, size) != (place.offset, place.stride):
            return super().words(offset, size, room)
        self.reads += 1
        row = bytearray(super().words(offset, size, room))
        slot = (place.record_bytes + 63) // 64 * 64
        if self.reads <= 3:  # the stamp is still the old one
            struct.pack_into("=Q", row, 128 + slot + 24, self.TORN)
            struct.pack_into("=Q", row, 0, 4 if self.reads == 3 else 1)
        else:
            for version in range(2, 6):
                struct.pack_into("=QIIQQ", row, 128 + version % 4 * slot, version - 1, 0, 0, 0,
                                 self.AFTER + version)
            struct.pack_into("=Q", row, 0, 5)
        return memoryview(row).cast("Q")


class Protocol(unittest.TestCase):
    def test_a_version_that_is_overwritten_while_it_is_copied_is_not_shown(self):
        with LappedSegment(str(golden("v1_1")), file=True) as segment:
            snapshot = segment.snapshot()
        self.assertEqual(segment.reads, 6)  # three more for the second try
        self.assertTrue(snapshot.consistent)
        # The newest version of the commit, 5, is the fifth.
        self.assertEqual(snapshot.rows["memory"][0]["stamp"], 4)
        self.assertEqual(snapshot.rows["memory"][0]["reserved_bytes"], LappedSegment.AFTER + 5)

    def test_versions_of_a_transaction_that_has_not_ended_are_passed_over(self):
        for commit, jobs in ((0, []), (2, ["done"]), (3, ["done", "failed"])):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "one.segment"
                raw = bytearray(golden("v1_1").read_bytes())
                struct.pack_into("=Q", raw, 2048, commit)
                path.write_bytes(raw)
                with vitrine.Segment(str(path), file=True) as segment:
                    snapshot, (events, _) = segment.snapshot(), segment.entries(vitrine.EVENTS)
            self.assertTrue(snapshot.consistent)
            self.assertEqual([job["state"] for job in snapshot.rows["jobs"]], jobs)
            self.assertEqual(len(events), len(jobs))

    def test_a_moment_that_is_gone_is_not_called_consistent(self):
        with vitrine.Segment(str(golden("v1_1")), file=True) as segment:
            place = segment.places[5]
        raw = bytearray(golden("v1_1").read_bytes())
        struct.pack_into("=Q", raw, place.offset, 9)  # all slots are of later transactions
        slot = (place.record_bytes + 63) // 64 * 64
        for version in range(6, 10):
            struct.pack_into("=Q", raw, place.offset + 128 + version % 4 * slot, version)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "one.segment"
            path.write_bytes(raw)
            with vitrine.Segment(str(path), file=True) as segment:
                snapshot = segment.snapshot()
        self.assertFalse(snapshot.consistent)
        self.assertEqual(snapshot.rows["memory"][0]["stamp"], 9)


def vitrine_boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return bytes.fromhex(file.read().strip().replace("-", ""))


if __name__ == "__main__":
    unittest.main()
