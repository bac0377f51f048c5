// SPDX-License-Identifier: Apache-2.0
#include "tools/head_watch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "shm/bus_error_guard.h"
#include "shm/clock.h"
#include "shm/protocol.h"

namespace vitrine::tools {

bool HeadWatch::attach(const std::filesystem::path& path, const shm::AttachOptions& options) {
  namespace bip = boost::interprocess;
  const auto opened = shm::open_segment(path, options);
  if (!opened) return false;
  try {
    mapping_ = bip::mapped_region(opened->file, bip::read_only, 0, opened->size_bytes);
  } catch (const bip::interprocess_exception&) {
    return false;
  }
  bytes_ = {static_cast<const std::byte*>(mapping_.get_address()), opened->size_bytes};
  const std::vector<std::byte> header = header_bytes();
  const auto checked = shm::check_layout(header, bytes_.size(), path.string());
  if (!checked) return false;
  layout_ = *checked;
  places_.clear();
  for (const shm::SectionPlace& place : layout_.sections) {
    const bool has_heads =
        place.kind == shm::SectionKind::kTable || place.kind == shm::SectionKind::kRing;
    if (!has_heads) continue;
    const std::size_t rows = place.kind == shm::SectionKind::kRing ? 1 : place.count;
    for (std::size_t row = 0; row < rows; ++row) {
      places_.push_back({place.offset_bytes + row * place.stride_bytes, place});
    }
  }
  heads_.assign(places_.size(), 0);
  now_.assign(places_.size(), 0);
  return true;
}

std::vector<std::byte> HeadWatch::header_bytes() const {
  std::vector<std::byte> header(std::min(shm::kCheckedHeaderBytes, bytes_.size()));
  const auto copy = [&] { std::memcpy(header.data(), bytes_.data(), header.size()); };
  if (!shm::guarded(bytes_, copy)) header.clear();
  return header;
}

std::uint64_t HeadWatch::word_at(std::size_t offset_bytes) const {
  const auto* word = reinterpret_cast<const std::uint64_t*>(bytes_.data() + offset_bytes);
  return shm::MappedMemory::load(*word, std::memory_order_acquire);
}

std::size_t HeadWatch::newest_offset(const HeadPlace& place, std::uint64_t head) const {
  const shm::SectionPlace& section = place.section;
  const std::size_t first = place.offset_bytes + shm::kLineBytes;
  return section.kind == shm::SectionKind::kRing
             ? first + (head - 1) % section.count * section.stride_bytes
             : first + head % shm::kSlots * shm::slot_bytes(section.record_bytes);
}

std::optional<std::string> HeadWatch::find_stamp_ahead() {
  constexpr std::uint64_t kTransactionMaxNs = 1'000'000'000;
  std::uint64_t stamp = 0;
  std::size_t where = 0;
  std::uint64_t commit = 0;
  const auto load = [&] {
    for (const HeadPlace& place : places_) {
      const std::uint64_t head = word_at(place.offset_bytes);
      if (head == 0 || place.section.count == 0) continue;
      const std::uint64_t newest = word_at(newest_offset(place, head));
      if (newest > stamp) where = place.offset_bytes;
      stamp = std::max(stamp, newest);
    }
    // After the stamps: all but those of the transaction that is open are then at most this.
    commit = word_at(layout_.hot_lines_offset + offsetof(shm::HotLines, commit.commit));
  };
  if (!shm::guarded(bytes_, load)) return std::nullopt;  // look() says so
  const std::uint64_t now_ns = shm::monotonic_ns();
  const bool is_open = stamp == commit + 1;
  if (!is_open || commit != open_commit_ || open_since_ns_ == 0) {
    open_since_ns_ = is_open ? now_ns : 0;
  }
  open_commit_ = commit;
  const bool stands = is_open && now_ns - open_since_ns_ > kTransactionMaxNs;
  if (stamp <= commit + 1 && !stands) return std::nullopt;
  return "the row or ring at byte " + std::to_string(where) + " is of transaction " +
         std::to_string(stamp) + ", the commit is " + std::to_string(commit) +
         (stands ? " and stands" : "");
}

std::optional<std::string> HeadWatch::look() {
  const auto load = [&] {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      now_[i] = word_at(places_[i].offset_bytes);
    }
  };
  if (!shm::guarded(bytes_, load)) return "the file was cut short while it was being read";
  std::optional<std::string> fallen;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (now_[i] < heads_[i] && !fallen) {
      fallen = "the row at byte " + std::to_string(places_[i].offset_bytes) + " had head " +
               std::to_string(heads_[i]) + ", then " + std::to_string(now_[i]);
    }
    heads_[i] = now_[i];
  }
  return fallen;
}

}  // namespace vitrine::tools
