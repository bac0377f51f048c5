// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>

#include "shm/discovery.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kSeverityWords = {"ok", "note", "warning", "problem"};
constexpr std::array<Tone, 4> kSeverityTones = {Tone::kGood, Tone::kFaint, Tone::kWarning,
                                                Tone::kBad};

std::string_view word_of(Severity severity) {
  return kSeverityWords.at(static_cast<std::size_t>(severity));
}

void append(Findings& all, Findings more) { std::ranges::move(more, std::back_inserter(all)); }

struct Host {
  std::vector<fs::path> folders = shm::SegmentPlaces().directories;
  std::vector<shm::SegmentName> segments = shm::list_segments();
};

Host find_everything(const std::optional<fs::path>& segment) {
  Host host;
  ForeignPlaces foreign = foreign_places();
  std::ranges::move(foreign.folders, std::back_inserter(host.folders));
  std::ranges::move(foreign.segments, std::back_inserter(host.segments));
  const bool is_known = !segment || std::ranges::any_of(host.segments, [&](const auto& name) {
    return name.path == *segment;
  });
  if (is_known) return host;
  host.segments.push_back({shm::instance_part(*segment), *segment, false});
  const fs::path folder = segment->has_parent_path() ? segment->parent_path() : fs::path(".");
  if (std::ranges::find(host.folders, folder) == host.folders.end()) {
    host.folders.push_back(folder);
  }
  return host;
}

// Of an engine that is there: what it needs to go on.
void check_living(Findings& all, const ListedInstance& listed, const FileFacts& file) {
  const std::string about = about_of(listed);
  append(all, note_readers(about, readers_of(file)));
  append(all, check_memory(about, memory_facts(listed.observation)));
  if (listed.name.path.parent_path() == "/dev/shm") {
    append(all, check_remove_ipc(about, login_facts(file.owner)));
  }
  // A socket's path means nothing in our mount namespace when it was found in another.
  if (!is_foreign(listed))
    append(all, check_socket(about, socket_facts(listed.observation.identity)));
}

// Everybody's segments are looked at: reading one is safe, whoever wrote it.
std::vector<ListedInstance> look_at(const std::vector<shm::SegmentName>& names,
                                    const shm::AttachOptions& options) {
  std::vector<ListedInstance> instances;
  for (const shm::SegmentName& name : names) {
    shm::AttachOptions trusting = options;
    if (const auto file = file_facts(name.path)) trusting.owner = file->owner;
    for (ListedInstance& listed : list_instances({name}, trusting)) {
      instances.push_back(std::move(listed));
    }
  }
  return instances;
}

}  // namespace

Findings examine_host(const std::optional<fs::path>& segment, const shm::AttachOptions& options) {
  const Host host = find_everything(segment);
  Findings all;
  std::vector<DeadSegment> dead;
  for (const fs::path& folder : host.folders)
    append(all, check_place(place_facts(folder, host.segments)));
  for (const ListedInstance& listed : look_at(host.segments, options)) {
    const auto file = file_facts(listed.name.path);
    // What is no segment's file is told by check_file() alone.
    const bool may_be_segment = !file || (S_ISREG(file->mode) && file->links == 1);
    if (may_be_segment) append(all, check_engine(listed));
    if (!file) continue;
    append(all, check_file(*file, listed));
    if (listed.name.named_dead && listed.observation.snapshot) {
      dead.push_back({listed.name, file->owner});
    }
    if (listed.observation.liveness.lock_held) check_living(all, listed, *file);
  }
  append(all, check_dead_segments(dead));
  for (const fs::path& folder : host.folders)
    append(all, check_stale_locks(folder, stale_locks(folder)));
  return all;
}

bool has_faults(const Findings& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity >= Severity::kWarning; });
}

std::string findings_text(const Findings& findings, const TextStyle& style) {
  constexpr std::size_t kWordColumns = 9;
  const std::string indent(kWordColumns, ' ');
  std::string out;
  std::array<std::size_t, 4> counts{};
  for (const Finding& finding : findings) {
    const auto severity = static_cast<std::size_t>(finding.severity);
    ++counts.at(severity);
    const std::string_view word = word_of(finding.severity);
    StyledText line(word, kSeverityTones.at(severity));
    line.add(std::string(kWordColumns - word.size(), ' '));
    line.add(printable(finding.about, style.charset), Tone::kStrong).add(": ");
    line.add(printable(finding.text, style.charset));
    out += line.painted(style) + "\n";
    if (!finding.fix.empty())
      out += indent + "fix: " + printable(finding.fix, style.charset) + "\n";
  }
  const auto unseen = std::ranges::count(findings, true, &Finding::is_unseen);
  if (!has_faults(findings) && unseen > 0) {
    return out + "nothing is wrong as far as could be seen; " + std::to_string(unseen) +
           " segments could not be looked at\n";
  }
  if (!has_faults(findings)) return out + "nothing is wrong\n";
  return out + "problems: " + std::to_string(counts[3]) +
         ", warnings: " + std::to_string(counts[2]) + "\n";
}

boost::json::object findings_json(const Findings& findings) {
  boost::json::array list;
  for (const Finding& finding : findings) {
    boost::json::object one;
    one["severity"] = word_of(finding.severity);
    one["about"] = printable(finding.about, Charset::kUtf8);
    one["text"] = printable(finding.text, Charset::kUtf8);
    one["fix"] = finding.fix.empty() ? boost::json::value(nullptr)
                                     : boost::json::value(printable(finding.fix, Charset::kUtf8));
    list.push_back(std::move(one));
  }
  return {{"schema", "vitrine.doctor.1"}, {"findings", std::move(list)}};
}

}  // namespace vitrine::tools
