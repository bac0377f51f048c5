// SPDX-License-Identifier: Apache-2.0
// A difference as text and as JSON.
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cstdio>

#include "shm/time_text.h"
#include "tools/snapshot_difference.h"

namespace vitrine::tools {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string growth_text(const FieldChange& field, double seconds) {
  std::string text =
      " (" + std::string(field.growth >= 0 ? "+" : "") + std::to_string(field.growth);
  if (field.is_counter && seconds > 0) {
    text += ", " + fixed(static_cast<double>(field.growth) / seconds, 2) + "/s";
  }
  return text + ")";
}

std::string row_name(const RowChange& row) {
  const std::string name = row.table + " row " + std::to_string(row.row);
  return row.label.empty() ? name : name + " (" + row.label + ")";
}

std::string side_text(const DifferenceSide& side) {
  return side.source + "  " + shm::rfc3339_ms(side.snapshot.taken_unix_ns()) + "  commit " +
         std::to_string(side.snapshot.commit);
}

boost::json::object side_json(const DifferenceSide& side, Charset charset) {
  return {{"source", printable(side.source, charset)},
          {"instance", printable(side.identity.instance, charset)},
          {"incarnation", side.snapshot.incarnation},
          {"time", shm::rfc3339_ms(side.snapshot.taken_unix_ns())},
          {"seq", std::to_string(side.snapshot.commit)}};
}

boost::json::object field_json(const FieldChange& field, const SnapshotDifference& difference) {
  boost::json::object out = {{"before", boost::json::parse(field.before)},
                             {"after", boost::json::parse(field.after)}};
  if (field.is_number) out["growth"] = field.growth;
  if (field.is_counter && difference.seconds > 0) {
    out["per_second"] = static_cast<double>(field.growth) / difference.seconds;
  }
  return out;
}

const char* word_of(RowChange::Kind kind) {
  switch (kind) {
    case RowChange::Kind::kAdded:
      return "added";
    case RowChange::Kind::kRemoved:
      return "removed";
    case RowChange::Kind::kChanged:
      break;
  }
  return "changed";
}

}  // namespace

std::string difference_text(const DifferenceSide& before, const DifferenceSide& after,
                            const SnapshotDifference& difference, Charset charset) {
  std::string out = "from  " + printable(side_text(before), charset) + "\nto    " +
                    printable(side_text(after), charset) + "\n";
  out += fixed(difference.seconds, 3) + " s apart";
  if (difference.is_same_incarnation) {
    out += ", " + std::to_string(difference.events) + " events\n";
  } else {
    out += ", two incarnations: counters began again, no row is the same\n";
  }
  for (const RowChange& row : difference.rows) {
    const bool is_change = row.kind == RowChange::Kind::kChanged;
    out += is_change ? "  " : row.kind == RowChange::Kind::kAdded ? "+ " : "- ";
    out += printable(row_name(row), charset) + "\n";
    for (const FieldChange& field : row.fields) {
      out += "    " + field.name + "  " + printable(field.before, charset) + " -> " +
             printable(field.after, charset);
      out += field.is_number ? growth_text(field, difference.seconds) + "\n" : "\n";
    }
  }
  if (difference.rows.empty()) out += "nothing changed\n";
  return out;
}

boost::json::object difference_json(const DifferenceSide& before, const DifferenceSide& after,
                                    const SnapshotDifference& difference) {
  boost::json::array rows;
  for (const RowChange& row : difference.rows) {
    boost::json::object one = {{"table", row.table},
                               {"row", row.row},
                               {"change", word_of(row.kind)},
                               {"label", printable(row.label, Charset::kUtf8)}};
    if (row.kind == RowChange::Kind::kChanged) {
      boost::json::object fields;
      for (const FieldChange& field : row.fields) {
        fields[field.name] = field_json(field, difference);
      }
      one["fields"] = std::move(fields);
    }
    rows.push_back(std::move(one));
  }
  return {{"schema", "vitrine.diff.1"},
          {"before", side_json(before, Charset::kUtf8)},
          {"after", side_json(after, Charset::kUtf8)},
          {"same_incarnation", difference.is_same_incarnation},
          {"seconds", difference.seconds},
          {"events", difference.events},
          {"rows", std::move(rows)}};
}

}  // namespace vitrine::tools
