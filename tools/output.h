// SPDX-License-Identifier: Apache-2.0
// The one way to standard output: whole texts, every write checked.
#pragma once

#include <string_view>

#include "tools/error.h"

namespace vitrine::tools {

class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  // Errors: kFailed with the reason of the kernel. A reader that went away is no error for the
  // writer to report: further text is dropped. Needs SIGPIPE to be ignored.
  Result<void> write(std::string_view text);
  // True when a write found that the reader went away.
  bool has_dropped() const { return is_closed_; }
  // True when a text of at most PIPE_BUF bytes can be written without waiting for the reader.
  bool is_ready() const;
  // True when the reader of the pipe went away, also while there was nothing to write.
  bool is_closed();
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  bool is_closed_ = false;
};

}  // namespace vitrine::tools
