// SPDX-License-Identifier: Apache-2.0
#include "tools/head_watch.h"

#include <cstring>

#include "shm/bus_error_guard.h"
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
  offsets_.clear();
  for (const shm::SectionPlace& place : layout_.sections) {
    const bool has_heads =
        place.kind == shm::SectionKind::kTable || place.kind == shm::SectionKind::kRing;
    if (!has_heads) continue;
    const std::size_t rows = place.kind == shm::SectionKind::kRing ? 1 : place.count;
    for (std::size_t row = 0; row < rows; ++row) {
      offsets_.push_back(place.offset_bytes + row * place.stride_bytes);
    }
  }
  heads_.assign(offsets_.size(), 0);
  now_.assign(offsets_.size(), 0);
  return true;
}

std::vector<std::byte> HeadWatch::header_bytes() const {
  std::vector<std::byte> header(std::min(shm::kCheckedHeaderBytes, bytes_.size()));
  const auto copy = [&] { std::memcpy(header.data(), bytes_.data(), header.size()); };
  if (!shm::guarded(bytes_, copy)) header.clear();
  return header;
}

std::optional<std::string> HeadWatch::look() {
  const auto load = [&] {
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const auto* word = reinterpret_cast<const std::uint64_t*>(bytes_.data() + offsets_[i]);
      now_[i] = shm::MappedMemory::load(*word, std::memory_order_relaxed);
    }
  };
  if (!shm::guarded(bytes_, load)) return "the file was cut short while it was being read";
  std::optional<std::string> fallen;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (now_[i] < heads_[i] && !fallen) {
      fallen = "the row at byte " + std::to_string(offsets_[i]) + " had head " +
               std::to_string(heads_[i]) + ", then " + std::to_string(now_[i]);
    }
    heads_[i] = now_[i];
  }
  return fallen;
}

}  // namespace vitrine::tools
