# SPDX-License-Identifier: Apache-2.0
"""What a segment's header and schema text say, checked: the one place where they are believed.

Layout   shm/LAYOUT.md has every number that is here.
Why      a segment is hostile input: after this check its places may be used without looking again.
"""
import collections
import json
import re
import struct
import sys

MAGIC, BYTE_ORDER, MAJOR = b"VITRINE\0", 0x01020304, 1
LINE, SLOTS, HEADER_BYTES, HOT_BYTES, SECTION_TABLE, SECTIONS_MAX = 128, 4, 2048, 512, 512, 32
SEGMENT_MAX, ROWS_MAX, ENTRIES_MAX = 1 << 30, 1 << 16, 1 << 22
RECORD_MAX, SCHEMA_MAX, FIELDS_MAX = 1 << 14, 1 << 20, 256
FIXED, IDENTITY = struct.Struct("=8sIHHIIQQQ16x"), struct.Struct("=16s16sQQQIIQQ64s32s40s112s")
ENTRY = struct.Struct("=IIIIQII")
# Words of the hot lines.
COMMIT, LIFE, SIGNAL, BEATS, INTERVAL, BEAT_TIME, ANCHOR = 0, 128, 136, 256, 264, 272, 384
# Sections with a meaning of their own.
EVENTS, SCHEMA, HISTORY, LAST_WORDS = 12, 13, 19, 20
KINDS = ("unknown", "table", "ring", "block", "text")
# A row of a table is free when this field is zero; in a table that is not here, when all of it is.
PRESENT_BY = {2: "stamp", 3: "state", 4: "state", 5: "stamp", 6: "state", 7: "name", 8: "state",
              9: "stage", 10: "proof_kind", 11: "stamp", 14: "name", 15: "name", 16: "stage",
              17: "name", 18: "count"}
KIND_OF = {**dict.fromkeys(PRESENT_BY, "table"), EVENTS: "ring", HISTORY: "ring", SCHEMA: "text",
           LAST_WORDS: "block"}
SIZES = {"u32": 4, "u64": 8, "enum": 4, "id": 8, "instant": 8, "index": 4}

Place = collections.namedtuple("Place", "kind offset stride record_bytes count")
Field = collections.namedtuple("Field", "name type offset size words bounds")
Section = collections.namedtuple("Section", "id name kind shape place fields")  # fields by name


class SegmentError(Exception):
    """Why a segment cannot be read. `kind`: absent, unreadable, corrupt, unsupported, in_use."""

    def __init__(self, kind, path, rule):
        super().__init__(f"{path}: {rule}")
        self.kind = kind


def check_version(raw, path):
    if len(raw) < FIXED.size:
        raise SegmentError("corrupt", path, "too short for a segment")
    magic, order, major, minor, _, _, _, required, _ = FIXED.unpack_from(raw)
    if magic != MAGIC:
        raise SegmentError("corrupt", path, "is not a segment: no magic number")
    if order == int.from_bytes(BYTE_ORDER.to_bytes(4, "big"), "little"):
        other = "big" if sys.byteorder == "little" else "little"
        raise SegmentError("unsupported", path, f"written in {other}-endian byte order; read it "
                           "on a machine of that order")
    if order != BYTE_ORDER:
        raise SegmentError("corrupt", path, "the byte order mark is damaged")
    if major != MAJOR:
        raise SegmentError("unsupported", path, f"segment version {major}.{minor}, this program "
                           f"reads version {MAJOR}; the {'engine' if major < MAJOR else 'program'}"
                           " is older: upgrade it")
    if required != 0:
        raise SegmentError("unsupported", path, f"needs feature bits {required} that this program "
                           "does not know; the program is older: upgrade it")


def check_shape(number, kind, record, stride, count):
    """The rule that a section breaks; None when it breaks none."""
    if kind != "text" and (record % 8 or stride % 8):
        return f"section {number} is not aligned to words"
    if kind != "text" and record > RECORD_MAX:
        return f"section {number} has records that are too long"
    if kind in ("text", "block"):
        if count != 1:
            return f"section {number} is there more than once"
        return f"section {number} is longer than its place" if stride < record else None
    if kind == "ring":
        if count > ENTRIES_MAX:
            return f"section {number} is too long a ring"
        if record < 16:
            return f"section {number} has entries too short for a stamp and a sequence"
        return f"section {number} has entries that overlap" if stride < record else None
    if count > ROWS_MAX:
        return f"section {number} has too many rows"
    if record < 16:
        return f"section {number} has records too short for an identity"
    short = stride < LINE + SLOTS * ((record + 63) // 64 * 64)
    return f"section {number} has rows that overlap" if short else None


def check_layout(raw, file_bytes, path):
    """Checks every number that an address is computed from: (offset of hot lines, places by id)."""
    check_version(raw, path)
    _, _, _, _, header_bytes, _, total, _, _ = FIXED.unpack_from(raw)

    def require(holds, rule):
        if not holds:
            raise SegmentError("corrupt", path, rule)

    require(len(raw) >= HEADER_BYTES, "too short for a segment's header")
    require(total <= file_bytes, f"is {file_bytes} bytes long but says {total}")
    require(total <= SEGMENT_MAX, "is larger than a segment may be")
    require(total >= HEADER_BYTES + HOT_BYTES, "says a size that does not hold its own header")
    section_count = IDENTITY.unpack_from(raw, FIXED.size)[6]
    require(section_count <= SECTIONS_MAX, "has too many sections")
    sections_end = SECTION_TABLE + section_count * ENTRY.size
    require(sections_end <= header_bytes <= total - HOT_BYTES and header_bytes % LINE == 0,
            "the hot lines begin at an impossible place")
    places, extents = {}, {}
    for index in range(section_count):
        number, record, stride, count, offset, kind, _ = ENTRY.unpack_from(
            raw, SECTION_TABLE + index * ENTRY.size)
        require(number != 0, "a section has no id")
        kind = KIND_OF.get(number, KINDS[kind] if kind < len(KINDS) else "unknown")
        if number == 1 or number >= SECTIONS_MAX or kind == "unknown":
            continue
        require(number not in places, f"section {number} is there twice")
        require(offset % 8 == 0, f"section {number} is not aligned to words")
        fault = check_shape(number, kind, record, stride, count)
        require(fault is None, fault)
        size = count * stride + (LINE if kind == "ring" else 0)
        require(offset >= header_bytes + HOT_BYTES, f"section {number} begins inside the header")
        require(offset <= total and size <= total - offset,
                f"section {number} reaches past the end")
        for other, (begin, end) in extents.items():
            require(offset >= end or begin >= offset + size,
                    f"section {number} overlaps section {other}")
        extents[number] = (offset, offset + size)
        places[number] = Place(kind, offset, stride, record, count)
    return header_bytes, places


def field_of(told):
    """A checked field of the schema text; None when it is of no use."""
    if not isinstance(told, dict) or not is_name(told.get("name")):
        return None
    kind, offset = str(told.get("type")), told.get("offset")
    size = SIZES.get(kind, told.get("size") if kind in ("text", "histogram") else None)
    numbers = [offset, size] + list_in(told, "bounds_ns")
    if not all(isinstance(number, int) and 0 <= number < 1 << 63 for number in numbers):
        return None
    if offset % 4 or size == 0 or max(offset, size) > RECORD_MAX:
        return None
    if kind == "histogram" and size != 8 * (len(numbers) - 1):  # one more than bounds
        return None
    words = [word if isinstance(word, str) else "unknown" for word in list_in(told, "words")]
    return Field(told["name"], kind, offset, size, words, numbers[2:])


def list_in(told, key):
    value = told.get(key)
    return value[:FIELDS_MAX] if isinstance(value, list) else []


def is_name(text):
    return isinstance(text, str) and re.fullmatch("[a-z][a-z0-9_]{0,63}", text) is not None


def parse_schema(text, places, is_own):
    """The sections that the text describes, by id; None when it is no schema. What it tells wrongly
    is left out. `is_own`: it is this segment's text, so that every field lies inside its record."""
    try:
        told_sections = json.loads(text)["sections"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sections = {}
    for told in told_sections if isinstance(told_sections, list) else []:
        number = told.get("id") if isinstance(told, dict) else None
        if not isinstance(number, int) or number in sections or not is_name(told.get("name")):
            continue
        is_known = number in KIND_OF
        place = places.get(number, Place(KIND_OF.get(number), 0, 0, 0, 0))
        if not is_known and place.count == 0:
            continue
        end = place.record_bytes if is_own and place.count else RECORD_MAX
        fields = {}
        for told_field in list_in(told, "fields"):
            field = field_of(told_field)
            is_ours = is_own or (field and told_field.get("stability") != "custom")
            if field and is_ours and field.offset + field.size <= end:
                fields.setdefault(field.name, field)
        shape = str(told.get("shape")) if is_known else "list"
        sections[number] = Section(number, told["name"], place.kind, shape, place, fields)
    return sections
