// SPDX-License-Identifier: Apache-2.0
// A snapshot, a record or an event as JSON, from the catalogue: what `--json` and
// /api/v1/snapshot show.
//
// Layout   every key of the catalogue is always there. Unknown is null: an absent Id, Index,
//          Instant, text or table of one row. Ids are strings, other integers exact numbers, enums
//          words; an Instant NAME is NAME_time (RFC 3339, UTC, ms) and NAME_age_seconds (from the
//          monotonic clock), or `time` and `age_seconds` when it is called `time`. Arrays are in
//          row order. Texts are repaired to valid UTF-8.
// Threads  any.
#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>

#include "shm/attachment.h"
#include "shm/catalogue.h"

namespace vitrine::shm {

// The envelope (schema, incarnation, seq, consistent, time, snapshot_age_seconds, engine) and one
// array or object per table named in `sections`; all tables when it is empty. Names are those of
// TableOf<Record>::kName; others are ignored. `engine` is always there.
boost::json::object to_json(const Observation& observation,
                            std::span<const std::string> sections = {});

// Members of the record whose catalogue rows are `fields`; all null when `record` is empty.
boost::json::object fields_to_json(std::span<const Field> fields, std::span<const std::byte> record,
                                   const Snapshot& clock);

template <class Record>
boost::json::object record_to_json(const Record& record, const Snapshot& clock) {
  return fields_to_json(TableOf<Record>::kFields, std::as_bytes(std::span(&record, 1)), clock);
}

// Row `index` of a table as `schema` describes it (SegmentIdentity::schema, may be null): with the
// fields that its engine adds; all null when there is no such row. `clock` tells the times, which
// need not be the snapshot itself.
template <class Record>
boost::json::object row_to_json(const Snapshot& snapshot, std::size_t index,
                                const SegmentSchema* schema, const Snapshot& clock);

boost::json::object event_to_json(const Event& event, const Snapshot& clock);

}  // namespace vitrine::shm
