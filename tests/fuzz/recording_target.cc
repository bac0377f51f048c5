// SPDX-License-Identifier: Apache-2.0
// Fuzz target: damaged recordings, played from memory with everything that is made of each frame.
// Checksums are put right again, since a reader goes no further than one that does not hold.
#include <cstring>

#include "shm/raw_copy.h"
#include "shm/recording_encoder.h"
#include "tests/fuzz/damaged_segment.h"
#include "tests/shm/recording_walk.h"

namespace vitrine::fuzz {
namespace {

constexpr std::uint64_t kFrames = 4;

// Chunk headers and what follows them, word by word, as far as it is not zero.
std::vector<std::uint32_t> places_in(const std::string& file) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t at = 0; at + 4 <= file.size(); at += 4) {
    std::uint32_t word;
    std::memcpy(&word, file.data() + at, sizeof(word));
    if (word != 0 || at % 16 == 0) places.push_back(at);
  }
  return places;
}

// A few moments of one engine.
Base recording() {
  const std::string first = segment_after(0).bytes;
  std::vector<std::uint64_t> words(first.size() / 8);
  const auto segment = std::as_writable_bytes(std::span(words));
  std::memcpy(segment.data(), first.data(), segment.size());
  const auto layout = shm::read_raw_layout(segment, segment.size(), "base").value();
  shm::RawCopy copy(layout, segment);
  shm::RecordingEncoder encoder(layout);
  std::string file;
  const auto append = [&file](std::span<const std::byte> bytes) {
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  append(encoder.begin());
  for (std::uint64_t commits = 0; commits < kFrames; ++commits) {
    const std::string now = segment_after(commits).bytes;
    std::memcpy(segment.data(), now.data(), segment.size());
    if (copy.run() != shm::RawCopy::Outcome::kDone) std::abort();
    append(encoder.frame(copy.frame(), {.taken_unix_ns = 1'800'000'000'000'000'000,
                                        .taken_engine_ns = 201'000'000'000,
                                        .commit = 0,
                                        .flags = shm::kFrameLockHeld,
                                        .reserved = 0}));
  }
  append(encoder.end());
  return {.bytes = file, .places = places_in(file)};
}

void repair_checksums(std::string& file) {
  std::size_t at = sizeof(shm::RecordingFileHeader);
  shm::ChunkHeader header;
  while (at + sizeof(header) <= file.size()) {
    std::memcpy(&header, file.data() + at, sizeof(header));
    const std::size_t payload = at + sizeof(header);
    if (header.payload_bytes > file.size() - payload) return;
    header.checksum = shm::checksum_of(header, file.data() + payload);
    std::memcpy(file.data() + at, &header, sizeof(header));
    at = payload + header.payload_bytes;
  }
}

}  // namespace

const std::vector<Base>& bases() {
  static const std::vector<Base> kBases = {recording()};
  return kBases;
}

}  // namespace vitrine::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file = vitrine::fuzz::damaged(vitrine::fuzz::bases(), {data, size});
  if (file.size() >= sizeof(vitrine::shm::RecordingFileHeader)) {
    vitrine::fuzz::repair_checksums(file);
  }
  vitrine::shm::walk_recording(std::as_bytes(std::span(file)));
  return 0;
}
