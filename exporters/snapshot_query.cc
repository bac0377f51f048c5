// SPDX-License-Identifier: Apache-2.0
#include "exporters/snapshot_query.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "shm/catalogue.h"

namespace vitrine::exporters {

namespace {

Error bad(std::string text) { return Error{ErrorKind::kUsage, std::move(text)}; }

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// Request rules have checked that every % has its two digits; anything else stays as it is.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                        hex_digit(text[i + 2]) >= 0;
    if (escape) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// Calls take(part) for each part between separators; stops at the first error.
template <class Take>
std::optional<Error> for_each_part(std::string_view text, char separator, Take&& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (std::optional<Error> error = take(text.substr(0, end))) return error;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

bool is_section(std::string_view name) {
  bool found = false;
  shm::for_each_table([&]<class Record>() { found |= name == shm::TableOf<Record>::kName; });
  return found;
}

bool is_job_state(std::string_view name) {
  const shm::Words words = shm::WordList<shm::JobState>::kWords;
  return std::find(words.begin(), words.end(), name) != words.end();
}

std::optional<Error> take_sections(SnapshotQuery& query, std::string_view names) {
  return for_each_part(names, ',', [&](std::string_view name) -> std::optional<Error> {
    if (!is_section(name)) return bad("sections: there is no section " + std::string(name));
    query.sections.emplace_back(name);
    return std::nullopt;
  });
}

std::optional<Error> take_parameter(SnapshotQuery& query, std::string_view parameter) {
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  const std::string name = decoded(parameter.substr(0, equals));
  const std::string value = decoded(parameter.substr(std::min(equals + 1, parameter.size())));
  if (name == "sections") return take_sections(query, value);
  if (name == "kind") {
    query.kind = value;
    return std::nullopt;
  }
  if (name == "state") {
    if (!value.empty() && !is_job_state(value)) return bad("state: no job is ever " + value);
    query.state = value;
    return std::nullopt;
  }
  return bad("there is no parameter " + name + "; there are sections, kind and state");
}

}  // namespace

std::string SnapshotQuery::canonical_text() const {
  std::string text = "kind=" + kind + "\nstate=" + state + "\nsections=";
  for (const std::string& section : sections) text += section + ",";
  return text;
}

Result<SnapshotQuery> parse_snapshot_query(std::string_view text) {
  SnapshotQuery query;
  const std::optional<Error> error = for_each_part(
      text, '&', [&](std::string_view parameter) { return take_parameter(query, parameter); });
  if (error) return *error;
  std::sort(query.sections.begin(), query.sections.end());
  query.sections.erase(std::unique(query.sections.begin(), query.sections.end()),
                       query.sections.end());
  return query;
}

void keep_chosen_jobs(shm::Snapshot& snapshot, const SnapshotQuery& query) {
  if (!query.chooses_jobs()) return;
  std::unordered_set<std::uint64_t> chosen;
  std::erase_if(snapshot.rows<shm::JobRecord>(), [&](const shm::JobRecord& job) {
    const bool keep = (query.kind.empty() || job.proof_kind.view() == query.kind) &&
                      (query.state.empty() || shm::word(job.state) == query.state);
    if (keep) chosen.insert(job.job.value);
    return !keep;
  });
  std::erase_if(snapshot.rows<shm::PartitionRecord>(), [&](const shm::PartitionRecord& partition) {
    return !chosen.contains(partition.job.value);
  });
}

}  // namespace vitrine::exporters
