// SPDX-License-Identifier: Apache-2.0
// Every number that shm/LAYOUT.md states, compared with the code, and its bytes with a golden one.
//
// Why   a document about a format is believed by people who cannot see the code.
#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>
#include <vector>

#include "shm/catalogue.h"
#include "shm/layout.h"
#include "shm/snapshot.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {
namespace {

using Cells = std::vector<std::string>;
using Rows = std::vector<Cells>;

// The rows of the tables under each heading, without the table's head; marks of code removed.
std::map<std::string, Rows> read_tables() {
  const auto root = std::filesystem::path(VITRINE_TEST_DATA).parent_path().parent_path();
  std::istringstream document(read_whole(root / "shm" / "LAYOUT.md"));
  std::map<std::string, Rows> tables;
  std::string heading;
  int head_lines = 0;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("#")) heading = line.substr(line.find(' ') + 1);
    if (!line.starts_with("|")) {
      head_lines = 2;
      continue;
    }
    if (head_lines-- > 0) continue;
    std::erase(line, '`');
    Cells cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(' ');
      cells.push_back(
          begin == cell.npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
    }
    tables[heading].push_back(std::move(cells));
  }
  return tables;
}

struct Member {
  std::string name;
  std::size_t offset_bytes;
  std::size_t size_bytes;
};

#define VITRINE_MEMBER(Struct, member) \
  Member { #member, offsetof(Struct, member), sizeof(Struct::member) }

void check_members(const Rows& rows, const std::vector<Member>& members) {
  REQUIRE(rows.size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    CAPTURE(members[i].name);
    CHECK(rows[i][2] == members[i].name);
    CHECK(rows[i][0] == std::to_string(members[i].offset_bytes));
    CHECK(rows[i][1] == std::to_string(members[i].size_bytes));
  }
}

std::string joined(Words words) {
  std::string out;
  for (const std::string_view word : words) {
    out += (out.empty() ? "" : " ") + std::string(word);
  }
  return out;
}

// `first`: the first field that the document lists, after the identity of a table's record.
void check_record(const std::map<std::string, Rows>& tables, std::string_view name, SectionId id,
                  std::span<const Field> fields) {
  const std::size_t record_bytes = fields.back().offset_bytes + fields.back().size_bytes;
  const std::string heading = std::string(name) + ": section " +
                              std::to_string(static_cast<std::uint32_t>(id)) + ", " +
                              std::to_string(record_bytes) + " bytes";
  CAPTURE(heading);
  REQUIRE(tables.contains(heading));
  Rows expected;
  for (const Field& field : fields) {
    if (field.type == FieldType::kReserved) continue;
    expected.push_back({std::to_string(field.offset_bytes), std::to_string(field.size_bytes),
                        std::string(word(field.type)), std::string(field.name),
                        joined(field.words)});
  }
  CHECK(tables.at(heading) == expected);
}

}  // namespace

TEST_CASE("LAYOUT.md has the header's members at their places") {
  const auto tables = read_tables();
  check_members(
      tables.at("Fixed header"),
      {VITRINE_MEMBER(FixedHeader, magic), VITRINE_MEMBER(FixedHeader, byte_order),
       VITRINE_MEMBER(FixedHeader, major), VITRINE_MEMBER(FixedHeader, minor),
       VITRINE_MEMBER(FixedHeader, header_bytes), VITRINE_MEMBER(FixedHeader, reserved_word),
       VITRINE_MEMBER(FixedHeader, total_bytes), VITRINE_MEMBER(FixedHeader, required_features),
       VITRINE_MEMBER(FixedHeader, optional_features), VITRINE_MEMBER(FixedHeader, reserved)});
  check_members(tables.at("Header"),
                {VITRINE_MEMBER(Header, incarnation), VITRINE_MEMBER(Header, boot_id),
                 VITRINE_MEMBER(Header, pid), VITRINE_MEMBER(Header, pid_namespace_inode),
                 VITRINE_MEMBER(Header, process_start_ticks), VITRINE_MEMBER(Header, uid),
                 VITRINE_MEMBER(Header, section_count), VITRINE_MEMBER(Header, schema_hash),
                 VITRINE_MEMBER(Header, created_unix_ns), VITRINE_MEMBER(Header, host),
                 VITRINE_MEMBER(Header, engine_version), VITRINE_MEMBER(Header, instance),
                 VITRINE_MEMBER(Header, api_socket_path)});
  check_members(tables.at("Section entry"),
                {VITRINE_MEMBER(SectionEntry, id), VITRINE_MEMBER(SectionEntry, record_bytes),
                 VITRINE_MEMBER(SectionEntry, stride_bytes), VITRINE_MEMBER(SectionEntry, count),
                 VITRINE_MEMBER(SectionEntry, offset_bytes), VITRINE_MEMBER(SectionEntry, kind),
                 VITRINE_MEMBER(SectionEntry, reserved)});
}

TEST_CASE("LAYOUT.md has the single words and the identity at their places") {
  const auto tables = read_tables();
  check_members(
      tables.at("Hot lines"),
      {{"commit", offsetof(HotLines, commit.commit), 8},
       {"life", offsetof(HotLines, life.life), 8},
       {"last_signal", offsetof(HotLines, life.last_signal), 8},
       {"count", offsetof(HotLines, heartbeat.count), 8},
       {"interval_ns", offsetof(HotLines, heartbeat.interval_ns), 8},
       {"monotonic_ns", offsetof(HotLines, heartbeat.monotonic_ns), 8},
       {"unix_minus_monotonic_ns", offsetof(HotLines, time_anchor.unix_minus_monotonic_ns), 8}});
  const Rows& table = tables.at("A table");
  REQUIRE(table.size() == 3);
  CHECK(table[2][0] == std::to_string(kLineBytes));
  check_members(tables.at("Identity"),
                {VITRINE_MEMBER(Identity, stamp), VITRINE_MEMBER(Identity, row),
                 VITRINE_MEMBER(Identity, generation)});
}

TEST_CASE("LAYOUT.md has every section and every field of its record") {
  const auto tables = read_tables();
  std::map<std::string, std::string> ids;
  for (const Cells& cells : tables.at("Sections")) ids[cells[1]] = cells[0];
  CHECK(ids.at("hot") == "1");
  CHECK(ids.at("schema") == std::to_string(static_cast<std::uint32_t>(SectionId::kSchema)));
  constexpr std::size_t kIdentityFields = 3;
  std::size_t records = 3;
  for_each_table([&]<class Record>() {
    using Table = TableOf<Record>;
    CHECK(ids.at(std::string(Table::kName)) ==
          std::to_string(static_cast<std::uint32_t>(Table::kSection)));
    check_record(tables, Table::kName, Table::kSection, Table::kFields.subspan(kIdentityFields));
    ++records;
  });
  check_record(tables, "events", SectionId::kEvents, kEventFields);
  check_record(tables, "history", SectionId::kHistory, kHistoryFields);
  check_record(tables, "last_words", SectionId::kLastWords, kLastWordsFields);
  CHECK(ids.size() == records + 2);
}

TEST_CASE("LAYOUT.md names the types and the bits that there are") {
  const auto tables = read_tables();
  std::string types;
  for (const Cells& cells : tables.at("Field types")) types += cells[0] + " ";
  CHECK(types + "reserved" == joined(WordList<FieldType>::kWords));
  CHECK(tables.at("Field types").back()[1] == std::to_string(sizeof(Histogram)));
  constexpr std::uint64_t kFeatures[] = {kFeatureSchemaText, kFeatureRowsEverUsed,
                                         kFeatureSectionKinds, kFeatureLastWords};
  const Rows& bits = tables.at("Optional feature bits");
  REQUIRE(bits.size() == std::size(kFeatures));
  for (std::size_t i = 0; i < std::size(kFeatures); ++i) {
    CHECK(std::uint64_t{1} << std::stoul(bits[i][0]) == kFeatures[i]);
  }
}

TEST_CASE("LAYOUT.md names the field by which a row is free") {
  const auto tables = read_tables();
  std::map<std::string, std::string> free_by;
  for (const Cells& cells : tables.at("Free rows")) free_by[cells[0]] = cells[1];
  for_each_table([&]<class Record>() {
    const std::string name(TableOf<Record>::kName);
    CAPTURE(name);
    REQUIRE(free_by.contains(name));
    const auto& fields = TableOf<Record>::kFields;
    const auto field = std::ranges::find(fields, free_by[name], &Field::name);
    REQUIRE(field != fields.end());
    Record record{};
    auto* const bytes = reinterpret_cast<unsigned char*>(&record);
    std::memset(bytes, 1, sizeof(record));
    CHECK(is_present(record));
    std::memset(bytes + field->offset_bytes, 0, field->size_bytes);
    CHECK_FALSE(is_present(record));
  });
}

TEST_CASE("The bytes that LAYOUT.md explains are those of the golden segment") {
  const std::filesystem::path data(VITRINE_TEST_DATA);
  const std::string golden = read_whole(data / "segments" / "v1_1.segment");
  std::istringstream document(read_whole(data.parent_path().parent_path() / "shm" / "LAYOUT.md"));
  std::size_t checked = 0;
  for (std::string line; std::getline(document, line);) {
    // 00000000  56 49 54 52 49 4e 45 00  04 03 02 01 01 00 01 00  what it is
    constexpr std::size_t kBytesAt = 10;
    const bool is_dump = line.size() > kBytesAt && line[8] == ' ' && line[9] == ' ' &&
                         line.find_first_not_of("0123456789abcdef") == 8;
    if (!is_dump) continue;
    std::size_t offset = std::stoul(line.substr(0, 8), nullptr, 16);
    CAPTURE(line);
    for (std::size_t at = kBytesAt; at + 2 <= line.size() && line[at] != ' '; at += 3) {
      REQUIRE(offset < golden.size());
      const auto byte = static_cast<std::uint8_t>(golden[offset++]);
      CHECK(byte == std::stoul(line.substr(at, 2), nullptr, 16));
      ++checked;
    }
  }
  CHECK(checked >= 256);
}

}  // namespace vitrine::shm
