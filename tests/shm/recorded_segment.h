// SPDX-License-Identifier: Apache-2.0
// A live segment and a recording of it in memory, taken frame by frame.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "shm/clock.h"
#include "shm/recording_encoder.h"
#include "shm/segment_reader.h"
#include "tests/shm/small_segment.h"

namespace vitrine::shm {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline RawLayout raw_layout_of(std::span<const std::byte> segment) {
  auto layout = read_raw_layout(segment, segment.size(), "test");
  REQUIRE(layout.has_value());
  return std::move(*layout);
}

class RecordedSegment {
 public:
  explicit RecordedSegment(const std::filesystem::path& path)
      : reader_(SegmentReader::attach(path).value()),
        layout_(raw_layout_of(reader_.bytes())),
        copy_(layout_, reader_.bytes()),
        encoder_(layout_) {
    append(encoder_.begin());
  }

  // Records this moment; gives the same moment as an ordinary reader sees it.
  Snapshot take_frame(std::uint32_t flags = kFrameLockHeld | kFrameNameLinked) {
    REQUIRE(copy_.run() == RawCopy::Outcome::kDone);
    FrameHeader header{};
    header.taken_unix_ns = unix_ns();
    header.taken_engine_ns = monotonic_ns();
    header.flags = flags;
    append(encoder_.frame(copy_.frame(), header));
    Snapshot snapshot;
    REQUIRE(reader_.snapshot(snapshot).has_value());
    return snapshot;
  }
  void finish() { append(encoder_.end()); }

  // The file so far, and where each chunk of it ends.
  const std::string& file() const { return file_; }
  const std::vector<std::size_t>& ends() const { return ends_; }
  SegmentReader& reader() { return reader_; }

 private:
  void append(std::span<const std::byte> bytes) {
    file_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    ends_.push_back(file_.size());
  }

  SegmentReader reader_;
  RawLayout layout_;
  RawCopy copy_;
  RecordingEncoder encoder_;
  std::string file_;
  std::vector<std::size_t> ends_;
};

// True when both show the same state: commit, life, heartbeat and every byte of every row.
inline bool shows_same_state(const Snapshot& a, const Snapshot& b) {
  bool is_same = a.consistent && b.consistent && a.commit == b.commit && a.life == b.life &&
                 a.exit_code == b.exit_code && a.last_event_sequence == b.last_event_sequence;
  for_each_table([&]<class Record>() {
    const auto& left = a.rows<Record>();
    const auto& right = b.rows<Record>();
    is_same = is_same && left.size() == right.size() &&
              std::memcmp(static_cast<const void*>(left.data()), right.data(),
                          left.size() * sizeof(Record)) == 0;
  });
  return is_same;
}

}  // namespace vitrine::shm
