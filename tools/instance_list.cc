// SPDX-License-Identifier: Apache-2.0
#include "tools/instance_list.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "shm/snapshot_json.h"
#include "tools/duration_text.h"
#include "tools/verdict_tone.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

std::string jobs_text(const shm::Snapshot& snapshot) {
  std::size_t active = 0;
  std::size_t waiting = 0;
  for (const shm::JobRecord& job : snapshot.rows<shm::JobRecord>()) {
    active += shm::is_active(job.state) ? 1 : 0;
    waiting += shm::is_waiting(job.state) ? 1 : 0;
  }
  if (active + waiting == 0) return "none";
  if (waiting == 0) return std::to_string(active) + " running";
  return std::to_string(active) + " running, " + std::to_string(waiting) + " waiting";
}

std::string reason_text(const ListedInstance& instance, Charset charset) {
  const shm::Observation& observation = instance.observation;
  std::string reason = observation.verdict.reason;
  if (!observation.snapshot && observation.error) reason = observation.error->text;
  if (instance.name.named_dead) reason += "; kept as " + instance.name.path.string();
  return printable(reason, charset);
}

void add_instance(TextTable& table, const ListedInstance& instance, const TextStyle& style) {
  const shm::Observation& observation = instance.observation;
  const shm::VerdictWord word = observation.verdict.word;
  const std::string& name = instance.instance();
  std::vector<Cell> row = {cell(name.empty() ? "-" : printable(name, style.charset)),
                           cell(shm::word(word), tone_of(word))};
  if (observation.snapshot) {
    const View view(observation, style);
    const shm::Snapshot& snapshot = view.snapshot();
    row.insert(
        row.end(),
        {cell(std::to_string(observation.identity.pid)), cell(view.age(snapshot.engine().started)),
         cell(view.text(observation.identity.engine_version)),
         cell(shm::word(snapshot.engine().effective_backend)), cell(jobs_text(snapshot)),
         cell(duration_text(snapshot.heartbeat_age_ns))});
  } else {
    row.insert(row.end(), 6, cell("-"));
  }
  row.push_back(cell(reason_text(instance, style.charset)));
  table.add_row(std::move(row));
}

bool is_gone(const ListedInstance& listed) {
  const shm::VerdictWord word = listed.observation.verdict.word;
  return word == shm::VerdictWord::kDead || word == shm::VerdictWord::kExited;
}

// An engine that died does not count once another has its instance, wherever that publishes.
void mark_replaced(std::vector<ListedInstance>& instances) {
  for (ListedInstance& old : instances) {
    if (!is_gone(old)) continue;
    old.is_replaced |= std::any_of(instances.begin(), instances.end(), [&](const auto& other) {
      return other.observation.snapshot && !is_gone(other) && other.instance() == old.instance();
    });
  }
}

bool has_current_name(const std::vector<ListedInstance>& instances, const std::string& instance) {
  return std::any_of(instances.begin(), instances.end(), [&](const ListedInstance& listed) {
    return !listed.name.named_dead && listed.name.instance == instance;
  });
}

}  // namespace

std::vector<ListedInstance> list_instances(const std::vector<shm::SegmentName>& names,
                                           const shm::AttachOptions& options) {
  std::vector<ListedInstance> instances;
  for (const shm::SegmentName& name : names) {
    ListedInstance listed;
    listed.is_replaced = name.named_dead && has_current_name(instances, name.instance);
    shm::Target target;
    target.instance = name.instance;
    target.path = name.path;
    target.options = options;
    target.options.paging = shm::Paging::kAsTouched;
    shm::Attachment attachment(target);
    listed.observation = attachment.observe_settled();
    listed.name = name;
    // Between the listing and the look a name may go away: then there is nothing to tell.
    const auto& error = listed.observation.error;
    if (!listed.observation.snapshot && error && error->kind == shm::ErrorKind::kAbsent) continue;
    instances.push_back(std::move(listed));
  }
  mark_replaced(instances);
  return instances;
}

std::string instances_text(const std::vector<ListedInstance>& instances, const TextStyle& style,
                           std::size_t columns) {
  if (instances.empty()) return "no instances\n";
  TextTable table({{"INSTANCE"},
                   {"VERDICT"},
                   {"PID", Align::kRight},
                   {"UPTIME", Align::kRight},
                   {"VERSION"},
                   {"BACKEND"},
                   {"JOBS"},
                   {"AGE", Align::kRight},
                   {"WHY"}});
  for (const ListedInstance& instance : instances) add_instance(table, instance, style);
  const std::string text = table.text(style, 0, columns);
  if (text == table.text(style, 0)) return text;
  const StyledText hint("rows are cut; 'vitrine ls | cat' shows all of them", Tone::kFaint);
  return text + hint.cut(columns, style.charset).painted(style) + "\n";
}

boost::json::object instances_json(const std::vector<ListedInstance>& instances) {
  boost::json::array list;
  for (const ListedInstance& instance : instances) {
    const std::vector<std::string> sections = {"engine"};
    boost::json::object one = shm::to_json(instance.observation, sections);
    const std::string& name = instance.instance();
    one["instance"] = name.empty() ? boost::json::value(nullptr)
                                   : boost::json::value(printable(name, Charset::kUtf8));
    one["segment_path"] = printable(instance.name.path.string(), Charset::kUtf8);
    one["replaced"] = instance.is_replaced;
    list.push_back(std::move(one));
  }
  return {{"instances", std::move(list)}};
}

ExitCode worst_exit_code(const std::vector<ListedInstance>& instances) {
  int worst = 0;
  for (const ListedInstance& instance : instances) {
    if (!instance.is_replaced) worst = std::max(worst, shm::exit_code_of(instance.observation));
  }
  return static_cast<ExitCode>(worst);
}

}  // namespace vitrine::tools
