// SPDX-License-Identifier: Apache-2.0
// The reader's half of shm/vitrine.h: attach, look, verdict, events, history.
#include <memory>
#include <mutex>
#include <string>

#include "shm/c_api_snapshot.h"
#include "shm/c_api_texts.h"

using namespace vitrine::shm;

struct vitrine_reader {
  explicit vitrine_reader(Target target) : attachment(std::move(target)) {}

  std::mutex mutex;  // one call at a time
  Attachment attachment;
  std::string error;  // of the last call that failed, one line
};

namespace {

static_assert(VITRINE_VERDICT_IDLE == static_cast<int>(VerdictWord::kIdle));

int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kAbsent:
      return VITRINE_ABSENT;
    case ErrorKind::kUnreadable:
      return VITRINE_UNREADABLE;
    case ErrorKind::kCorrupt:
      return VITRINE_CORRUPT;
    case ErrorKind::kUnsupported:
      return VITRINE_UNSUPPORTED;
    case ErrorKind::kInUse:
      return VITRINE_IN_USE;
    case ErrorKind::kSystem:
      break;
  }
  return VITRINE_SYSTEM;
}

// The reader's error, kept for vitrine_reader_error().
int note(vitrine_reader& reader, const Error& error) {
  reader.error = error.text;
  return code_of(error.kind);
}

int note_no_segment(vitrine_reader& reader) {
  return note(reader, {ErrorKind::kAbsent, "no segment was attached; look first"});
}

int make_reader(const vitrine_target* given, vitrine_reader*& out, std::string& error) {
  vitrine_target wanted;
  if (!read_sized(given, wanted)) {
    error = "target: no size";
    return VITRINE_BAD_ARGUMENT;
  }
  Target target;
  const std::string_view instance = given_text(wanted.instance);
  if (!instance.empty()) target.instance = instance;
  if (!is_instance_name(target.instance)) {
    error = "instance " + target.instance + ": not of the form [a-z0-9_][a-z0-9_-]{0,31}";
    return VITRINE_BAD_ARGUMENT;
  }
  if (!given_text(wanted.path).empty()) target.path = given_text(wanted.path);
  if (!given_text(wanted.file).empty()) target.file = given_text(wanted.file);
  target.options.any_filesystem = wanted.any_filesystem != 0;
  if (wanted.owner_plus_one != 0) target.options.owner = wanted.owner_plus_one - 1;
  out = new vitrine_reader(std::move(target));
  return VITRINE_OK;
}

std::uint32_t number_or_none(Index index) { return index.is_set() ? index.number() : VITRINE_NONE; }

vitrine_event event_of(const Event& event) {
  return {.stamp = event.stamp,
          .sequence = event.sequence,
          .time_ns = event.time.ns,
          .job = event.job.value,
          .type = static_cast<std::uint32_t>(event.type),
          .attempt = event.attempt,
          .partition = number_or_none(event.partition),
          .worker = number_or_none(event.worker),
          .device = number_or_none(event.device),
          .reserved = 0,
          .argument = event.argument};
}

vitrine_sample sample_of(const HistorySample& sample) {
  return {.stamp = sample.stamp,
          .sequence = sample.sequence,
          .time_ns = sample.time.ns,
          .jobs_waiting = sample.jobs_waiting,
          .jobs_active = sample.jobs_active,
          .partitions_pending = sample.partitions_pending,
          .partitions_synthesizing = sample.partitions_synthesizing,
          .partitions_gpu_queued = sample.partitions_gpu_queued,
          .partitions_on_device = sample.partitions_on_device,
          .workers = sample.workers,
          .memory_waiters = sample.memory_waiters,
          .reserved_bytes = sample.reserved_bytes,
          .resident_bytes = sample.resident_bytes,
          .busy_ns = sample.busy_ns,
          .jobs_done = sample.jobs_done,
          .jobs_failed = sample.jobs_failed,
          .jobs_refused = sample.jobs_refused,
          .partitions_done = sample.partitions_done,
          .partitions_failed = sample.partitions_failed};
}

// Calls body(the attached segment) under the reader's mutex.
template <class Body>
std::int64_t with_segment(vitrine_reader* reader, Body body) noexcept {
  if (reader == nullptr) return VITRINE_BAD_ARGUMENT;
  return without_exceptions([&]() -> std::int64_t {
    const std::lock_guard lock(reader->mutex);
    SegmentReader* segment = reader->attachment.reader();
    return segment == nullptr ? note_no_segment(*reader) : body(*segment);
  });
}

}  // namespace

extern "C" {

int vitrine_attach(const vitrine_target* target, vitrine_reader** reader, char* error,
                   size_t error_size) {
  copy_out("", error, error_size);
  if (reader == nullptr) return VITRINE_BAD_ARGUMENT;
  *reader = nullptr;
  return without_exceptions([&] {
    std::string text;
    const int code = make_reader(target, *reader, text);
    copy_out(text, error, error_size);
    return code;
  });
}

void vitrine_detach(vitrine_reader* reader) { delete reader; }

size_t vitrine_reader_error(vitrine_reader* reader, char* out, size_t size) {
  if (reader == nullptr) return copy_out("no reader", out, size);
  const std::lock_guard lock(reader->mutex);
  return copy_out(reader->error, out, size);
}

int vitrine_look(vitrine_reader* reader, vitrine_snapshot** snapshot) {
  if (snapshot == nullptr) return VITRINE_BAD_ARGUMENT;
  *snapshot = nullptr;
  if (reader == nullptr) return VITRINE_BAD_ARGUMENT;
  return without_exceptions([&] {
    const std::lock_guard lock(reader->mutex);
    auto taken = std::make_unique<vitrine_snapshot>();
    taken->observation = reader->attachment.observe();
    const auto& error = taken->observation.error;
    const int code = error ? note(*reader, *error) : VITRINE_OK;
    *snapshot = taken.release();
    return code;
  });
}

void vitrine_snapshot_free(vitrine_snapshot* snapshot) { delete snapshot; }

int vitrine_verdict(const vitrine_snapshot* snapshot) {
  if (snapshot == nullptr) return VITRINE_VERDICT_UNREADABLE;
  return static_cast<int>(snapshot->observation.verdict.word);
}

const char* vitrine_verdict_reason(const vitrine_snapshot* snapshot) {
  return snapshot == nullptr ? "no snapshot" : snapshot->observation.verdict.reason.c_str();
}

int vitrine_exit_code(const vitrine_snapshot* snapshot) {
  constexpr int kUsage = 2;
  return snapshot == nullptr ? kUsage : exit_code_of(snapshot->observation);
}

uint64_t vitrine_commit(const vitrine_snapshot* snapshot) {
  const bool is_read = snapshot != nullptr && snapshot->observation.snapshot;
  return is_read ? snapshot->observation.snapshot->commit : 0;
}

int vitrine_is_consistent(const vitrine_snapshot* snapshot) {
  const bool is_read = snapshot != nullptr && snapshot->observation.snapshot;
  return is_read && snapshot->observation.snapshot->consistent ? 1 : 0;
}

const char* vitrine_incarnation(const vitrine_snapshot* snapshot) {
  const bool is_read = snapshot != nullptr && snapshot->observation.snapshot;
  return is_read ? snapshot->observation.snapshot->incarnation.c_str() : "";
}

uint64_t vitrine_last_event(const vitrine_snapshot* snapshot) {
  const bool is_read = snapshot != nullptr && snapshot->observation.snapshot;
  return is_read ? snapshot->observation.snapshot->last_event_sequence : 0;
}

int64_t vitrine_events_after(vitrine_reader* reader, uint64_t sequence, vitrine_event* events,
                             size_t capacity, uint64_t* missed) {
  if (events == nullptr || capacity == 0) return VITRINE_BAD_ARGUMENT;
  return with_segment(reader, [&](SegmentReader& segment) -> std::int64_t {
    const Result<EventBatch> batch = segment.events_after(sequence, capacity);
    if (!batch) return note(*reader, batch.error());
    for (std::size_t i = 0; i < batch->events.size(); ++i) events[i] = event_of(batch->events[i]);
    if (missed != nullptr) *missed = batch->missed;
    return static_cast<std::int64_t>(batch->events.size());
  });
}

int64_t vitrine_history(vitrine_reader* reader, vitrine_sample* samples, size_t capacity) {
  if (samples == nullptr || capacity == 0) return VITRINE_BAD_ARGUMENT;
  return with_segment(reader, [&](SegmentReader& segment) -> std::int64_t {
    const auto history = segment.history();
    if (!history) return note(*reader, history.error());
    const std::size_t count = std::min(capacity, history->size());
    const std::size_t first = history->size() - count;
    for (std::size_t i = 0; i < count; ++i) samples[i] = sample_of((*history)[first + i]);
    return static_cast<std::int64_t>(count);
  });
}

}  // extern "C"
