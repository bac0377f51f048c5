// SPDX-License-Identifier: Apache-2.0
// The ledger's beginning and end, its life, devices and workers, and its memory.
#include "shm/job_ledger_writer.h"

#include <algorithm>
#include <numeric>

#include "shm/clock.h"

namespace vitrine::shm {
namespace {

constexpr std::uint64_t kSampleEveryNs = 1'000'000'000;

std::vector<std::uint32_t> all_rows(std::uint32_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.rbegin(), rows.rend(), 0U);  // the lowest is taken first
  return rows;
}

std::vector<LedgerStage> standard_stages() {
  return {{"", StageClass::kWaiting},
          {"", StageClass::kCpu},
          {"", StageClass::kWaiting},
          {"", StageClass::kDevice},
          {"", StageClass::kFinishing}};
}

}  // namespace

JobLedger::JobLedger(SegmentWriter writer, const SegmentOptions& options,
                     std::vector<LedgerStage> stages)
    : writer_(std::move(writer)),
      extra_fields_(options.extra_fields),
      stages_(stages.empty() ? standard_stages() : std::move(stages)),
      books_(options.capacity.jobs),
      stage_since_ns_(options.capacity.partitions),
      free_jobs_(all_rows(options.capacity.jobs)),
      free_partitions_(all_rows(options.capacity.partitions)) {
  job_rows_.reserve(options.capacity.jobs);
  jobs_in_hand_.reserve(options.capacity.jobs);
  finished_jobs_.reserve(options.capacity.jobs);
  apply([this](const Change& open) -> LedgerResult<void> {
    open.rows.edit<EngineRecord>().started = open.now;
    open.rows.edit<MemoryRecord>();
    open.rows.edit<BuffersRecord>();
    append(open, Event{}, EventType::kStart);
    return {};
  }).value();
}

Instant JobLedger::now() { return Instant{monotonic_ns()}; }

void JobLedger::append(const Change& change, Event event, EventType type) {
  event.type = type;
  event.time = change.now;
  change.rows.append(event);
}

LedgerResult<void> JobLedger::beat() {
  const std::lock_guard lock(beat_mutex_);
  writer_.beat();
  const std::uint64_t now_ns = now().ns;
  if (now_ns - sampled_ns_ < kSampleEveryNs) return {};
  sampled_ns_ = now_ns;
  apply([this](const Change& open) -> LedgerResult<void> {
    open.rows.append(history_of(open));
    return {};
  }).value();
  const bool is_sound = !writer_.is_name_lost() && !writer_.is_damaged();
  if (is_sound && !writer_.are_rows_damaged(mutex_)) return {};
  const Result<void> again = writer_.publish_again(mutex_);
  if (!again) return LedgerError{LedgerCode::kSystem, again.error().text};
  return {};
}

IdleReason JobLedger::idle_reason() const {
  if (life_ == EngineLife::kStarting) return IdleReason::kStarting;
  return life_ == EngineLife::kDraining ? IdleReason::kDraining : IdleReason::kNoWork;
}

void JobLedger::set_life(EngineLife life, std::string_view degraded_reason) {
  apply([&](const Change& open) -> LedgerResult<void> {
    const bool begins_to_drain = life == EngineLife::kDraining && life_ != EngineLife::kDraining;
    life_ = life;
    open.rows.edit<EngineRecord>().degraded_reason = degraded_reason;
    for (std::uint32_t row = 0; row < workers_; ++row) {
      if (open.rows.peek<WorkerRecord>(row).state != WorkerState::kIdle) continue;
      open.rows.edit<WorkerRecord>(row).idle_reason = idle_reason();
    }
    if (begins_to_drain) append(open, Event{}, EventType::kDrain);
    writer_.set_life(life, 0);
    return {};
  }).value();
}

void JobLedger::close(std::uint32_t exit_code) {
  apply([&](const Change& open) -> LedgerResult<void> {
    Event event;
    event.argument = exit_code;
    append(open, event, EventType::kStop);
    return {};
  }).value();
  writer_.set_life(EngineLife::kClosed, exit_code);
}

LedgerResult<std::uint32_t> JobLedger::add_device(Backend kind, std::string_view name,
                                                  std::uint32_t threads) {
  return apply([&](const Change& open) -> LedgerResult<std::uint32_t> {
    if (devices_ == open.rows.capacity<DeviceRecord>()) {
      return LedgerError{LedgerCode::kFull, "no row is free for another device"};
    }
    DeviceRecord& device = open.rows.recycle<DeviceRecord>(devices_);
    device.kind = kind;
    device.state = DeviceState::kUp;
    device.name = name;
    device.threads = threads;
    device.state_since = open.now;
    EngineRecord& engine = open.rows.edit<EngineRecord>();
    // The engine's backend is the best of its devices.
    engine.effective_backend = std::max(engine.effective_backend, kind);
    engine.requested_backend = engine.effective_backend;
    return devices_++;
  });
}

LedgerResult<void> JobLedger::set_device_state(std::uint32_t device, DeviceState state) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (device >= devices_) {
      return LedgerError{LedgerCode::kNoSuchItem, "no device " + std::to_string(device)};
    }
    DeviceRecord& record = open.rows.edit<DeviceRecord>(device);
    if (record.state != state) record.state_since = open.now;
    record.state = state;
    return {};
  });
}

LedgerResult<std::uint32_t> JobLedger::add_worker(std::uint32_t device) {
  return apply([&](const Change& open) -> LedgerResult<std::uint32_t> {
    if (device >= devices_) {
      return LedgerError{LedgerCode::kNoSuchItem, "no device " + std::to_string(device)};
    }
    if (workers_ == open.rows.capacity<WorkerRecord>()) {
      return LedgerError{LedgerCode::kFull, "no row is free for another worker"};
    }
    WorkerRecord& worker = open.rows.recycle<WorkerRecord>(workers_);
    worker.state = WorkerState::kIdle;
    worker.idle_reason = idle_reason();
    worker.device = Index::of(device);
    worker.since = open.now;
    ++open.rows.edit<DeviceRecord>(device).workers;
    ++open.rows.edit<EngineRecord>().workers;
    return workers_++;
  });
}

// ---- Memory ----

LedgerResult<void> JobLedger::set_budget(std::uint64_t bytes) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const std::uint64_t reserved = open.rows.peek<MemoryRecord>().reserved_bytes;
    if (bytes < reserved || bytes >> 63 != 0) {
      return LedgerError{LedgerCode::kBadArgument, "a budget of " + std::to_string(bytes) +
                                                       " bytes, of which " +
                                                       std::to_string(reserved) + " are reserved"};
    }
    open.rows.edit<MemoryRecord>().budget_bytes = bytes;
    return {};
  });
}

void JobLedger::set_resident(std::uint64_t bytes) {
  apply([&](const Change& open) -> LedgerResult<void> {
    open.rows.edit<MemoryRecord>().resident_bytes = bytes & ~(std::uint64_t{1} << 63);
    return {};
  }).value();
}

void JobLedger::change_reserved(const Change& change, std::uint64_t MemoryRecord::*consumer,
                                std::int64_t bytes) {
  MemoryRecord& memory = change.rows.edit<MemoryRecord>();
  memory.*consumer += static_cast<std::uint64_t>(bytes);
  memory.reserved_bytes += static_cast<std::uint64_t>(bytes);
  memory.reserved_peak_bytes = std::max(memory.reserved_peak_bytes, memory.reserved_bytes);
}

LedgerResult<void> JobLedger::reserve(const Consumer& consumer, std::uint64_t bytes) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const MemoryRecord& memory = open.rows.peek<MemoryRecord>();
    const std::uint64_t left = memory.budget_bytes - memory.reserved_bytes;
    if (bytes > left) {
      return LedgerError{LedgerCode::kOverBudget, std::to_string(bytes) + " bytes asked, " +
                                                      std::to_string(left) + " left of " +
                                                      std::to_string(memory.budget_bytes)};
    }
    if (consumer.kind != AllocationKind::kUnknown) return reserve_cache(open, consumer, bytes);
    const auto row = live_partition_row(open, consumer.partition);
    if (!row) return row.error();
    open.rows.edit<PartitionRecord>(*row).reserved_bytes += bytes;
    change_reserved(open, &MemoryRecord::working_bytes, static_cast<std::int64_t>(bytes));
    return {};
  });
}

LedgerResult<void> JobLedger::release(const Consumer& consumer, std::uint64_t bytes) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (consumer.kind != AllocationKind::kUnknown) return release_cache(open, consumer, bytes);
    const auto row = live_partition_row(open, consumer.partition);
    if (!row) return row.error();
    const std::uint64_t held = open.rows.peek<PartitionRecord>(*row).reserved_bytes;
    if (bytes > held) {
      return LedgerError{LedgerCode::kBadArgument, "gives back " + std::to_string(bytes) +
                                                       " bytes but has " + std::to_string(held)};
    }
    open.rows.edit<PartitionRecord>(*row).reserved_bytes -= bytes;
    change_reserved(open, &MemoryRecord::working_bytes, -static_cast<std::int64_t>(bytes));
    return {};
  });
}

std::optional<std::uint32_t> JobLedger::allocation_row(const Change& change,
                                                       const Consumer& consumer) const {
  const Text<32> name(consumer.name);
  for (std::uint32_t row = 0; row < change.rows.capacity<AllocationRecord>(); ++row) {
    const AllocationRecord& allocation = change.rows.peek<AllocationRecord>(row);
    if (allocation.kind == consumer.kind && allocation.circuit.view() == name.view()) return row;
  }
  return std::nullopt;
}

namespace {

std::uint64_t MemoryRecord::*bytes_of(AllocationKind kind) {
  return kind == AllocationKind::kSrs ? &MemoryRecord::srs_bytes : &MemoryRecord::pce_bytes;
}

}  // namespace

LedgerResult<void> JobLedger::reserve_cache(const Change& change, const Consumer& consumer,
                                            std::uint64_t bytes) {
  if (consumer.name.empty()) {
    return LedgerError{LedgerCode::kBadArgument, "a cache that takes bytes has no name"};
  }
  auto row = allocation_row(change, consumer);
  if (!row) {
    // A free row has neither kind nor name.
    row = allocation_row(change, Consumer{});
    if (!row) return LedgerError{LedgerCode::kFull, "no row is free for another cache"};
    AllocationRecord& fresh = change.rows.recycle<AllocationRecord>(*row);
    fresh.kind = consumer.kind;
    fresh.circuit = consumer.name;
    fresh.state = AllocationState::kReady;
    fresh.state_since = change.now;
    fresh.loads = 1;
    Event event;
    event.argument = bytes;
    append(change, event, EventType::kLoaded);
  }
  AllocationRecord& allocation = change.rows.edit<AllocationRecord>(*row);
  allocation.reserved_bytes += bytes;
  allocation.loaded_bytes = allocation.total_bytes = allocation.reserved_bytes;
  allocation.last_used = change.now;
  change_reserved(change, bytes_of(consumer.kind), static_cast<std::int64_t>(bytes));
  return {};
}

LedgerResult<void> JobLedger::release_cache(const Change& change, const Consumer& consumer,
                                            std::uint64_t bytes) {
  const auto row = allocation_row(change, consumer);
  if (!row || consumer.name.empty()) {
    return LedgerError{LedgerCode::kNoSuchItem,
                       "no cache " + std::string(consumer.name) + " has any bytes"};
  }
  const std::uint64_t held = change.rows.peek<AllocationRecord>(*row).reserved_bytes;
  if (bytes > held) {
    return LedgerError{LedgerCode::kBadArgument, "gives back " + std::to_string(bytes) +
                                                     " bytes but has " + std::to_string(held)};
  }
  AllocationRecord& allocation = change.rows.edit<AllocationRecord>(*row);
  allocation.reserved_bytes -= bytes;
  allocation.loaded_bytes = allocation.total_bytes = allocation.reserved_bytes;
  change_reserved(change, bytes_of(consumer.kind), -static_cast<std::int64_t>(bytes));
  if (allocation.reserved_bytes != 0) return {};
  change.rows.clear<AllocationRecord>(*row);
  Event event;
  event.argument = held;
  append(change, event, EventType::kEvict);
  return {};
}

}  // namespace vitrine::shm
