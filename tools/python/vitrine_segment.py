# SPDX-License-Identifier: Apache-2.0
"""An independent reader of Vitrine's segments: consistent snapshots, rings, liveness. Written from
shm/LAYOUT.md and the schema text in the segment; standard library alone.

Reader   copies with pread and never maps: a file that shrinks under a mapping kills a Python
         process with SIGBUS, under pread it is a short read and an error. A copy by the kernel is
         not of one moment, so nothing is believed but what the protocol proves: `head` before,
         the slots, `head` again, each by a pread of its own.
Order    Python has no fences, and POSIX has no order between pread and stores to a mapping. On
         Linux each pread takes a reference to its page, with a full barrier, before it copies; so
         the copies of one thread happen in the order of its calls, on x86 and on AArch64. That is
         how the kernel is made, not a promise: who needs one uses the C++ library.
Words    a kernel may copy a word byte by byte. Words that stand alone are read until two reads
         agree; a torn `head` is far from the truth and does not pass the comparison.
Cost     three reads of each table's used part: far less than three calls a row, a shorter moment.
Threads  one at a time.
"""
import collections
import errno
import fcntl
import os
import stat
import struct
import sys
import time

from vitrine_layout import (ANCHOR, BEATS, BEAT_TIME, COMMIT, EVENTS, FIXED, HEADER_BYTES, IDENTITY,
                            INTERVAL, LAST_WORDS, LIFE, LINE, PRESENT_BY, SCHEMA, SCHEMA_MAX,
                            SIGNAL, SLOTS, SegmentError, check_layout, parse_schema)

BACK = SLOTS - 2  # how far behind `head` a version may lie and be whole
TRIES, NEWEST_TRIES, U64 = 64, 16, 1 << 64
LIVES = ("unknown", "starting", "ready", "degraded", "draining", "closed")

Copy = collections.namedtuple("Copy", "rows first words last")  # of a table: three reads


def signed(word):
    word %= U64
    return word - U64 if word >= U64 >> 1 else word


def text_of(raw):
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


class Segment:
    """One open segment. `file`: a dead one, read into memory at once. `schema`: the
    text to read it by when it has none of its own (version 1.0)."""

    def __init__(self, path, file=False, owner=None, schema=None):
        self.path, self.is_file, self.copy = path, file, None
        self.rooms = [bytearray()] * 3
        self.descriptor = open_regular(path, 0)[0] if file else open_live(path, owner)
        try:
            self._attach(schema)
        except BaseException:
            self.close()
            raise

    def _attach(self, schema):
        found = os.fstat(self.descriptor)
        self.inode, size = (found.st_dev, found.st_ino), found.st_size
        head = self._pread(0, min(size, HEADER_BYTES), HEADER_BYTES)
        check_layout(head, size, self.path)
        self.total = FIXED.unpack_from(head)[6]
        if self.is_file:
            self.copy = self._pread(0, self.total, self.total)
            if self.is_locked():
                raise SegmentError("in_use", self.path,
                                   "its engine lives; look at the instance, not at its file")
            head = self.copy[:HEADER_BYTES]
        self.hot, self.places = check_layout(head, size, self.path)
        self.version = FIXED.unpack_from(head)[2:4]
        (incarnation, self.boot_id, self.pid, self.pid_namespace, self.start_ticks, self.uid, _,
         self.schema_hash, self.created_unix_ns, host, engine_version, instance,
         socket_path) = IDENTITY.unpack_from(head, FIXED.size)
        self.incarnation = incarnation.hex()
        self.host, self.engine_version = text_of(host), text_of(engine_version)
        self.instance, self.api_socket_path = text_of(instance), text_of(socket_path)
        self.schema_text = self._read_schema()
        self.sections = parse_schema(self.schema_text or schema or "", self.places,
                                     self.schema_text is not None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _fill(self, view, offset):
        got = 0
        while got < len(view):
            try:
                count = os.preadv(self.descriptor, [view[got:]], offset + got)
            except OSError as error:
                raise SegmentError("unreadable", self.path,
                                   f"cannot be read: {os.strerror(error.errno)}") from None
            if count == 0:
                break
            got += count
        return got

    def _cut_short(self):
        return SegmentError("corrupt", self.path, "the file was cut short while it was being read")

    def _pread(self, offset, least, size):
        room = bytearray(size)
        got = self._fill(memoryview(room), offset)
        if got < least:
            raise self._cut_short()
        return bytes(room[:got])

    def read(self, offset, size):
        if self.copy is not None:
            return self.copy[offset:offset + size]
        return self._pread(offset, size, size)

    def words(self, offset, size, room):
        """Words in one of three rooms that are used again: fresh memory costs more than a copy."""
        if self.copy is not None:
            return memoryview(self.copy)[offset:offset + size].cast("Q")
        if len(self.rooms[room]) < size:
            self.rooms[room] = bytearray(size)
        view = memoryview(self.rooms[room])[:size]
        if self._fill(view, offset) < size:
            raise self._cut_short()
        return view.cast("Q")

    def word(self, offset):
        """A word that stands alone, whole: two reads that agree, or the last of many."""
        last = self.read(offset, 8)
        for _ in range(NEWEST_TRIES):
            before, last = last, self.read(offset, 8)
            if before == last:
                break
        return int.from_bytes(last, sys.byteorder)

    def _read_schema(self):
        place = self.places.get(SCHEMA)
        if place is None or place.record_bytes > SCHEMA_MAX:
            return None
        text, digest = self.read(place.offset, place.record_bytes), 0xcbf29ce484222325
        for byte in text:
            digest = (digest ^ byte) * 0x100000001b3 % U64
        return text.decode("utf-8", "replace") if digest == self.schema_hash else None

    def is_locked(self):
        """Whether some process holds the writer's lock. Asked as a read lock, so that another
        reader's lock does not look like an engine."""
        lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)  # struct flock
        answer = fcntl.fcntl(self.descriptor, fcntl.F_OFD_GETLK, lock)
        return struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK

    def liveness(self):
        """(the engine lives, the path still leads to this file); of a file nothing is asked."""
        if self.is_file:
            return False, False
        try:
            named = os.lstat(self.path)
            return self.is_locked(), (named.st_dev, named.st_ino) == self.inode
        except OSError:
            return self.is_locked(), False

    def _copy_table(self, place):
        rows = self.word(place.offset + 8) if place.count else 0
        rows = place.count if rows == 0 or rows > place.count else rows
        return Copy(rows, *(self.words(place.offset, rows * place.stride, room)
                            for room in range(3)))

    def _rows_at(self, section, commit):
        """The present rows at the commit, as (row, bytes); None when one was lapped. Without a
        commit the newest of each, and a row that stays busy is left out."""
        place, slot = section.place, (section.place.record_bytes + 63) // 64 * 64
        copy, rows = self._copy_table(place), []
        for row in range(copy.rows):
            record = row_at(copy, row * place.stride // 8, slot // 8, commit)
            for _ in range(NEWEST_TRIES if commit is None else 0):
                if record is not False:
                    break
                copy = self._copy_table(place)._replace(rows=copy.rows)
                record = row_at(copy, row * place.stride // 8, slot // 8, commit)
            if record is False and commit is not None:
                return None
            if record and is_present(section, record[:place.record_bytes]):
                rows.append((row, record[:place.record_bytes]))
        return rows

    def _newest_event(self, commit):
        """Sequence of the newest event of transactions up to the commit, 0 for none; None when it
        was overwritten, unless by the one transaction that may be open."""
        place = self.places.get(EVENTS)
        if place is None or place.count == 0:
            return 0
        head = self.word(place.offset)
        newest_stamp = self.word(entry_offset(place, head)) if head else 0
        if newest_stamp <= commit:
            return head
        sequence, oldest = head - 1, head - min(head, place.count - 1)
        while sequence > oldest and self.word(entry_offset(place, sequence)) > commit:
            sequence -= 1
        if sequence == oldest > 0 and newest_stamp > commit + 1:
            return None
        return sequence if self.word(place.offset) - sequence < place.count else None

    def no_schema(self, consequence):
        if SCHEMA in self.places:
            return SegmentError("corrupt", self.path, "its schema text is damaged: it does not "
                                f"have the hash that the header tells; {consequence}")
        version = ".".join(str(part) for part in self.version)
        return SegmentError("unsupported", self.path,
                            f"version {version} without a schema text: {consequence}")

    def snapshot(self):
        """The state at one commit, or one that says `consistent` False."""
        if self.sections is None:
            raise self.no_schema("only its header can be shown; --schema FILE says how to read it")
        taken_ns, taken_unix_ns = time.monotonic_ns(), time.time_ns()
        tables = [section for section in self.sections.values() if section.kind == "table"]
        last_event = 0
        for _ in range(TRIES):
            commit, rows = self.word(self.hot + COMMIT), {}
            found = self._newest_event(commit)
            if found is None:
                continue
            last_event = found
            for section in tables:
                rows[section.id] = self._rows_at(section, commit)
                if rows[section.id] is None:
                    break
            else:
                return Snapshot(self, commit, rows, last_event, (True, taken_ns, taken_unix_ns))
        commit = self.word(self.hot + COMMIT)
        rows = {section.id: self._rows_at(section, None) for section in tables}
        return Snapshot(self, commit, rows, last_event, (False, taken_ns, taken_unix_ns))

    def entries(self, number):
        """(Records of a ring up to the last commit, oldest first; how many were overwritten or
        lost). One that was lost keeps its place as an entry of zeros behind its sequence."""
        section, place = (self.sections or {}).get(number), self.places.get(number)
        if section is None or place is None or place.count == 0:
            return [], 0
        commit, head = self.word(self.hot + COMMIT), self.word(place.offset)
        raw = self.read(place.offset + LINE, place.count * place.stride)
        oldest = max(1, self.word(place.offset) - place.count + 2)
        found, lost = [], 0
        for sequence in range(oldest, head + 1):
            start = (sequence - 1) % place.count * place.stride
            stamp, told = struct.unpack_from("=QQ", raw, start)
            if told != sequence:
                raise SegmentError("corrupt", self.path, f"the ring of section {number} holds "
                                   "entries out of their order")
            if stamp > commit:
                break
            if any(raw[start + 16:start + place.record_bytes]):
                found.append(Record(section.fields, raw[start:start + place.record_bytes]))
            else:
                lost += 1
        return found, oldest - 1 + lost

    def last_words(self):
        place = self.places.get(LAST_WORDS)
        if place is None or self.word(place.offset) == 0:  # `written`: the handler stores it last
            return None
        return self.read(place.offset, place.record_bytes)


def entry_offset(place, sequence):
    return place.offset + LINE + (sequence - 1) % place.count * place.stride


def row_at(copy, line, slot_words, commit):
    """The newest version not newer than the commit; None: absent, False: the writer lapped us."""
    first, last = copy.first[line], copy.last[line]
    for version in range(first, first - BACK - 1, -1):
        if version <= 0:
            return None
        if not 0 <= last - version <= BACK:
            return False
        start = line + LINE // 8 + version % SLOTS * slot_words
        if commit is None or copy.words[start] <= commit:
            return copy.words[start:start + slot_words].tobytes()
    return False


def is_present(section, record):
    field = section.fields.get(PRESENT_BY.get(section.id))
    if field is None:
        return any(record[16:])  # anything behind the identity
    return any(record[field.offset:field.offset + (1 if field.type == "text" else field.size)])


class Record:
    """A row or an entry: values by name. Times and ids are numbers, enumerations their words."""

    def __init__(self, fields, raw, row=None):
        self.fields, self.raw, self.row = fields, raw, row

    def __getitem__(self, name):
        field = self.fields[name]
        if name == "row" and self.row is not None:
            return self.row
        raw = self.raw[field.offset:field.offset + field.size].ljust(field.size, b"\0")
        if field.type == "text":
            return text_of(raw)
        if field.type == "histogram":
            return list(struct.unpack(f"={field.size // 8}Q", raw))
        number = int.from_bytes(raw, sys.byteorder)
        if field.type == "enum":
            return field.words[number] if number < len(field.words) else "unknown"
        if field.type == "index":
            return number - 1 if number else None
        return number

    def number(self, name):
        value = self[name] if name in self.fields else 0
        return value if isinstance(value, int) else 0

    def text(self, name):
        value = self[name] if name in self.fields else ""
        return value if isinstance(value, str) else ""

    def index(self, name):
        is_index = name in self.fields and self.fields[name].type == "index"
        return self[name] if is_index else None


class Snapshot:
    """One moment of a segment. `rows[name]`: the Records of a table, in row order."""

    def __init__(self, segment, commit, rows, last_event, taken):
        self.segment, self.commit, self.last_event_sequence = segment, commit, last_event
        self.consistent, self.taken_ns, taken_unix_ns = taken
        self.rows = {}
        for number, found in rows.items():
            section = segment.sections[number]
            is_known = number in PRESENT_BY
            self.rows.setdefault(section.name, [
                Record(section.fields, raw, row if is_known else None) for row, raw in found])
        life = segment.word(segment.hot + LIFE)
        self.life, self.exit_code = life % (1 << 32), life >> 32
        self.last_signal = segment.word(segment.hot + SIGNAL) % (1 << 32)
        # The count before its time: the time is then that of this beat or a later one.
        self.heartbeat = segment.word(segment.hot + BEATS)
        self.heartbeat_ns = segment.word(segment.hot + BEAT_TIME)
        self.heartbeat_interval_ns = segment.word(segment.hot + INTERVAL)
        self.anchor_ns = segment.word(segment.hot + ANCHOR)
        words, section = segment.last_words(), segment.sections.get(LAST_WORDS)
        self.last_words = Record(section.fields, words) if words and section else None
        self.heartbeat_age_ns, beat_unix_ns = 0, self.unix_ns_of(self.heartbeat_ns)
        if segment.boot_id == boot_id():
            self.heartbeat_age_ns = max(0, self.taken_ns - self.heartbeat_ns)
        elif 0 < beat_unix_ns < taken_unix_ns:  # another boot: only the wall clocks compare
            self.heartbeat_age_ns = taken_unix_ns - beat_unix_ns

    def unix_ns_of(self, instant_ns):
        return signed(instant_ns + self.anchor_ns)

    def age_ns(self, instant_ns):
        return signed(self.heartbeat_ns - instant_ns + self.heartbeat_age_ns)

    def last_sign_age_ns(self):
        """Time since the last beat, or since the last words when they were later."""
        words_ns = self.last_words.number("time") if self.last_words else 0
        after_beat_ns = words_ns - self.heartbeat_ns
        is_later = 0 < after_beat_ns <= self.heartbeat_age_ns
        return self.heartbeat_age_ns - (after_beat_ns if is_later else 0)

    def credible_interval_ns(self):
        return min(max(self.heartbeat_interval_ns, 10**6), 2 * 10**9)

    def life_word(self):
        return LIVES[self.life] if self.life < len(LIVES) else "unknown"


def boot_id():
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return bytes.fromhex(file.read().strip().replace("-", ""))
    except (OSError, ValueError):
        return bytes(16)


def open_error(path, error):
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return SegmentError("absent", path, "no such segment")
    if error.errno == errno.ELOOP:
        return SegmentError("unreadable", path, "is a symbolic link; a segment is never one")
    return SegmentError("unreadable", path, f"cannot be opened: {os.strerror(error.errno)}")


def open_regular(path, flags):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    except OSError as error:
        raise open_error(path, error) from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise SegmentError("unreadable", path, "is not a regular file")
    return descriptor, found


def open_live(path, owner=None):
    """Opens a segment that others could have planted: no links, one name, a trusted owner. Without
    a mapping a page cannot be lost, so any file system will do."""
    descriptor, found = open_regular(path, os.O_NOFOLLOW)
    trusted = {0, os.geteuid(), owner}
    place = os.stat(os.path.dirname(path) or ".")
    is_open_to_others = place.st_mode & 0o022 or place.st_uid not in trusted
    fault = None
    if found.st_nlink > 1:
        fault = f"has {found.st_nlink} names; a segment has one"
    elif is_open_to_others and found.st_uid not in trusted:
        fault = (f"belongs to uid {found.st_uid} in a directory that others can write; name that "
                 "uid with --owner to trust it")
    if fault:
        os.close(descriptor)
        raise SegmentError("unreadable", path, fault)
    return descriptor
