// SPDX-License-Identifier: Apache-2.0
// SegmentSchema: what a segment's schema text says beyond the catalogue of this program: fields
// that an engine added, and tables and fields of a newer version.
//
// Reader   the text is untrusted: whatever it says is checked against the layout of its segment; an
//          entry that does not fit is left out, since the rest of the segment can still be shown.
// Threads  any, once made.
#pragma once

#include <boost/json/value.hpp>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shm/field.h"
#include "shm/segment_layout_check.h"

namespace vitrine::shm {

class SegmentSchema {
 public:
  struct Table {
    SectionId id{};
    std::string_view name;
    std::vector<Field> fields;  // offsets as in the segment
    std::vector<Field> own;     // the catalogue's fields, with the words of the segment
    std::uint32_t own_bytes;    // how far those reach in the segment
  };

  // Whether the text can tell more than the catalogue: that of another version, which appends or
  // has not yet appended, or of an engine that adds fields of its own.
  static bool has_news(const SegmentLayout& layout);

  // Null when the text is no JSON of this schema.
  static std::shared_ptr<const SegmentSchema> parse(std::string_view text,
                                                    const SegmentLayout& layout);

  // Fields of a table of the catalogue that lie behind its own members.
  const std::vector<Field>& unknown_fields(SectionId table) const;
  // Where in the segment those begin. In one of an older version they lie where the catalogue's
  // later members are in a newer one.
  std::uint32_t own_bytes(SectionId table) const;
  // The catalogue's own fields of the table; an enumeration has also the words that a later version
  // appended to it.
  std::span<const Field> own_fields(SectionId table) const;
  // Tables that the catalogue does not have.
  const std::vector<Table>& unknown_tables() const { return unknown_tables_; }

 private:
  void add_section(const boost::json::object& section, const SegmentLayout& layout);
  std::vector<Field> fields_of(const boost::json::object& section, std::uint32_t record_bytes);
  const Table* find(SectionId table) const;

  boost::json::value document_;                      // the names and helps below lie in it
  std::deque<std::vector<std::string_view>> words_;  // of enumerations
  std::vector<Table> tables_;                        // of the catalogue
  std::vector<Table> unknown_tables_;
};

}  // namespace vitrine::shm
