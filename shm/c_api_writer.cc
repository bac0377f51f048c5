// SPDX-License-Identifier: Apache-2.0
// The writer's half of shm/vitrine.h: each function says what it means to the ledger.
#include "shm/c_api_writer.h"

#include "shm/c_api_texts.h"

using namespace vitrine::shm;

namespace {

static_assert(VITRINE_PRIORITY_CRITICAL == static_cast<int>(Priority::kCritical));
static_assert(VITRINE_WAIT_PAUSED == static_cast<int>(WaitReason::kPaused));
static_assert(VITRINE_INTERNAL == static_cast<int>(FailureClass::kInternal));
static_assert(VITRINE_DEVICE_CUDA == static_cast<int>(Backend::kCuda));
static_assert(VITRINE_DEVICE_LOST == static_cast<int>(DeviceState::kLost));
static_assert(VITRINE_STAGE_FINAL == static_cast<int>(StageClass::kFinal));

int code_of(LedgerCode code) {
  switch (code) {
    case LedgerCode::kBadArgument:
      return VITRINE_BAD_ARGUMENT;
    case LedgerCode::kNoSuchItem:
      return VITRINE_NO_SUCH_ITEM;
    case LedgerCode::kExists:
      return VITRINE_EXISTS;
    case LedgerCode::kWrongOrder:
      return VITRINE_WRONG_ORDER;
    case LedgerCode::kFull:
      return VITRINE_FULL;
    case LedgerCode::kOverBudget:
      return VITRINE_OVER_BUDGET;
    case LedgerCode::kBusy:
      return VITRINE_BUSY;
    case LedgerCode::kSystem:
      break;
  }
  return VITRINE_SYSTEM;
}

int note(vitrine_writer& writer, const LedgerError& error) {
  const std::lock_guard lock(writer.error_mutex);
  writer.error = error.text;
  return code_of(error.code);
}

LedgerError bad(const char* text) { return {LedgerCode::kBadArgument, text}; }

// Runs body(ledger); the code of its result.
template <class Body>
int call(vitrine_writer* writer, Body body) noexcept {
  if (writer == nullptr) return VITRINE_BAD_ARGUMENT;
  return without_exceptions([&]() -> int {
    const auto result = body(*writer->ledger);
    return result ? VITRINE_OK : note(*writer, result.error());
  });
}

// The same for a result with a number, which goes to `out`.
template <class Number, class Body>
int call_for(vitrine_writer* writer, Number* out, Body body) noexcept {
  return call(writer, [&](JobLedger& ledger) {
    auto result = body(ledger);
    if (result && out != nullptr) *out = *result;
    return result;
  });
}

bool is_failure(std::uint32_t failure) {
  return failure >= VITRINE_BAD_INPUT && failure <= VITRINE_INTERNAL;
}
bool is_reason(std::uint32_t reason) {
  return reason >= VITRINE_WAIT_MEMORY && reason <= VITRINE_WAIT_PAUSED;
}

LedgerResult<void> end_job(JobLedger& ledger, std::uint64_t job, const JobEnd& end) {
  if (end.state != JobState::kDone && !is_failure(static_cast<std::uint32_t>(end.failure_class))) {
    return bad("no such failure");
  }
  return ledger.end(job, end);
}

LedgerResult<Consumer> consumer_of(const vitrine_consumer* given) {
  if (given == nullptr) return bad("no consumer");
  Consumer consumer;
  consumer.name = given_text(given->name);
  switch (given->kind) {
    case VITRINE_CONSUMER_POINTS:
      consumer.kind = AllocationKind::kSrs;
      return consumer;
    case VITRINE_CONSUMER_MATRICES:
      consumer.kind = AllocationKind::kPce;
      return consumer;
    case VITRINE_CONSUMER_PARTITION:
      consumer.partition = {given->job, given->partition};
      return consumer;
    default:
      return bad("no such kind of consumer");
  }
}

LedgerResult<ItemName> item_of(const vitrine_item* given) {
  if (given == nullptr) return bad("no item");
  return ItemName{table_named(given_text(given->table)), given->job, given->number};
}

}  // namespace

extern "C" {

void vitrine_close(vitrine_writer* writer, uint32_t exit_code) {
  if (writer == nullptr) return;
  without_exceptions([&] {
    writer->ledger->close(exit_code);
    if (writer->removes_at_close) writer->ledger->unlink_name();
    return VITRINE_OK;
  });
  delete writer;
}

int vitrine_is_shared(const vitrine_writer* writer) {
  return writer != nullptr && writer->ledger->is_shared() ? 1 : 0;
}

size_t vitrine_writer_path(const vitrine_writer* writer, char* out, size_t size) {
  return copy_out(writer == nullptr ? "" : writer->ledger->path().native(), out, size);
}

size_t vitrine_writer_error(const vitrine_writer* writer, char* out, size_t size) {
  if (writer == nullptr) return copy_out("no writer", out, size);
  const std::lock_guard lock(writer->error_mutex);
  return copy_out(writer->error, out, size);
}

int vitrine_beat(vitrine_writer* writer) {
  return call(writer, [](JobLedger& ledger) { return ledger.beat(); });
}

int vitrine_ready(vitrine_writer* writer) {
  return call(writer, [](JobLedger& ledger) -> LedgerResult<void> {
    ledger.set_life(EngineLife::kReady, "");
    return {};
  });
}

int vitrine_degraded(vitrine_writer* writer, const char* reason) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    if (given_text(reason).empty()) return bad("degraded without a reason");
    ledger.set_life(EngineLife::kDegraded, given_text(reason));
    return {};
  });
}

int vitrine_draining(vitrine_writer* writer) {
  return call(writer, [](JobLedger& ledger) -> LedgerResult<void> {
    ledger.set_life(EngineLife::kDraining, "");
    return {};
  });
}

int vitrine_device_add(vitrine_writer* writer, uint32_t kind, const char* name, uint32_t threads,
                       uint32_t* device) {
  return call_for(writer, device, [&](JobLedger& ledger) -> LedgerResult<std::uint32_t> {
    if (kind != VITRINE_DEVICE_CPU && kind != VITRINE_DEVICE_CUDA) return bad("no such kind");
    return ledger.add_device(Backend{kind}, given_text(name), threads);
  });
}

int vitrine_device_set_state(vitrine_writer* writer, uint32_t device, uint32_t state) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    if (state < VITRINE_DEVICE_UP || state > VITRINE_DEVICE_LOST) return bad("no such state");
    return ledger.set_device_state(device, DeviceState{state});
  });
}

int vitrine_worker_add(vitrine_writer* writer, uint32_t device, uint32_t* worker) {
  return call_for(writer, worker, [&](JobLedger& ledger) { return ledger.add_worker(device); });
}

int vitrine_job_submit(vitrine_writer* writer, const vitrine_job* job, uint64_t* number) {
  return call_for(writer, number, [&](JobLedger& ledger) -> LedgerResult<std::uint64_t> {
    vitrine_job given;
    if (!read_sized(job, given)) return bad("a job without a size");
    if (given.priority > VITRINE_PRIORITY_CRITICAL) return bad("no such priority");
    constexpr std::uint64_t kDeadlineNsMax = std::uint64_t{1} << 60;
    JobTicket ticket;
    ticket.id = given.job;
    ticket.circuit = given_text(given.circuit);
    ticket.proof_kind = given_text(given.proof_kind);
    if (ticket.proof_kind.empty()) ticket.proof_kind = "proof";
    ticket.request = given_text(given.request);
    ticket.partitions = given.partitions;
    if (given.priority != 0) ticket.priority = Priority{given.priority};
    ticket.deadline_in_ns = std::min(given.deadline_in_ns, kDeadlineNsMax);
    return ledger.submit(ticket);
  });
}

int vitrine_job_wait(vitrine_writer* writer, uint64_t job, uint32_t reason, uint64_t needs_bytes,
                     uint64_t available_bytes) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    if (!is_reason(reason)) return bad("no such reason to wait");
    return ledger.wait(job, Wait{WaitReason{reason}, needs_bytes, available_bytes});
  });
}

int vitrine_job_admit(vitrine_writer* writer, uint64_t job) {
  return call(writer, [&](JobLedger& ledger) { return ledger.admit(job); });
}

int vitrine_partition_stage(vitrine_writer* writer, uint64_t job, uint32_t partition,
                            uint32_t stage, uint32_t worker) {
  return call(writer, [&](JobLedger& ledger) {
    const auto wanted = worker == VITRINE_NONE ? std::nullopt : std::optional(worker);
    return ledger.enter_stage({job, partition}, stage, wanted);
  });
}

int vitrine_partition_wait(vitrine_writer* writer, uint64_t job, uint32_t partition,
                           uint32_t reason, uint64_t needs_bytes) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    if (!is_reason(reason)) return bad("no such reason to wait");
    return ledger.wait(PartitionName{job, partition}, Wait{WaitReason{reason}, needs_bytes, 0});
  });
}

int vitrine_partition_again(vitrine_writer* writer, uint64_t job, uint32_t partition) {
  return call(writer, [&](JobLedger& ledger) { return ledger.begin_again({job, partition}); });
}

int vitrine_partition_done(vitrine_writer* writer, uint64_t job, uint32_t partition) {
  return call(writer, [&](JobLedger& ledger) {
    return ledger.end(PartitionName{job, partition}, PartitionStage::kDone, FailureClass::kNone);
  });
}

int vitrine_partition_failed(vitrine_writer* writer, uint64_t job, uint32_t partition,
                             uint32_t failure) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    if (!is_failure(failure)) return bad("no such failure");
    return ledger.end(PartitionName{job, partition}, PartitionStage::kFailed,
                      FailureClass{failure});
  });
}

int vitrine_job_done(vitrine_writer* writer, uint64_t job) {
  return call(writer, [&](JobLedger& ledger) {
    return end_job(ledger, job, {JobState::kDone, {}, {}});
  });
}

int vitrine_job_failed(vitrine_writer* writer, uint64_t job, uint32_t failure, const char* text) {
  return call(writer, [&](JobLedger& ledger) {
    return end_job(ledger, job, {JobState::kFailed, FailureClass{failure}, given_text(text)});
  });
}

int vitrine_job_cancelled(vitrine_writer* writer, uint64_t job) {
  return call(writer, [&](JobLedger& ledger) {
    return end_job(ledger, job, {JobState::kCancelled, FailureClass::kCancelled, {}});
  });
}

int vitrine_job_refused(vitrine_writer* writer, uint64_t job, uint32_t failure, const char* text) {
  return call(writer, [&](JobLedger& ledger) {
    return end_job(ledger, job, {JobState::kRefused, FailureClass{failure}, given_text(text)});
  });
}

int vitrine_job_lost(vitrine_writer* writer, uint64_t job, const char* text) {
  return call(writer, [&](JobLedger& ledger) {
    return end_job(ledger, job, {JobState::kLost, FailureClass::kLost, given_text(text)});
  });
}

int vitrine_memory_budget(vitrine_writer* writer, uint64_t bytes) {
  return call(writer, [&](JobLedger& ledger) { return ledger.set_budget(bytes); });
}

int vitrine_memory_reserve(vitrine_writer* writer, const vitrine_consumer* consumer,
                           uint64_t bytes) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    const auto named = consumer_of(consumer);
    if (!named) return named.error();
    return ledger.reserve(*named, bytes);
  });
}

int vitrine_memory_release(vitrine_writer* writer, const vitrine_consumer* consumer,
                           uint64_t bytes) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    const auto named = consumer_of(consumer);
    if (!named) return named.error();
    return ledger.release(*named, bytes);
  });
}

int vitrine_memory_resident(vitrine_writer* writer, uint64_t bytes) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    ledger.set_resident(bytes);
    return {};
  });
}

int vitrine_thread_add(vitrine_writer* writer, const char* name, uint32_t* thread) {
  return call_for(writer, thread,
                  [&](JobLedger& ledger) { return ledger.add_thread(given_text(name)); });
}

int vitrine_thread_step(vitrine_writer* writer, uint32_t thread, const char* step,
                        uint64_t limit_ns, uint64_t job) {
  return call(writer, [&](JobLedger& ledger) {
    return ledger.begin_step(thread, given_text(step), limit_ns, job);
  });
}

int vitrine_thread_remove(vitrine_writer* writer, uint32_t thread) {
  return call(writer, [&](JobLedger& ledger) { return ledger.remove_thread(thread); });
}

int vitrine_limiter_set(vitrine_writer* writer, const char* name, uint64_t limit, uint64_t used,
                        uint64_t waiting) {
  return call(writer, [&](JobLedger& ledger) {
    LimiterRecord limiter;
    limiter.name = given_text(name);
    limiter.limit = limit;
    limiter.used = used;
    limiter.waiting = waiting;
    return ledger.set_limiter(limiter);
  });
}

int vitrine_setting_set(vitrine_writer* writer, const char* name, const char* value,
                        const char* origin) {
  return call(writer, [&](JobLedger& ledger) {
    SettingRecord setting;
    setting.name = given_text(name);
    setting.value = given_text(value);
    setting.origin = given_text(origin);
    return ledger.set_setting(setting);
  });
}

int vitrine_error_note(vitrine_writer* writer, uint32_t failure, const char* text, uint64_t job) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    if (!is_failure(failure)) return bad("no such failure");
    return ledger.note_error(FailureClass{failure}, given_text(text), job);
  });
}

int vitrine_field_set_u64(vitrine_writer* writer, const vitrine_item* item, const char* field,
                          uint64_t value) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    const auto named = item_of(item);
    if (!named) return named.error();
    return ledger.set_field(*named, given_text(field), value);
  });
}

int vitrine_field_set_text(vitrine_writer* writer, const vitrine_item* item, const char* field,
                           const char* value) {
  return call(writer, [&](JobLedger& ledger) -> LedgerResult<void> {
    const auto named = item_of(item);
    if (!named) return named.error();
    return ledger.set_field(*named, given_text(field), given_text(value));
  });
}

}  // extern "C"
