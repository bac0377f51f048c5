// SPDX-License-Identifier: Apache-2.0
#include "tools/wait_chain.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <set>
#include <utility>

#include "tools/duration_text.h"
#include "tools/size_text.h"

namespace vitrine::tools {
namespace {

using shm::PartitionStage;
using shm::WaitReason;

constexpr std::size_t kHoldersMax = 8;

bool is_at_work(PartitionStage stage) {
  return stage == PartitionStage::kWitnessing || stage == PartitionStage::kSynthesizing ||
         stage == PartitionStage::kGpuProving || stage == PartitionStage::kFinishing;
}

// Whether a key is of the circuit that a job names. One that was replaced or taken away while it
// has jobs is shown with ~NUMBER, for which a long id is cut; jobs do not say which of the two they
// have.
bool is_key_of(std::string_view key, std::string_view circuit) {
  const std::size_t id_bytes = key.rfind('~');
  if (id_bytes == std::string_view::npos) return key == circuit;
  const bool is_cut = key.size() == sizeof(shm::AllocationRecord::circuit);
  return circuit.starts_with(key.substr(0, id_bytes)) && (is_cut || id_bytes == circuit.size());
}

std::string name_of(const shm::PartitionRecord& partition) {
  return "partition " + std::to_string(partition.partition) + " of job " +
         std::to_string(partition.job.value);
}

// When it came to its stage.
shm::Instant stage_begin(const shm::PartitionRecord& partition) {
  shm::Instant begin;
  for (const shm::Instant time :
       {partition.created, partition.synth_start, partition.gpu_queue, partition.gpu_pickup,
        partition.gpu_start, partition.gpu_end, partition.finished}) {
    if (time.ns > begin.ns) begin = time;
  }
  return begin;
}

// Walks from an item to what holds it up. Each item is explained once, so a chain ends.
class ChainBuilder {
 public:
  explicit ChainBuilder(const View& view) : view_(view), snapshot_(view.snapshot()) {}

  WaitLink job(const shm::JobRecord& job) {
    WaitLink link = made("job " + std::to_string(job.job.value),
                         std::string(word(job.state)) + ", " + std::string(word(job.priority)) +
                             ", circuit " + view_.text(job.circuit.view()),
                         job.submitted);
    if (shm::is_final(job.state)) {
      link.age_ns = age(job.finished);
      if (!job.failure.view().empty()) link.state += ": " + view_.text(job.failure.view());
      return link;
    }
    for (const shm::PartitionRecord& partition : snapshot_.partitions_of(job.job)) {
      // Those behind the first one that waits wait for their turn.
      const bool waits = partition.wait_reason != WaitReason::kNone;
      if (is_final(partition.stage) || (waits && has_waiting_link_)) continue;
      has_waiting_link_ = has_waiting_link_ || waits;
      link.because.push_back(this->partition(partition));
    }
    if (link.because.empty() && job.wait_reason != WaitReason::kNone) {
      add_reason(link, job, job.job);
    }
    return link;
  }

  WaitLink partition(const shm::PartitionRecord& partition) {
    WaitLink link = made(name_of(partition), view_.stage(partition), stage_begin(partition));
    if (is_final(partition.stage)) return link;
    if (!explained_.insert({partition.job.value, partition.partition}).second) return link;
    if (partition.wait_reason != WaitReason::kNone) {
      add_reason(link, partition, partition.job);
    } else if (partition.worker.is_set()) {
      add_worker(link, partition.worker);
    } else {
      add_threads_of(link, partition);
    }
    return link;
  }

 private:
  std::optional<std::int64_t> age(shm::Instant instant) const {
    return instant.is_set() ? std::optional(view_.age_ns(instant)) : std::nullopt;
  }
  WaitLink made(std::string item, std::string state, shm::Instant since) const {
    return {std::move(item), std::move(state), age(since), {}};
  }

  // What the record says that it waits for, with who holds it.
  template <class Record>
  void add_reason(WaitLink& link, const Record& record, shm::Id job) {
    link.state += ", waits for " + std::string(word(record.wait_reason));
    link.age_ns = age(record.wait_since);
    switch (record.wait_reason) {
      case WaitReason::kMemory:
        return link.because.push_back(memory(record.wait_needs_bytes));
      case WaitReason::kSrs:
        return add_keys(link, job);
      case WaitReason::kBatch:
        return link.because.push_back(batch(job));
      case WaitReason::kCpu:
        return link.because.push_back(synthesis(job));
      case WaitReason::kDevice:
        return link.because.push_back(devices());
      case WaitReason::kPaused:
        return link.because.push_back(
            {"engine", "paused by its operator ('vitrine resume')", {}, {}});
      default:
        return;
    }
  }

  WaitLink memory(std::uint64_t needs_bytes) {
    const shm::MemoryRecord& memory = snapshot_.memory();
    const std::uint64_t free_bytes =
        memory.budget_bytes - std::min(memory.budget_bytes, memory.reserved_bytes);
    WaitLink link{"memory",
                  size_text(needs_bytes) + " needed, " + size_text(free_bytes) + " of " +
                      size_text(memory.budget_bytes) + " free",
                  {},
                  {}};
    add_holding_partitions(link);
    add_holding_keys(link);
    return link;
  }
  void add_holding_partitions(WaitLink& link) {
    std::vector<const shm::PartitionRecord*> holders;
    for (const shm::PartitionRecord& partition : snapshot_.rows<shm::PartitionRecord>()) {
      if (partition.reserved_bytes != 0) holders.push_back(&partition);
    }
    std::ranges::stable_sort(holders, std::greater{}, &shm::PartitionRecord::reserved_bytes);
    for (std::size_t i = 0; i < holders.size() && i < kHoldersMax; ++i) {
      WaitLink holder = partition(*holders[i]);
      holder.state = "holds " + size_text(holders[i]->reserved_bytes) + ", " + holder.state;
      link.because.push_back(std::move(holder));
    }
    if (holders.size() > kHoldersMax) {
      link.because.push_back(
          {std::to_string(holders.size() - kHoldersMax) + " more partitions", "hold less", {}, {}});
    }
  }
  void add_holding_keys(WaitLink& link) {
    for (const shm::AllocationRecord& row : snapshot_.rows<shm::AllocationRecord>()) {
      if (row.reserved_bytes == 0) continue;
      WaitLink holder = allocation(row);
      holder.state = "holds " + size_text(row.reserved_bytes) + ", " + holder.state;
      link.because.push_back(std::move(holder));
    }
  }

  WaitLink allocation(const shm::AllocationRecord& row) const {
    std::string state(word(row.state));
    if (row.state == shm::AllocationState::kLoading && row.total_bytes != 0) {
      state += " (" + size_text(row.loaded_bytes) + " of " + size_text(row.total_bytes) + ")";
    }
    if (row.references != 0) state += ", used by " + std::to_string(row.references);
    if (row.keep_resident != 0) state += ", kept resident";
    if (!row.cause.view().empty()) state += ": " + view_.text(row.cause.view());
    return made(std::string(word(row.kind)) + " of circuit " + view_.text(row.circuit.view()),
                state, row.state_since);
  }
  // The key and the matrices of the job's circuit that are not ready, and who loads what now.
  void add_keys(WaitLink& link, shm::Id job) {
    const shm::JobRecord* waiting = find_job(job);
    for (const shm::AllocationRecord& row : snapshot_.rows<shm::AllocationRecord>()) {
      const bool is_ours =
          waiting != nullptr && is_key_of(row.circuit.view(), waiting->circuit.view());
      if (!is_ours && row.state != shm::AllocationState::kLoading) continue;
      if (is_ours && row.state == shm::AllocationState::kReady) continue;
      link.because.push_back(allocation(row));
    }
    for (const shm::ThreadRecord& row : snapshot_.rows<shm::ThreadRecord>()) {
      if (row.name.view().starts_with("key-loader")) link.because.push_back(thread(row));
    }
  }

  WaitLink batch(shm::Id job) {
    const shm::JobRecord* waiting = find_job(job);
    std::size_t together = 0;
    for (const shm::JobRecord& row : snapshot_.rows<shm::JobRecord>()) {
      together += waiting != nullptr && shm::is_waiting(row.state) &&
                  row.circuit.view() == waiting->circuit.view();
    }
    return {"batch", std::to_string(together) + " jobs of its circuit wait together", {}, {}};
  }

  // Synthesis is full, or others come first.
  WaitLink synthesis(shm::Id job) {
    const shm::EngineRecord& engine = snapshot_.engine();
    WaitLink link{"synthesis",
                  std::to_string(engine.synthesis_active) + " of " +
                      std::to_string(engine.synthesis_limit) + " places taken",
                  {},
                  {}};
    for (const shm::PartitionRecord& row : snapshot_.rows<shm::PartitionRecord>()) {
      const bool is_in =
          row.stage == PartitionStage::kWitnessing || row.stage == PartitionStage::kSynthesizing;
      if (is_in && link.because.size() < kHoldersMax) link.because.push_back(partition(row));
    }
    add_jobs_ahead(link, job);
    return link;
  }
  void add_jobs_ahead(WaitLink& link, shm::Id job) {
    const shm::JobRecord* waiting = find_job(job);
    if (waiting == nullptr) return;
    for (const shm::JobRecord& row : snapshot_.rows<shm::JobRecord>()) {
      const bool is_first = row.priority > waiting->priority ||
                            (row.priority == waiting->priority && row.job.value < job.value);
      if (row.job == job || shm::is_final(row.state) || !is_first) continue;
      if (row.wait_reason == WaitReason::kNone || link.because.size() >= kHoldersMax) continue;
      WaitLink ahead = made("job " + std::to_string(row.job.value), "comes first", {});
      if (explained_jobs_.insert(row.job.value).second) add_reason(ahead, row, row.job);
      link.because.push_back(std::move(ahead));
    }
  }

  WaitLink devices() {
    WaitLink link{"devices", "", {}, {}};
    for (const shm::QueueRecord& queue : snapshot_.rows<shm::QueueRecord>()) {
      if (queue.name != shm::QueueName::kDevice || queue.priority != shm::Priority{}) continue;
      link.state = std::to_string(queue.depth) + " of " + std::to_string(queue.capacity) +
                   " places before them taken";
    }
    for (const shm::DeviceRecord& row : snapshot_.rows<shm::DeviceRecord>()) {
      if (row.state == shm::DeviceState::kUp) continue;
      link.because.push_back(made("device " + std::to_string(row.identity.row),
                                  std::string(word(row.state)), row.state_since));
    }
    for (const shm::WorkerRecord& row : snapshot_.rows<shm::WorkerRecord>()) {
      if (link.because.size() < kHoldersMax) link.because.push_back(worker(row));
    }
    return link;
  }

  void add_worker(WaitLink& link, shm::Index number) {
    for (const shm::WorkerRecord& row : snapshot_.rows<shm::WorkerRecord>()) {
      if (row.identity.row == number.number()) link.because.push_back(worker(row));
    }
  }
  WaitLink worker(const shm::WorkerRecord& row) {
    WaitLink link =
        made("worker " + std::to_string(row.identity.row), std::string(word(row.state)), row.since);
    if (row.state == shm::WorkerState::kIdle) {
      link.state += " (" + std::string(word(row.idle_reason)) + ")";
    } else if (row.partition.is_set()) {
      link.state += " partition " + std::to_string(row.partition.number()) + " of job " +
                    std::to_string(row.job.value);
    }
    if (row.device.is_set()) link.state += ", device " + view_.number(row.device);
    for (const shm::ThreadRecord& thread : snapshot_.rows<shm::ThreadRecord>()) {
      if (thread.worker == shm::Index::of(row.identity.row)) {
        link.because.push_back(this->thread(thread));
      }
    }
    return link;
  }
  void add_threads_of(WaitLink& link, const shm::PartitionRecord& partition) {
    if (!is_at_work(partition.stage)) return;
    for (const shm::ThreadRecord& row : snapshot_.rows<shm::ThreadRecord>()) {
      const bool has_it =
          row.job == partition.job && row.partition == shm::Index::of(partition.partition);
      if (has_it) link.because.push_back(thread(row));
    }
  }
  WaitLink thread(const shm::ThreadRecord& row) const {
    WaitLink link =
        made("thread " + view_.text(row.name.view()), view_.text(row.step.view()), row.since);
    if (row.limit_ns != 0 && link.age_ns &&
        *link.age_ns > static_cast<std::int64_t>(row.limit_ns)) {
      link.state +=
          ", longer than its limit of " + duration_text(static_cast<std::int64_t>(row.limit_ns));
    }
    return link;
  }

  const shm::JobRecord* find_job(shm::Id id) const {
    const auto& jobs = snapshot_.rows<shm::JobRecord>();
    const auto found = std::ranges::find(jobs, id, &shm::JobRecord::job);
    return found == jobs.end() ? nullptr : &*found;
  }

  const View& view_;
  const shm::Snapshot& snapshot_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> explained_;
  std::set<std::uint64_t> explained_jobs_;
  bool has_waiting_link_ = false;
};

void append_text(const WaitLink& link, unsigned depth, std::string& out) {
  out += std::string(std::size_t{2} * depth, ' ') + link.item + ": " + link.state;
  if (link.age_ns) out += ", for " + duration_text(std::max<std::int64_t>(0, *link.age_ns));
  out += '\n';
  for (const WaitLink& next : link.because) append_text(next, depth + 1, out);
}

}  // namespace

Result<WaitingItem> parse_waiting_item(std::string_view text) {
  const Error wrong(ExitCode::kUsage,
                    "'" + printable(text, Charset::kUtf8) + "' is not JOB or JOB/PARTITION");
  WaitingItem item;
  const char* end = text.data() + text.size();
  auto [stop, fault] = std::from_chars(text.data(), end, item.job);
  if (fault != std::errc()) return wrong;
  if (stop == end) return item;
  std::uint32_t partition = 0;
  if (*stop != '/') return wrong;
  const auto rest = std::from_chars(stop + 1, end, partition);
  if (rest.ec != std::errc() || rest.ptr != end) return wrong;
  item.partition = partition;
  return item;
}

std::optional<WaitLink> wait_chain(const View& view, const WaitingItem& item) {
  ChainBuilder builder(view);
  if (item.partition) {
    for (const shm::PartitionRecord& row : view.snapshot().partitions_of({item.job})) {
      if (row.partition == *item.partition) return builder.partition(row);
    }
    return std::nullopt;
  }
  for (const shm::JobRecord& row : view.snapshot().rows<shm::JobRecord>()) {
    if (row.job.value == item.job) return builder.job(row);
  }
  return std::nullopt;
}

std::string wait_chain_text(const WaitLink& chain) {
  std::string out;
  append_text(chain, 0, out);
  return out;
}

boost::json::object wait_chain_json(const WaitLink& chain) {
  boost::json::object out;
  out["item"] = chain.item;
  out["state"] = chain.state;
  out["seconds"] = nullptr;
  if (chain.age_ns) out["seconds"] = static_cast<double>(*chain.age_ns) / 1e9;
  boost::json::array because;
  for (const WaitLink& next : chain.because) because.push_back(wait_chain_json(next));
  out["because"] = std::move(because);
  return out;
}

}  // namespace vitrine::tools
