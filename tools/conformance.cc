// SPDX-License-Identifier: Apache-2.0
#include "tools/conformance.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cctype>
#include <cstdio>
#include <cstring>

#include "shm/clock.h"
#include "shm/invariants.h"
#include "shm/printable_text.h"
#include "shm/schema_text.h"
#include "shm/utf8_repair.h"

namespace vitrine::tools {
namespace {

namespace json = boost::json;

constexpr std::size_t kEventsAtOnce = 4096;
constexpr std::size_t kViolationsMax = 200;  // distinct ones that are kept
// An engine without jobs for this long has had the time to put everything away.
constexpr std::uint64_t kQuietAfterNs = 1'000'000'000;

// The violation without its numbers.
std::string kind_of(const std::string& violation) {
  std::string kind;
  for (const char byte : violation) {
    if (std::isdigit(static_cast<unsigned char>(byte)) == 0) {
      kind += byte;
    } else if (kind.empty() || kind.back() != '#') {
      kind += '#';
    }
  }
  return kind;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

std::uint64_t number_in(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  boost::system::error_code fault;
  const auto number = value == nullptr ? 0 : value->to_number<std::uint64_t>(fault);
  return fault ? 0 : number;
}

// Open for work, and without any.
bool has_no_work(const shm::Observation& observation) {
  const shm::Snapshot& snapshot = *observation.snapshot;
  const bool is_open =
      snapshot.life == shm::EngineLife::kReady || snapshot.life == shm::EngineLife::kDegraded;
  if (!snapshot.consistent || !is_open || snapshot.engine().paused != 0) return false;
  return std::ranges::all_of(
      snapshot.rows<shm::CountersRecord>(), [](const shm::CountersRecord& row) {
        return row.received + row.queued + row.admitting + row.running + row.assembling == 0;
      });
}

}  // namespace

Conformance::Conformance(shm::Target target)
    : attachment_(std::move(target)), begin_ns_(shm::monotonic_ns()) {}

double Conformance::seconds() const {
  return static_cast<double>(shm::monotonic_ns() - begin_ns_) / 1e9;
}

void Conformance::note(const std::string& violation) {
  const std::string kind = kind_of(violation);
  if (violations_.size() == kViolationsMax && !violations_.contains(kind)) return;
  Violation& noted = violations_[kind];
  if (noted.count++ == 0) {
    noted.text = violation;
    noted.first_seconds = seconds();
  }
}

bool Conformance::check(std::string_view what, bool holds, const std::string& violation) {
  const auto found = checks_.find(what);
  if (found != checks_.end()) {
    ++found->second;
  } else {
    checks_.emplace(what, 1);
  }
  if (!holds) note(std::string(what) + ": " + violation);
  return holds;
}

bool Conformance::begin() {
  const shm::Observation& observation = attachment_.observe_settled();
  if (!observation.snapshot || observation.error || !shm::is_alive(observation.verdict.word)) {
    // A hung engine is looked at too: what it publishes may still be right.
    if (!observation.snapshot || observation.verdict.word != shm::VerdictWord::kHung) return false;
  }
  incarnation_ = observation.snapshot->incarnation;
  if (!check("header", heads_.attach(observation.identity.path, attachment_.target().options),
             "the segment cannot be mapped a second time")) {
    return true;
  }
  check_header();
  check_schema();
  return true;
}

void Conformance::check_header() {
  const std::vector<std::byte> bytes = heads_.header_bytes();
  if (!check("header", bytes.size() == shm::kCheckedHeaderBytes, "it is cut short")) return;
  shm::Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> all(bytes);
  check("header",
        header.fixed.reserved_word == 0 && header.fixed.reserved[0] == 0 &&
            header.fixed.reserved[1] == 0,
        "reserved words of the fixed header are not zero");
  check("header", all_zero(all.subspan(sizeof(header), shm::kSectionTableOffset - sizeof(header))),
        "bytes between the header and the table of sections are not zero");
  const std::size_t table_end =
      shm::kSectionTableOffset + header.section_count * sizeof(shm::SectionEntry);
  if (table_end <= header.fixed.header_bytes && header.fixed.header_bytes <= bytes.size()) {
    check("header", all_zero(all.subspan(table_end, header.fixed.header_bytes - table_end)),
          "bytes behind the table of sections are not zero");
  }
  constexpr std::uint64_t kKnown = shm::kFeatureSchemaText | shm::kFeatureRowsEverUsed |
                                   shm::kFeatureSectionKinds | shm::kFeatureLastWords;
  const bool is_ours = header.fixed.minor <= shm::kMinorVersion;
  check("header", !is_ours || (header.fixed.optional_features & ~kKnown) == 0,
        "optional feature bits " + std::to_string(header.fixed.optional_features) +
            " that its version does not have");
  check("header", !all_zero(std::as_bytes(std::span(header.incarnation))), "no incarnation");
  check("header", header.pid != 0 && header.created_unix_ns != 0, "no process or no time");
  check_sections(bytes);
}

void Conformance::check_sections(const std::vector<std::byte>& bytes) {
  const std::uint32_t count = heads_.layout().header.section_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    shm::SectionEntry entry;
    std::memcpy(&entry, bytes.data() + shm::kSectionTableOffset + i * sizeof(entry), sizeof(entry));
    const std::string section = "section " + std::to_string(entry.id);
    check("sections", entry.reserved == 0, section + " has a reserved word that is not zero");
    if (entry.id == static_cast<std::uint32_t>(shm::SectionId::kHotLines)) continue;
    check("sections", entry.offset_bytes % shm::kPageBytes == 0,
          section + " does not begin on a page");
    if (entry.kind != shm::SectionKind::kTable) continue;
    check("sections", entry.stride_bytes % shm::kLineBytes == 0,
          section + " has rows that do not begin on a line");
  }
  // Version 1.0 had fewer tables and no schema.
  if (heads_.layout().header.fixed.minor == 0) return;
  shm::for_each_table([&]<class Record>() {
    const shm::SectionPlace& place = heads_.layout().place(shm::TableOf<Record>::kSection);
    check("sections", place.count != 0, "no table of " + std::string(shm::TableOf<Record>::kName));
  });
}

void Conformance::check_schema_section(const json::object& section) {
  const std::uint64_t id = number_in(section, "id");
  if (id >= shm::kSectionCapacity) return;
  const shm::SectionPlace& place = heads_.layout().place(static_cast<shm::SectionId>(id));
  if (place.offset_bytes == 0) return;
  const std::string name = "section " + std::to_string(id);
  const std::uint64_t record_bytes = number_in(section, "record_bytes");
  check("schema", record_bytes == place.record_bytes,
        name + " has records of " + std::to_string(record_bytes) + " bytes in the schema, of " +
            std::to_string(place.record_bytes) + " in the segment");
  const json::value* fields = section.if_contains("fields");
  if (fields == nullptr || !fields->is_array()) return;
  for (const json::value& entry : fields->get_array()) {
    if (!entry.is_object()) continue;
    const json::object& field = entry.get_object();
    const std::uint64_t end = number_in(field, "offset") + number_in(field, "size");
    check("schema", number_in(field, "size") != 0 && end <= place.record_bytes,
          name + " has a field that ends at byte " + std::to_string(end) + " of " +
              std::to_string(place.record_bytes));
  }
}

void Conformance::check_schema() {
  const shm::SegmentIdentity& identity = last().identity;
  if (identity.minor == 0) return;
  if (!check("schema", !identity.schema_text.empty(), "the segment has none")) return;
  check("schema", shm::schema_hash(identity.schema_text) == identity.schema_hash,
        "its hash is not the one in the header");
  boost::system::error_code fault;
  const json::value document = json::parse(identity.schema_text, fault);
  const json::value* sections =
      fault || !document.is_object() ? nullptr : document.get_object().if_contains("sections");
  const bool is_readable = sections != nullptr && sections->is_array();
  if (!check("schema", is_readable, "it is no JSON object with sections")) return;
  for (const json::value& section : sections->get_array()) {
    if (section.is_object()) check_schema_section(section.get_object());
  }
}

void Conformance::check_events() {
  shm::SegmentReader* reader = attachment_.reader();
  if (reader == nullptr) return;
  const auto batch = reader->events_after(last_event_, kEventsAtOnce);
  const std::uint64_t commit = reader->commit();
  if (!check("events", batch.has_value(), batch ? "" : batch.error().text)) return;
  events_missed_ += batch->missed;
  for (const shm::Event& event : batch->events) {
    const std::string name = "event " + std::to_string(event.sequence);
    ++events_;
    const bool follows = event.sequence == last_event_ + batch->missed + 1 ||
                         event.sequence == last_event_seen_.sequence + 1;
    check("events", follows, name + " follows " + std::to_string(last_event_seen_.sequence));
    check("events", event.stamp <= commit,
          name + " is of commit " + std::to_string(event.stamp) + ", newer than " +
              std::to_string(commit));
    check("events", event.stamp >= last_event_seen_.stamp, name + " is of an earlier commit");
    check("events", event.time.ns >= last_event_seen_.time.ns, name + " is of an earlier time");
    last_event_seen_ = event;
  }
  last_event_ = batch->last_sequence;
}

void Conformance::check_state(const shm::Observation& observation) {
  const shm::Snapshot& snapshot = *observation.snapshot;
  ++snapshots_;
  consistent_ += snapshot.consistent ? 1 : 0;
  check("lock", observation.liveness.lock_held, "no process holds the segment's lock");
  check("name", observation.liveness.name_linked, "the name leads to another file, or to none");
  const bool stands = observation.verdict.word == shm::VerdictWord::kHung &&
                      observation.verdict.reason.find("heartbeat") != std::string::npos;
  check("heartbeat", !stands,
        "stands, though promised every " +
            std::to_string(snapshot.heartbeat_interval_ns / 1'000'000) + " ms");
  check("heartbeat", snapshot.heartbeat_interval_ns != 0, "no interval is promised");
  check("commit", snapshot.commit >= last_commit_,
        "fell from " + std::to_string(last_commit_) + " to " + std::to_string(snapshot.commit));
  last_commit_ = snapshot.commit;
  check("consistency", !snapshot.damaged,
        "a snapshot is not of one moment though commit " + std::to_string(snapshot.commit) +
            " stands");
  if (snapshot.consistent) {
    check("invariants", true, "");
    for (const std::string& violation : shm::check_invariants(snapshot, &previous_)) {
      note(violation);
    }
    previous_ = snapshot;
  }
  check_quiet(observation);
  const auto fallen = heads_.look();
  check("heads", !fallen, fallen.value_or(""));
  const auto ahead = heads_.find_stamp_ahead();
  check("stamps", !ahead, ahead.value_or(""));
}

void Conformance::check_quiet(const shm::Observation& observation) {
  if (!has_no_work(observation)) {
    quiet_since_ns_ = 0;
    return;
  }
  const std::uint64_t now_ns = shm::monotonic_ns();
  if (quiet_since_ns_ == 0) quiet_since_ns_ = now_ns;
  if (now_ns - quiet_since_ns_ < kQuietAfterNs) return;
  check("quiet", true, "");
  for (const std::string& violation : shm::check_quiet(*observation.snapshot)) note(violation);
}

bool Conformance::look() {
  const shm::Observation& observation = attachment_.observe();
  const bool is_there = observation.snapshot && !observation.error &&
                        observation.snapshot->incarnation == incarnation_ &&
                        observation.verdict.word != shm::VerdictWord::kDead &&
                        observation.verdict.word != shm::VerdictWord::kExited;
  if (!is_there) return false;
  check_state(observation);
  check_events();
  return true;
}

void Conformance::finish() {
  if (snapshots_ == 0) return;
  check("consistency", consistent_ > 0,
        "none of " + std::to_string(snapshots_) + " snapshots was of one moment");
}

json::object Conformance::json() const {
  json::object checks;
  for (const auto& [name, count] : checks_) checks[name] = count;
  json::array violations;
  for (const auto& [kind, violation] : violations_) {
    violations.push_back({{"text", shm::repair_utf8(violation.text)},
                          {"count", violation.count},
                          {"first_seconds", violation.first_seconds}});
  }
  json::object out;
  out["schema"] = "vitrine.conform.1";
  out["instance"] = shm::repair_utf8(last().identity.instance);
  out["incarnation"] = incarnation_;
  out["conforms"] = conforms();
  out["seconds"] = seconds();
  out["checks"] = std::move(checks);
  out["snapshots"] = snapshots_;
  out["snapshots_consistent"] = consistent_;
  out["events"] = events_;
  out["events_missed"] = events_missed_;
  out["violations"] = std::move(violations);
  return out;
}

std::string Conformance::text() const {
  char line[160];
  std::string out;
  for (const auto& [name, count] : checks_) {
    std::snprintf(line, sizeof(line), "%-12s %10llu checks\n", name.c_str(),
                  static_cast<unsigned long long>(count));
    out += line;
  }
  std::snprintf(
      line, sizeof(line), "%llu snapshots, %llu consistent; %llu events, %llu missed; %.1f s\n",
      static_cast<unsigned long long>(snapshots_), static_cast<unsigned long long>(consistent_),
      static_cast<unsigned long long>(events_), static_cast<unsigned long long>(events_missed_),
      seconds());
  out += line;
  for (const auto& [kind, violation] : violations_) {
    std::snprintf(line, sizeof(line), " (%llu times, first after %.1f s)\n",
                  static_cast<unsigned long long>(violation.count), violation.first_seconds);
    out += "violation: " + shm::printable_text(violation.text) + line;
  }
  out += conforms() ? "conforms\n" : "does not conform\n";
  return out;
}

}  // namespace vitrine::tools
