// SPDX-License-Identifier: Apache-2.0
// Conformance: looks at a live segment again and again, and notes each rule of the status plane
// that it breaks: layout, liveness, growth, invariants, events.
//
// Why   an engine that is not ours is believed by every tool; its author needs to know where it
//       breaks the protocol before its operators do.
// Cost  a look is one snapshot, the new events and one load per row.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shm/attachment.h"
#include "tools/head_watch.h"

namespace vitrine::tools {

class Conformance {
 public:
  struct Violation {
    std::string text;  // as it was first seen
    std::uint64_t count = 0;
    double first_seconds = 0;  // since the beginning
  };

  explicit Conformance(shm::Target target);

  // The first look, with the checks of what never changes. False when there is no live engine;
  // last() then says why.
  bool begin();
  // One more look. False when the engine is gone, was replaced or cannot be read any more.
  bool look();
  // After the last look: what only all of them together tell.
  void finish();

  const shm::Observation& last() const { return attachment_.last(); }
  bool conforms() const { return violations_.empty(); }
  boost::json::object json() const;
  std::string text() const;

 private:
  void check_header();
  void check_sections(const std::vector<std::byte>& bytes);
  void check_schema();
  void check_schema_section(const boost::json::object& section);
  void check_state(const shm::Observation& observation);
  void check_quiet(const shm::Observation& observation);
  void check_events();

  // Counts one check of `what`, and what broke it, if `holds` is false. Violations that differ in
  // their numbers only are the same.
  bool check(std::string_view what, bool holds, const std::string& violation);
  void note(const std::string& violation);
  double seconds() const;

  shm::Attachment attachment_;
  HeadWatch heads_;
  std::uint64_t begin_ns_;
  std::string incarnation_;
  shm::Snapshot previous_;
  std::uint64_t last_commit_ = 0;
  std::uint64_t quiet_since_ns_ = 0;  // zero: there is work, or none is taken
  std::uint64_t last_event_ = 0;
  shm::Event last_event_seen_;
  std::uint64_t snapshots_ = 0;
  std::uint64_t consistent_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t events_missed_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> checks_;  // how often each was made
  std::map<std::string, Violation> violations_;
};

}  // namespace vitrine::tools
