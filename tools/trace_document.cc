// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_document.h"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <cstdio>

#include "shm/utf8_repair.h"

namespace vitrine::tools {
namespace {

std::string microseconds(std::uint64_t duration_ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%llu.%03u",
                static_cast<unsigned long long>(duration_ns / 1000),
                static_cast<unsigned>(duration_ns % 1000));
  return text;
}

std::string object(const TraceDocument::Arguments& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    if (out.size() > 1) out += ',';
    out += TraceDocument::text(name) + ":" + value;
  }
  return out + "}";
}

}  // namespace

std::string TraceDocument::text(std::string_view value) {
  return boost::json::serialize(boost::json::string(shm::repair_utf8(value)));
}

std::string TraceDocument::time(std::uint64_t at_ns) const {
  return microseconds(at_ns > begin_ns_ ? at_ns - begin_ns_ : 0);
}

void TraceDocument::add(char phase, std::uint64_t track, std::string_view name,
                        std::string_view more) {
  events_ += events_.empty() ? "\n" : ",\n";
  events_ += "{\"ph\":\"";
  events_ += phase;
  events_ += "\",\"pid\":1,\"tid\":" + std::to_string(track) + ",\"name\":" + text(name);
  events_ += more;
  events_ += '}';
}

void TraceDocument::name_process(std::string_view name) {
  add('M', 0, "process_name", ",\"ts\":0,\"args\":{\"name\":" + text(name) + "}");
}

void TraceDocument::name_track(std::uint64_t track, std::string_view name) {
  add('M', track, "thread_name", ",\"ts\":0,\"args\":{\"name\":" + text(name) + "}");
  add('M', track, "thread_sort_index",
      ",\"ts\":0,\"args\":{\"sort_index\":" + std::to_string(track) + "}");
}

void TraceDocument::span(const Span& span, const Arguments& arguments) {
  const std::uint64_t length_ns = span.end_ns > span.begin_ns ? span.end_ns - span.begin_ns : 0;
  add('X', span.track, span.name,
      ",\"cat\":\"partition\",\"ts\":" + time(span.begin_ns) +
          ",\"dur\":" + microseconds(length_ns) + ",\"args\":" + object(arguments));
}

void TraceDocument::instant(std::uint64_t track, std::uint64_t at_ns, std::string_view name,
                            const Arguments& arguments) {
  add('i', track, name,
      ",\"cat\":\"event\",\"s\":\"t\",\"ts\":" + time(at_ns) + ",\"args\":" + object(arguments));
}

void TraceDocument::counter(std::uint64_t at_ns, std::string_view name, const Arguments& values) {
  add('C', 0, name, ",\"ts\":" + time(at_ns) + ",\"args\":" + object(values));
}

// The arrow leaves from the last instant within its span: its end belongs to what comes after it.
void TraceDocument::flow(const Span& from, const Span& to, std::string_view name) {
  const std::string id = ",\"cat\":\"flow\",\"id\":" + std::to_string(++flows_);
  const std::uint64_t leave_ns = from.end_ns > from.begin_ns ? from.end_ns - 1 : from.end_ns;
  add('s', from.track, name, id + ",\"ts\":" + time(leave_ns));
  add('f', to.track, name, id + ",\"bp\":\"e\",\"ts\":" + time(to.begin_ns));
}

std::string TraceDocument::finish(const Arguments& other) const {
  return "{\"traceEvents\":[" + events_ +
         "\n],\"displayTimeUnit\":\"ms\",\"otherData\":" + object(other) + "}\n";
}

}  // namespace vitrine::tools
