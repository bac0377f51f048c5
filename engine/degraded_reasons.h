// SPDX-License-Identifier: Apache-2.0
// Why the engine works, but not as it should; in the order in which that was found.
//
// Why: a second fault must be seen beside the first, and the first must not come back as the only
// one when the second is over.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace vitrine::engine {

struct DegradedReason {
  DegradedReason(std::string whole, std::string short_form)
      : text(std::move(whole)), brief(std::move(short_form)) {}
  DegradedReason(std::string both)  // NOLINT(google-explicit-constructor)
      : text(std::move(both)), brief(text) {}
  DegradedReason(const char* both)  // NOLINT(google-explicit-constructor)
      : DegradedReason(std::string(both)) {}

  std::string text;   // what it is known by
  std::string brief;  // for where there is little room
};

class DegradedReasons {
 public:
  // False when it is known already.
  bool add(const DegradedReason& reason);
  // By its text. False when it was not known.
  bool remove(const std::string& text);

  [[nodiscard]] bool empty() const { return reasons_.empty(); }
  // All of them in one line; empty when there is none.
  [[nodiscard]] const std::string& text() const { return text_; }
  // For the field of the record: those that fit, and how many more there are.
  [[nodiscard]] const std::string& brief() const { return brief_; }

 private:
  void join();
  [[nodiscard]] std::string brief_of(std::size_t shown) const;

  std::vector<DegradedReason> reasons_;
  std::string text_, brief_;
};

}  // namespace vitrine::engine
