// SPDX-License-Identifier: Apache-2.0
#include "engine/file_digest.h"

#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vitrine::engine {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr auto kInterval = std::chrono::milliseconds(100);

std::string hexadecimal(const std::array<std::uint8_t, SHA256_DIGEST_SIZE>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

}  // namespace

void FileDigest::begin() {
  digest_ = std::async(std::launch::async, [this] { return compute(); });
}

Result<std::string> FileDigest::await(const std::function<void()>& still_waiting) {
  while (digest_.wait_for(kInterval) != std::future_status::ready) still_waiting();
  return digest_.get();
}

Result<std::string> FileDigest::compute() const {
  const ContainerSection whole{0, 0, file_.size_bytes()};
  std::vector<std::byte> piece(kPieceBytes);
  sha256_ctx state;
  sha256_init(&state);
  for (std::uint64_t done_bytes = 0; done_bytes < whole.length_bytes;) {
    if (is_abandoned_.load(std::memory_order_relaxed)) return cancelled_error();
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(kPieceBytes, whole.length_bytes - done_bytes));
    const std::span<std::byte> bytes(piece.data(), size);
    if (auto done = file_.read(whole, done_bytes, bytes); !done) return done.error();
    sha256_update(&state, size, reinterpret_cast<const std::uint8_t*>(bytes.data()));
    done_bytes += size;
  }
  if (file_.has_changed()) return file_.file_error("changed while it was read");
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> bytes;
  sha256_digest(&state, bytes.size(), bytes.data());
  return hexadecimal(bytes);
}

}  // namespace vitrine::engine
