// SPDX-License-Identifier: Apache-2.0
// Why the engine works, but not as it should; in the order in which that was found.
//
// Why: a second fault must be seen beside the first, and the first must not come back as the only
// one when the second is over.
#pragma once

#include <string>
#include <vector>

namespace vitrine::engine {

class DegradedReasons {
 public:
  // False when it is known already.
  bool add(const std::string& reason);
  // False when it was not known.
  bool remove(const std::string& reason);

  [[nodiscard]] bool empty() const { return reasons_.empty(); }
  // All of them in one line; empty when there is none.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void join();

  std::vector<std::string> reasons_;
  std::string text_;
};

}  // namespace vitrine::engine
