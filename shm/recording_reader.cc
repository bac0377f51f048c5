// SPDX-License-Identifier: Apache-2.0
#include "shm/recording_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "shm/frame_player.h"
#include "shm/recording_format.h"
#include "shm/segment_access.h"
#include "shm/time_text.h"

namespace vitrine::shm {

namespace {

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

}  // namespace

struct RecordingReader::State {
  std::string name;
  FileDescriptor file;               // of a file
  std::span<const std::byte> bytes;  // else
  std::uint64_t offset = 0;          // of the next chunk
  ChunkHeader chunk{};
  std::vector<std::uint64_t> payload;  // of the last chunk
  RawLayout layout;
  std::unique_ptr<std::byte, FreeMemory> image;
  std::optional<FramePlayer> player;
  RecordedMoment moment;
  std::uint64_t heartbeat = 0;
  std::uint64_t heartbeat_since_ns = 0;
  RecordingEnd end = RecordingEnd::kNotReached;
  std::string fault;  // of kDamaged

  std::uint64_t size() const;
  bool read_at(std::uint64_t from, std::span<std::byte> out) const;
  bool next_chunk();
  bool stop(RecordingEnd how, const std::string& why = "");
  Result<void> read_file_header();
  Result<void> make_image();
  void note_moment();
};

std::uint64_t RecordingReader::State::size() const {
  if (!file.is_open()) return bytes.size();
  struct stat found {};
  return ::fstat(file.number(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

// The bytes, all of them.
bool RecordingReader::State::read_at(std::uint64_t from, std::span<std::byte> out) const {
  if (!file.is_open()) {
    if (from > bytes.size() || out.size() > bytes.size() - from) return false;
    if (!out.empty()) std::memcpy(out.data(), bytes.data() + from, out.size());
    return true;
  }
  while (!out.empty()) {
    const ssize_t count = ::pread(file.number(), out.data(), out.size(), static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    out = out.subspan(static_cast<std::size_t>(count));
    from += static_cast<std::uint64_t>(count);
  }
  return true;
}

bool RecordingReader::State::stop(RecordingEnd how, const std::string& why) {
  end = how;
  fault = why;
  return false;
}

// Reads the next chunk whole into `payload`; false and `end` when there is none.
bool RecordingReader::State::next_chunk() {
  const std::uint64_t size_bytes = size();
  if (offset >= size_bytes) return stop(RecordingEnd::kOpen);
  if (!read_at(offset, std::as_writable_bytes(std::span(&chunk, 1)))) {
    return stop(RecordingEnd::kCut);
  }
  const std::uint64_t begin = offset + sizeof(chunk);
  const std::string place = "the chunk at byte " + std::to_string(offset);
  if (chunk.payload_bytes % 8 != 0 || chunk.payload_bytes > kSegmentBytesMax) {
    return stop(RecordingEnd::kDamaged, place + " has an impossible size");
  }
  if (chunk.payload_bytes > size_bytes - begin) return stop(RecordingEnd::kCut);
  payload.resize(chunk.payload_bytes / 8);
  if (!read_at(begin, std::as_writable_bytes(std::span(payload)))) return stop(RecordingEnd::kCut);
  if (checksum_of(chunk, payload.data()) != chunk.checksum) {
    return stop(RecordingEnd::kDamaged, place + " does not match its checksum");
  }
  offset = begin + chunk.payload_bytes;
  return true;
}

Result<void> RecordingReader::State::read_file_header() {
  RecordingFileHeader header{};
  const bool is_whole = read_at(0, std::as_writable_bytes(std::span(&header, 1)));
  if (!is_whole || header.magic != kRecordingMagic) {
    return Error{ErrorKind::kCorrupt, name + ": is not a recording: no magic number"};
  }
  if (header.byte_order == __builtin_bswap32(kByteOrder)) {
    return Error{ErrorKind::kUnsupported,
                 name + ": recorded in another byte order; read it on a machine of that order"};
  }
  if (header.byte_order != kByteOrder) {
    return Error{ErrorKind::kCorrupt, name + ": the byte order mark is damaged"};
  }
  if (header.major != kRecordingMajor) {
    return Error{ErrorKind::kUnsupported,
                 name + ": recording version " + std::to_string(header.major) +
                     ", this program reads version " + std::to_string(kRecordingMajor)};
  }
  offset = sizeof(header);
  return {};
}

// Pages that no frame touches take no memory (calloc), so a small file cannot claim a large one.
Result<void> RecordingReader::State::make_image() {
  const auto head = std::as_bytes(std::span(payload));
  if (chunk.kind != static_cast<std::uint32_t>(ChunkKind::kSegment)) {
    return Error{ErrorKind::kCorrupt, name + ": does not begin with a segment"};
  }
  // Its bytes are there up to the hot lines; the rest is what the header says.
  FixedHeader fixed{};
  std::ranges::copy(head.first(std::min(sizeof(fixed), head.size())),
                    std::as_writable_bytes(std::span(&fixed, 1)).begin());
  Result<RawLayout> read = read_raw_layout(head, fixed.total_bytes, name);
  if (!read) return read.error();
  layout = std::move(*read);
  image.reset(static_cast<std::byte*>(std::calloc((layout.total_bytes() + 7) / 8, 8)));
  if (!image) {
    return Error{ErrorKind::kSystem, name + ": no memory for its segment of " +
                                         std::to_string(layout.total_bytes()) + " bytes"};
  }
  std::memcpy(image.get(), layout.header_bytes.data(), layout.header_bytes.size());
  player.emplace(layout, image.get(), FramePlayer::Clock::kRecorded);
  return {};
}

void RecordingReader::State::note_moment() {
  const FrameHeader& header = player->header();
  std::uint64_t beats = 0;
  const std::byte* hot = image.get() + layout.header.fixed.header_bytes;
  std::memcpy(&beats, hot + offsetof(HotLines, heartbeat.count), sizeof(beats));
  if (moment.frame == 0 || beats != heartbeat) heartbeat_since_ns = header.taken_engine_ns;
  heartbeat = beats;
  ++moment.frame;
  moment.taken_unix_ns = header.taken_unix_ns;
  moment.taken_engine_ns = header.taken_engine_ns;
  moment.heartbeat_stood_ns =
      header.taken_engine_ns > heartbeat_since_ns ? header.taken_engine_ns - heartbeat_since_ns : 0;
  moment.lock_held = (header.flags & kFrameLockHeld) != 0;
  moment.name_linked = (header.flags & kFrameNameLinked) != 0;
}

RecordingReader::RecordingReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;
RecordingReader& RecordingReader::operator=(RecordingReader&&) noexcept = default;
RecordingReader::~RecordingReader() = default;

Result<RecordingReader> RecordingReader::open(const std::filesystem::path& path) {
  auto opened = open_recording(path);
  if (!opened) return opened.error();
  auto state = std::make_unique<State>();
  state->name = path.string();
  state->file = std::move(opened->file);
  return start(std::move(state));
}

Result<RecordingReader> RecordingReader::of_bytes(std::span<const std::byte> bytes,
                                                  const std::string& name) {
  auto state = std::make_unique<State>();
  state->name = name;
  state->bytes = bytes;
  return start(std::move(state));
}

Result<RecordingReader> RecordingReader::start(std::unique_ptr<State> state) {
  if (auto header = state->read_file_header(); !header) return header.error();
  if (!state->next_chunk()) {
    return Error{ErrorKind::kCorrupt, state->name + ": a recording that ends before its segment" +
                                          (state->fault.empty() ? "" : ": " + state->fault)};
  }
  if (auto made = state->make_image(); !made) return made.error();
  return RecordingReader(std::move(state));
}

bool RecordingReader::next() {
  State& state = *state_;
  while (state.end == RecordingEnd::kNotReached) {
    const std::uint64_t begin = state.offset;
    if (!state.next_chunk()) return false;
    const auto kind = static_cast<ChunkKind>(state.chunk.kind);
    if (kind == ChunkKind::kEnd) return state.stop(RecordingEnd::kFinished);
    if (kind != ChunkKind::kFrame) continue;
    if (const auto played = state.player->play(state.payload); !played) {
      return state.stop(RecordingEnd::kDamaged,
                        "the frame at byte " + std::to_string(begin) + ": " + played.error().text);
    }
    state.note_moment();
    return true;
  }
  return false;
}

const RecordedMoment& RecordingReader::moment() const { return state_->moment; }
RecordingEnd RecordingReader::end() const { return state_->end; }
std::uint64_t RecordingReader::missed_entries() const { return state_->player->missed_entries(); }
const std::string& RecordingReader::name() const { return state_->name; }
const RawLayout& RecordingReader::layout() const { return state_->layout; }
std::span<const std::uint64_t> RecordingReader::payload() const { return state_->payload; }

std::span<const std::byte> RecordingReader::image() const {
  return {state_->image.get(), state_->layout.total_bytes()};
}

std::string RecordingReader::no_frame_note() const {
  switch (state_->end) {
    case RecordingEnd::kNotReached:
      return "before its first frame";
    case RecordingEnd::kFinished:
      return "the recorder ended before it could take one";
    case RecordingEnd::kOpen:
      return "the recording was not finished";
    case RecordingEnd::kCut:
      return "the recording is cut short before the end of its first frame";
    case RecordingEnd::kDamaged:
      break;
  }
  return state_->fault;
}

std::string RecordingReader::note() const {
  const RecordedMoment& moment = state_->moment;
  if (moment.frame == 0) return no_frame_note();
  std::string text =
      "recorded " + rfc3339_ms(moment.taken_unix_ns) + ", frame " + std::to_string(moment.frame);
  switch (state_->end) {
    case RecordingEnd::kNotReached:
      return text;
    case RecordingEnd::kFinished:
      return text + ", the last";
    case RecordingEnd::kOpen:
      return text + ", the last so far: the recording was not finished";
    case RecordingEnd::kCut:
      return text + ", the last whole one: the recording is cut short after it";
    case RecordingEnd::kDamaged:
      break;
  }
  return text + ", the last readable one: " + state_->fault;
}

}  // namespace vitrine::shm
