// SPDX-License-Identifier: Apache-2.0
// Real segments with one thing made wrong, systematically: each is read within its promises or
// refused with the name of what is wrong.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "shm/segment_layout_check.h"
#include "tests/shm/filled_segment.h"
#include "tests/shm/read_everything.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

constexpr std::uint64_t kCommits = 11;
constexpr std::uint64_t kEdges[] = {
    0,          1,       2,       3,          4,          7,          8,          63,
    64,         127,     128,     129,        2048,       4096,       1 << 14,    1 << 16,
    1 << 20,    1 << 22, 1 << 30, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF, 1ULL << 32,
    1ULL << 63, ~7ULL,   ~2ULL,   ~1ULL,      ~0ULL};

const std::string& good_segment() {
  static const std::string kBytes = filled_segment(kCommits);
  return kBytes;
}

template <class Value>
void put(std::string& bytes, std::size_t offset_bytes, Value value) {
  REQUIRE(offset_bytes + sizeof(value) <= bytes.size());
  std::memcpy(bytes.data() + offset_bytes, &value, sizeof(value));
}

template <class Value>
Value get(const std::string& bytes, std::size_t offset_bytes) {
  Value value;
  REQUIRE(offset_bytes + sizeof(value) <= bytes.size());
  std::memcpy(&value, bytes.data() + offset_bytes, sizeof(value));
  return value;
}

Result<SegmentReader> open(const std::string& bytes) {
  return SegmentReader::open_bytes(std::as_bytes(std::span(bytes)), "damaged");
}

// What became of the damaged bytes: an error's kind, or a segment that kept every promise.
std::optional<ErrorKind> refusal(const std::string& bytes) {
  auto reader = open(bytes);
  if (!reader) {
    CHECK(reader.error().text.starts_with("damaged: "));
    CHECK(reader.error().text.size() > sizeof("damaged: "));
    return reader.error().kind;
  }
  CHECK(fault_of_reading(*reader).value_or("none") == "none");
  return {};
}

bool is_named(std::optional<ErrorKind> kind) {
  return !kind || kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported;
}

SegmentLayout layout_of(const std::string& bytes) {
  const auto header = std::as_bytes(std::span(bytes)).first(kCheckedHeaderBytes);
  return check_layout(header, bytes.size(), "good").value();
}

// Offsets in the table of sections of the entries that this program knows.
std::vector<std::size_t> known_entries(const std::string& bytes) {
  std::vector<std::size_t> entries;
  const SegmentLayout layout = layout_of(bytes);
  for (std::uint32_t i = 0; i < layout.header.section_count; ++i) {
    const std::size_t at = kSectionTableOffset + i * sizeof(SectionEntry);
    const auto id = get<std::uint32_t>(bytes, at);
    if (id < kSectionCapacity && layout.sections[id].offset_bytes != 0) entries.push_back(at);
  }
  return entries;
}

Snapshot snapshot_of(const std::string& bytes) {
  auto reader = open(bytes);
  REQUIRE(reader.has_value());
  CHECK(fault_of_reading(*reader).value_or("none") == "none");
  Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  return snapshot;
}

struct HeaderMember {
  const char* name;
  std::size_t offset_bytes;
  std::size_t size_bytes;
  std::optional<ErrorKind> refusal;  // of every other value; none when any value is readable
};

#define VITRINE_MEMBER(type, member, kind) \
  HeaderMember { #member, offsetof(type, member), sizeof(type::member), kind }

std::vector<HeaderMember> decided_members() {
  constexpr auto kCorrupt = ErrorKind::kCorrupt;
  constexpr auto kUnsupported = ErrorKind::kUnsupported;
  return {VITRINE_MEMBER(FixedHeader, magic, kCorrupt),
          VITRINE_MEMBER(FixedHeader, byte_order, kCorrupt),
          VITRINE_MEMBER(FixedHeader, major, kUnsupported),
          VITRINE_MEMBER(FixedHeader, minor, {}),
          VITRINE_MEMBER(FixedHeader, reserved_word, {}),
          VITRINE_MEMBER(FixedHeader, optional_features, {}),
          VITRINE_MEMBER(FixedHeader, reserved, {}),
          VITRINE_MEMBER(Header, incarnation, {}),
          VITRINE_MEMBER(Header, boot_id, {}),
          VITRINE_MEMBER(Header, pid, {}),
          VITRINE_MEMBER(Header, pid_namespace_inode, {}),
          VITRINE_MEMBER(Header, process_start_ticks, {}),
          VITRINE_MEMBER(Header, uid, {}),
          VITRINE_MEMBER(Header, schema_hash, {}),
          VITRINE_MEMBER(Header, created_unix_ns, {}),
          VITRINE_MEMBER(Header, host, {}),
          VITRINE_MEMBER(Header, engine_version, {}),
          VITRINE_MEMBER(Header, instance, {}),
          VITRINE_MEMBER(Header, api_socket_path, {})};
}
#undef VITRINE_MEMBER

// The start of every row's first line.
std::vector<std::size_t> heads(const std::string& bytes) {
  std::vector<std::size_t> found;
  for_each_table([&]<class Record>() {
    const SectionPlace place = layout_of(bytes).place(TableOf<Record>::kSection);
    for (std::uint32_t row = 0; row < place.count; ++row) {
      found.push_back(place.offset_bytes + row * place.stride_bytes);
    }
  });
  return found;
}

}  // namespace

TEST_CASE("The segment that is damaged here is whole and full") {
  const Snapshot snapshot = snapshot_of(good_segment());
  CHECK(snapshot.consistent);
  CHECK(snapshot.commit == kCommits);
  CHECK(snapshot.last_event_sequence == kCommits);
  for_each_table([&]<class Record>() { CHECK_FALSE(snapshot.rows<Record>().empty()); });
}

TEST_CASE("Each member of the header at its extremes is readable or refused as designed") {
  for (const HeaderMember& member : decided_members()) {
    for (const std::uint64_t edge : kEdges) {
      std::string bytes = good_segment();
      for (std::size_t i = 0; i < member.size_bytes; ++i) {
        bytes[member.offset_bytes + i] = static_cast<char>(edge >> (i % 8 * 8));
      }
      if (bytes == good_segment()) continue;
      CAPTURE(member.name, edge);
      CHECK(refusal(bytes) == member.refusal);
    }
  }
}

TEST_CASE("Each word of the header at its extremes is readable or refused by name") {
  for (std::size_t at = 0; at < sizeof(Header); at += 4) {
    for (const std::uint64_t edge : kEdges) {
      CAPTURE(at, edge);
      std::string bytes = good_segment();
      put(bytes, at, static_cast<std::uint32_t>(edge));
      CHECK(is_named(refusal(bytes)));
      if (at % 8 != 0) continue;
      put(bytes, at, edge);
      CHECK(is_named(refusal(bytes)));
    }
  }
}

TEST_CASE("A segment of the other byte order is unsupported, whatever else it holds") {
  std::string bytes = good_segment();
  for (std::size_t at = offsetof(FixedHeader, byte_order); at + 4 <= bytes.size(); at += 4) {
    put(bytes, at, __builtin_bswap32(get<std::uint32_t>(bytes, at)));
  }
  const auto reader = open(bytes);
  REQUIRE(reader.has_error());
  CHECK(reader.error().kind == ErrorKind::kUnsupported);
  CHECK_THAT(reader.error().text, Catch::Contains("-endian byte order; read it on a machine of"));
}

TEST_CASE("A version or a feature that cannot be read names who is older and what to do") {
  const auto text_with = [](std::size_t at, auto value) {
    std::string bytes = good_segment();
    put(bytes, at, value);
    const auto reader = open(bytes);
    REQUIRE(reader.has_error());
    CHECK(reader.error().kind == ErrorKind::kUnsupported);
    return reader.error().text;
  };
  constexpr std::size_t kMajor = offsetof(FixedHeader, major);
  constexpr std::size_t kRequired = offsetof(FixedHeader, required_features);
  const std::uint16_t newer = kMajorVersion + 1;
  CHECK_THAT(text_with(kMajor, newer), Catch::Contains("the program is older: upgrade it"));
  CHECK_THAT(text_with(kMajor, std::uint16_t{0}), Catch::Contains("the engine is older: upgrade"));
  CHECK_THAT(text_with(kRequired, std::uint64_t{1} << 63),
             Catch::Contains("the program is older: upgrade it"));
}

TEST_CASE("Each number of the table of sections at its extremes is readable or refused") {
  for (const std::size_t entry : known_entries(good_segment())) {
    for (std::size_t member = 0; member < sizeof(SectionEntry); member += 4) {
      for (const std::uint64_t edge : kEdges) {
        CAPTURE(entry, member, edge);
        std::string bytes = good_segment();
        put(bytes, entry + member, static_cast<std::uint32_t>(edge));
        CHECK(is_named(refusal(bytes)));
        if (member % 8 != 0) continue;
        put(bytes, entry + member, edge);
        CHECK(is_named(refusal(bytes)));
      }
    }
  }
}

TEST_CASE("A section in the place of another or under its id is refused") {
  const std::string& good = good_segment();
  const auto entries = known_entries(good);
  for (const std::size_t entry : entries) {
    for (const std::size_t other : entries) {
      if (entry == other) continue;
      CAPTURE(entry, other);
      std::string bytes = good;
      put(bytes, entry, get<std::uint32_t>(good, other));
      CHECK(refusal(bytes) == ErrorKind::kCorrupt);
      bytes = good;
      constexpr std::size_t kOffset = offsetof(SectionEntry, offset_bytes);
      put(bytes, entry + kOffset, get<std::uint64_t>(good, other + kOffset));
      // Rows of another length may also reach past the end there.
      CHECK(refusal(bytes) == ErrorKind::kCorrupt);
      put(bytes, entry + kOffset, get<std::uint64_t>(good, other + kOffset) + 8);
      CHECK(refusal(bytes) == ErrorKind::kCorrupt);
    }
  }
}

TEST_CASE("A segment that is cut short anywhere is refused") {
  const std::string& good = good_segment();
  std::set<std::size_t> lengths = {good.size() - 1};
  for (std::size_t length = 0; length < kCheckedHeaderBytes; length += 4) lengths.insert(length);
  for (std::size_t length = 0; length < good.size(); length += 509) lengths.insert(length);
  for (const std::size_t head : heads(good)) lengths.insert({head - 1, head, head + 1});
  for (const std::size_t length : lengths) {
    CAPTURE(length);
    CHECK(refusal(good.substr(0, length)) == ErrorKind::kCorrupt);
  }
}

TEST_CASE("What lies behind the end of a segment is not looked at") {
  CHECK(snapshot_of(good_segment() + std::string(5000, '\xff')).commit == kCommits);
}

TEST_CASE("A file that says it is larger than a segment may be is refused before it is read") {
  const SharedScratchFolder scratch;
  std::string bytes = good_segment();
  put(bytes, offsetof(FixedHeader, total_bytes), 2 * std::uint64_t{kSegmentBytesMax});
  const auto path = scratch / "main.segment";
  write_whole(path, bytes);
  std::filesystem::resize_file(path, 2 * std::uint64_t{kSegmentBytesMax});  // a hole
  for (const auto& reader : {SegmentReader::open_file(path), SegmentReader::attach(path)}) {
    REQUIRE(reader.has_error());
    CHECK(reader.error().kind == ErrorKind::kCorrupt);
    CHECK_THAT(reader.error().text, Catch::Contains("larger than a segment may be"));
  }
}

TEST_CASE("A damaged file is refused alike when it is mapped and when it is read") {
  const SharedScratchFolder scratch;
  const auto path = scratch / "main.segment";
  for (std::size_t at = 0; at < sizeof(FixedHeader); at += 4) {
    CAPTURE(at);
    std::string bytes = good_segment();
    put(bytes, at, 0xFFFFFFFF);
    write_whole(path, bytes);
    const auto expected = refusal(bytes);
    const auto mapped = SegmentReader::attach(path);
    CHECK(mapped.has_error() == expected.has_value());
    if (mapped.has_error()) CHECK(mapped.error().kind == expected);
  }
}

TEST_CASE("A text of any bytes, without an end, leaves every document readable") {
  const std::string texts[] = {std::string(512, 'x'), std::string(512, '\xff'),
                               std::string(512, '\x1b'), std::string(512, '\xe2'),
                               "\x1b]0;title\a\x1b[2J\r\n\xed\xa0\x80\xf4\x90\x80\x80"};
  for (const std::string& text : texts) {
    std::string bytes = good_segment();
    for (const HeaderMember& member : decided_members()) {
      const bool is_text = member.offset_bytes >= offsetof(Header, host);
      if (is_text) text.copy(bytes.data() + member.offset_bytes, member.size_bytes);
    }
    for_each_table([&]<class Record>() {
      const SectionPlace place = layout_of(bytes).place(TableOf<Record>::kSection);
      for (const Field& field : TableOf<Record>::kFields) {
        if (field.type != FieldType::kText) continue;
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
          text.copy(bytes.data() + place.offset_bytes + kLineBytes +
                        slot * slot_bytes(place.record_bytes) + field.offset_bytes,
                    field.size_bytes);
        }
      }
    });
    CHECK(refusal(bytes) == std::nullopt);
  }
}

TEST_CASE("A head at any extreme is read within the promises") {
  const std::string& good = good_segment();
  for (const std::size_t head : heads(good)) {
    for (const std::uint64_t edge : kEdges) {
      CAPTURE(head, edge);
      std::string bytes = good;
      put(bytes, head, edge);
      CHECK(refusal(bytes) == std::nullopt);
      bytes = good;
      put(bytes, head + 8, edge);  // of a table's first row: how many rows were ever used
      CHECK(refusal(bytes) == std::nullopt);
    }
  }
}

TEST_CASE("Rows that were never published are absent at a commit, all others stay") {
  std::string bytes = good_segment();
  put(bytes, heads(bytes).front(), std::uint64_t{0});
  const Snapshot whole = snapshot_of(good_segment());
  const Snapshot snapshot = snapshot_of(bytes);
  CHECK(snapshot.consistent);
  CHECK(snapshot.rows<PartitionRecord>().size() + 1 == whole.rows<PartitionRecord>().size());
  CHECK(snapshot.rows<JobRecord>().size() == whole.rows<JobRecord>().size());
}

TEST_CASE(
    "A row without a version at the commit makes the snapshot say that it is not one moment") {
  const SectionPlace place = layout_of(good_segment()).place(SectionId::kMemory);
  for (const std::uint64_t stamp : {kCommits + 1, ~std::uint64_t{0}}) {
    std::string bytes = good_segment();
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      put(bytes, place.offset_bytes + kLineBytes + slot * slot_bytes(place.record_bytes), stamp);
    }
    const Snapshot snapshot = snapshot_of(bytes);
    CHECK_FALSE(snapshot.consistent);
    CHECK(snapshot.memory().identity.stamp == stamp);
  }
  std::string bytes = good_segment();
  put(bytes, layout_of(bytes).hot_lines_offset, std::uint64_t{0});
  CHECK_FALSE(snapshot_of(bytes).consistent);
}

TEST_CASE("The commit and the other hot words at their extremes are read within the promises") {
  const std::size_t hot = layout_of(good_segment()).hot_lines_offset;
  for (std::size_t at = 0; at < sizeof(HotLines); at += 8) {
    if (at % kLineBytes >= 32) continue;
    for (const std::uint64_t edge : kEdges) {
      CAPTURE(at, edge);
      std::string bytes = good_segment();
      put(bytes, hot + at, edge);
      CHECK(refusal(bytes) == std::nullopt);
    }
  }
}

TEST_CASE("Each word of the event ring at its extremes is an event, a miss or an error") {
  const SectionPlace place = layout_of(good_segment()).place(SectionId::kEvents);
  const std::size_t end = place.offset_bytes + kLineBytes + place.count * place.stride_bytes;
  for (std::size_t at = place.offset_bytes; at + 8 <= end; at += 8) {
    if (at > place.offset_bytes && at < place.offset_bytes + kLineBytes) continue;
    for (const std::uint64_t edge : kEdges) {
      CAPTURE(at, edge);
      std::string bytes = good_segment();
      put(bytes, at, edge);
      CHECK(refusal(bytes) == std::nullopt);
    }
  }
  std::string bytes = good_segment();
  put(bytes, place.offset_bytes, ~std::uint64_t{0});
  CHECK(open(bytes)->events_after(0, 10).error().kind == ErrorKind::kCorrupt);
}

}  // namespace vitrine::shm
