// SPDX-License-Identifier: Apache-2.0
// A trace as viewers read it: the JSON array format of Chrome's trace events.
//
// Layout   {"traceEvents":[...],"displayTimeUnit":"ms","otherData":{...}}; spans are complete
//          events (X), flows are pairs (s, f) with one id, counters C, instants i, names M.
// Units    `ts` and `dur` in microseconds with three decimals, from the trace's begin.
// Source   "Trace Event Format", the Chromium project.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::tools {

class TraceDocument {
 public:
  // The `args` of an event: names and JSON values.
  using Arguments = std::vector<std::pair<std::string_view, std::string>>;
  static std::string text(std::string_view value);  // a JSON string, repaired to valid UTF-8

  struct Span {
    std::uint64_t track = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::string name;
  };

  explicit TraceDocument(std::uint64_t begin_ns) : begin_ns_(begin_ns) {}

  void name_process(std::string_view name);
  // Tracks are shown in the order of their numbers.
  void name_track(std::uint64_t track, std::string_view name);
  void span(const Span& span, const Arguments& arguments);
  void instant(std::uint64_t track, std::uint64_t at_ns, std::string_view name,
               const Arguments& arguments);
  void counter(std::uint64_t at_ns, std::string_view name, const Arguments& values);
  // An arrow from within one span to the begin of another.
  void flow(const Span& from, const Span& to, std::string_view name);

  // The document; `other` are further facts of it.
  std::string finish(const Arguments& other) const;

 private:
  void add(char phase, std::uint64_t track, std::string_view name, std::string_view more);
  std::string time(std::uint64_t at_ns) const;

  std::uint64_t begin_ns_;
  std::uint64_t flows_ = 0;
  std::string events_;
};

}  // namespace vitrine::tools
