// SPDX-License-Identifier: Apache-2.0
// MultipartReader: takes a multipart/form-data body apart as it arrives, in pieces of any size.
//
// Layout: `--BOUNDARY`, then for each part a head, an empty line and its bytes; each part ends with
// `CRLF--BOUNDARY`, the last one with `CRLF--BOUNDARY--`. Nothing before and after, but a last
// CRLF.
//
// Threads: one at a time.
//
// Cost: keeps one piece and the length of the boundary; a head has kHeadBytesMax bytes at most.
//
// Why: libmicrohttpd's own reader calls with no bytes for an empty part and also before the bytes
// of any other, so an empty witness cannot be told from the beginning of a full one; a witness that
// is left out shifts the proofs of all that follow.
//
// Source: RFC 7578; RFC 2046, 5.1.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vitrine::engine {

struct PartHead {
  std::string name;
  std::string file_name;  // as the client wrote it; empty when it gave none
};

class MultipartReader {
 public:
  static constexpr std::size_t kHeadBytesMax = 4096;

  // Hears of every part, in order: its head, its bytes, its end. A false ends the reading.
  class Listener {
   public:
    virtual bool part_begins(const PartHead& head) = 0;
    virtual bool part_goes_on(std::span<const char> bytes) = 0;
    virtual bool part_ends() = 0;

   protected:
    ~Listener() = default;
  };

  // The boundary that a Content-Type names; nothing when it names none that may be one.
  [[nodiscard]] static std::optional<std::string> boundary_of(std::string_view content_type);

  // `listener` outlives the reader.
  MultipartReader(const std::string& boundary, Listener& listener)
      : delimiter_("\r\n--" + boundary), listener_(listener) {}

  // False once the body is malformed, see fault(), or the listener has said so.
  [[nodiscard]] bool take(std::span<const char> bytes);
  // No more bytes: false unless the body is whole.
  [[nodiscard]] bool finish();
  // What is wrong with the body; empty when nothing is.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  enum class State { kStart, kDelimited, kHead, kPartStart, kPart, kEnd, kRefused };
  enum class Step { kDone, kNeedsMore };

  Step go_on(std::string_view& rest);
  Step take_delimiter(std::string_view& rest);
  Step take_delimiter_end(std::string_view& rest);
  Step take_head(std::string_view& rest);
  Step take_part(std::string_view& rest);
  Step take_end(std::string_view rest);
  Step refuse(std::string fault);
  // Goes to `next` unless the listener said no.
  Step heard(bool goes_on, State next);

  std::string delimiter_;
  Listener& listener_;
  State state_ = State::kStart;
  std::string held_;  // what is not understood without more bytes
  std::string fault_;
};

}  // namespace vitrine::engine
