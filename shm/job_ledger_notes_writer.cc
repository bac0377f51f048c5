// SPDX-License-Identifier: Apache-2.0
// What the ledger notes beside jobs: threads, limiters, settings, errors, extra fields.
#include <algorithm>
#include <array>
#include <cstring>

#include "shm/job_ledger_writer.h"
#include "shm/ledger_rules_writer.h"

namespace vitrine::shm {
namespace {

// The first row for which `fits` holds; none when there is no such row.
template <class Record, class Fits>
std::optional<std::uint32_t> find_row(Transaction& rows, Fits fits) {
  for (std::uint32_t row = 0; row < rows.capacity<Record>(); ++row) {
    if (fits(rows.peek<Record>(row))) return row;
  }
  return std::nullopt;
}

// The row that has this name, or a free one that gets it.
template <class Record>
std::optional<std::uint32_t> row_named(Transaction& rows, const Record& wanted) {
  const auto row = find_row<Record>(
      rows, [&](const Record& record) { return record.name.view() == wanted.name.view(); });
  if (row) return row;
  const auto free_row =
      find_row<Record>(rows, [](const Record& record) { return record.name.view().empty(); });
  if (free_row) rows.recycle<Record>(*free_row).name = wanted.name;
  return free_row;
}

// Bytes of the text that fit into `room`, cut at a character.
std::size_t whole_characters(std::string_view text, std::size_t room) {
  std::size_t length = std::min(text.size(), room);
  if (length == text.size()) return length;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return length;
}

LedgerError no_row_for(std::string_view what) {
  return ledger_error(LedgerCode::kFull, "no row is free for another " + std::string(what));
}
LedgerError no_name_of(std::string_view what) {
  return ledger_error(LedgerCode::kBadArgument, "a " + std::string(what) + " without a name");
}

}  // namespace

LedgerResult<std::uint32_t> JobLedger::add_thread(std::string_view name) {
  return apply([&](const Change& open) -> LedgerResult<std::uint32_t> {
    if (name.empty()) return no_name_of("thread");
    const auto row = find_row<ThreadRecord>(
        open.rows, [](const ThreadRecord& thread) { return thread.name.view().empty(); });
    if (!row) return no_row_for("thread");
    open.rows.recycle<ThreadRecord>(*row).name = name;
    return *row;
  });
}

LedgerResult<void> JobLedger::begin_step(std::uint32_t thread, std::string_view step,
                                         std::uint64_t limit_ns, std::uint64_t job) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (thread >= open.rows.capacity<ThreadRecord>() ||
        open.rows.peek<ThreadRecord>(thread).name.view().empty()) {
      return ledger_error(LedgerCode::kNoSuchItem, "no thread " + std::to_string(thread));
    }
    ThreadRecord& record = open.rows.edit<ThreadRecord>(thread);
    record.step = step;
    record.since = open.now;
    record.limit_ns = std::min(limit_ns, ~std::uint64_t{0} >> 1);
    record.job = {job};
    ++record.beats;
    return {};
  });
}

LedgerResult<void> JobLedger::remove_thread(std::uint32_t thread) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (thread >= open.rows.capacity<ThreadRecord>() ||
        open.rows.peek<ThreadRecord>(thread).name.view().empty()) {
      return ledger_error(LedgerCode::kNoSuchItem, "no thread " + std::to_string(thread));
    }
    open.rows.clear<ThreadRecord>(thread);
    return {};
  });
}

LedgerResult<void> JobLedger::set_limiter(const LimiterRecord& limiter) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (limiter.name.view().empty()) return no_name_of("limiter");
    if ((limiter.limit | limiter.used | limiter.waiting) >> 63 != 0) {
      return ledger_error(LedgerCode::kBadArgument, "a number of 2^63 or more");
    }
    const auto row = row_named(open.rows, limiter);
    if (!row) return no_row_for("limiter");
    LimiterRecord& record = open.rows.edit<LimiterRecord>(*row);
    record.limit = limiter.limit;
    record.used = limiter.used;
    record.used_peak = std::max(record.used_peak, limiter.used);
    record.waiting = limiter.waiting;
    return {};
  });
}

LedgerResult<void> JobLedger::set_setting(const SettingRecord& setting) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (setting.name.view().empty()) return no_name_of("setting");
    const auto row = row_named(open.rows, setting);
    if (!row) return no_row_for("setting");
    SettingRecord& record = open.rows.edit<SettingRecord>(*row);
    record.value = setting.value;
    record.origin = setting.origin;
    return {};
  });
}

// When every row is taken, the error that was last seen longest ago gives its row.
void JobLedger::count_error(const Change& change, FailureClass failure_class, std::string_view text,
                            std::uint64_t job) {
  const Text<160> kept(text);
  auto row = find_row<ErrorRecord>(change.rows, [&](const ErrorRecord& error) {
    return error.failure_class == failure_class && error.text.view() == kept.view() &&
           error.count != 0;
  });
  if (!row) {
    row = 0;
    for (std::uint32_t other = 0; other < change.rows.capacity<ErrorRecord>(); ++other) {
      const auto last_of = [&](std::uint32_t at) {
        return change.rows.peek<ErrorRecord>(at).last.ns;
      };
      if (last_of(other) < last_of(*row)) row = other;
    }
    ErrorRecord& fresh = change.rows.recycle<ErrorRecord>(*row);
    fresh.failure_class = failure_class;
    fresh.text = kept;
    fresh.first = change.now;
  }
  ErrorRecord& error = change.rows.edit<ErrorRecord>(*row);
  ++error.count;
  error.last = change.now;
  error.job = {job};
}

LedgerResult<void> JobLedger::note_error(FailureClass failure_class, std::string_view text,
                                         std::uint64_t job) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    if (text.empty()) return ledger_error(LedgerCode::kBadArgument, "an error without a text");
    count_error(open, failure_class, text, job);
    return {};
  });
}

// ---- Extra fields ----

LedgerResult<std::uint32_t> JobLedger::item_row(const ItemName& item) const {
  const auto numbered = [&](std::uint32_t count, const char* what) -> LedgerResult<std::uint32_t> {
    if (item.number < count) return item.number;
    return ledger_error(LedgerCode::kNoSuchItem,
                        "no " + std::string(what) + " " + std::to_string(item.number));
  };
  switch (item.table) {
    case SectionId::kEngine:
    case SectionId::kMemory:
      return 0U;
    case SectionId::kDevices:
      return numbered(devices_, "device");
    case SectionId::kWorkers:
      return numbered(workers_, "worker");
    case SectionId::kJobs:
      return job_row(item.job);
    case SectionId::kPartitions:
      return partition_row({item.job, item.number});
    default:
      return ledger_error(LedgerCode::kNoSuchItem, "that table has no fields of the engine's own");
  }
}

LedgerResult<JobLedger::FieldPlace> JobLedger::field_place(const ItemName& item,
                                                           std::string_view field,
                                                           FieldType type) const {
  std::size_t word = 0;
  for (const ExtraField& extra : extra_fields_) {
    if (extra.table != item.table) continue;
    if (extra.name == field) {
      if (extra.type == type) return FieldPlace{word, extra.size_bytes / 8};
      return ledger_error(LedgerCode::kBadArgument, extra.name + " is of another type");
    }
    word += extra.size_bytes / 8;
  }
  return ledger_error(LedgerCode::kNoSuchItem, "no field " + std::string(field) + " in that table");
}

LedgerResult<void> JobLedger::store_field(const Change& change, const ItemName& item,
                                          FieldPlace place, const std::uint64_t* words) {
  const auto row = item_row(item);
  if (!row) return row.error();
  for_each_table([&]<class Record>() {
    if (TableOf<Record>::kSection != item.table) return;
    std::copy_n(words, place.words,
                change.rows.edit_extra<Record>(*row).begin() +
                    static_cast<std::ptrdiff_t>(place.first_word));
  });
  return {};
}

LedgerResult<void> JobLedger::set_field(const ItemName& item, std::string_view field,
                                        std::uint64_t value) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto place = field_place(item, field, FieldType::kU64);
    if (!place) return place.error();
    return store_field(open, item, *place, &value);
  });
}

LedgerResult<void> JobLedger::set_field(const ItemName& item, std::string_view field,
                                        std::string_view value) {
  return apply([&](const Change& open) -> LedgerResult<void> {
    const auto place = field_place(item, field, FieldType::kText);
    if (!place) return place.error();
    std::array<std::uint64_t, kExtraBytesMax / 8> words{};
    std::copy_n(value.data(), whole_characters(value, place->words * 8),
                reinterpret_cast<char*>(words.data()));
    return store_field(open, item, *place, words.data());
  });
}

}  // namespace vitrine::shm
