// SPDX-License-Identifier: Apache-2.0
// Reads a section of curve points, checking each one.
//
// Threads: runs on the calling thread and the pool's.
// Cost: four field multiplications a point, besides the copy.
// Why: sections are taken in slabs, so that only a slab's bytes exist twice and progress can be
// told between slabs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/byte_reader.h"
#include "engine/error.h"
#include "engine/large_vector.h"
#include "engine/load_progress.h"
#include "engine/zkey_file.h"
#include "kernels/subgroup.h"
#include "kernels/thread_pool.h"

namespace vitrine::engine {

// The error with the lowest position among those several threads found, so that the same file
// always gives the same message.
class FirstError {
 public:
  void offer(std::uint64_t position, Error error) {
    const std::lock_guard lock(mutex_);
    if (error_ && position_ <= position) return;
    position_ = position;
    error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& get() const { return error_; }

 private:
  std::mutex mutex_;
  std::uint64_t position_ = 0;
  std::optional<Error> error_;
};

class ZkeyPointReader {
 public:
  ZkeyPointReader(const ZkeyFile& file, kernels::ThreadPool& threads, LoadProgress& progress)
      : file_(file), threads_(threads), progress_(progress) {}

  // `count` points, the section's whole content. Infinity is allowed; the subgroup is not checked.
  template <class Group>
  [[nodiscard]] Result<LargeVector<kernels::AffinePoint<Group>>> read(ZkeySection type,
                                                                      std::size_t count) {
    LargeVector<kernels::AffinePoint<Group>> points(count);
    for (std::size_t begin = 0; begin < count; begin += kSlabPoints) {
      const std::size_t size = std::min(kSlabPoints, count - begin);
      auto done = read_slab<Group>(type, begin, std::span(points).subspan(begin, size));
      if (!done) return done.error();
      progress_.add_points(size * kPointBytes<Group>);
    }
    return points;
  }

  // The same without keeping them.
  template <class Group>
  [[nodiscard]] Result<void> check(ZkeySection type, std::size_t count) {
    LargeVector<kernels::AffinePoint<Group>> slab(std::min(kSlabPoints, count));
    for (std::size_t begin = 0; begin < count; begin += kSlabPoints) {
      const std::size_t size = std::min(kSlabPoints, count - begin);
      auto done = read_slab<Group>(type, begin, std::span(slab).first(size));
      if (!done) return done.error();
      progress_.add_points(size * kPointBytes<Group>);
    }
    return {};
  }

 private:
  static constexpr std::size_t kSlabPoints = std::size_t{1} << 16;
  static constexpr std::size_t kChunkPoints = std::size_t{1} << 11;

  template <class Group>
  Result<void> read_slab(ZkeySection type, std::size_t first,
                         std::span<kernels::AffinePoint<Group>> points) {
    const ContainerSection section = file_.section(type);
    FirstError failure;
    threads_.parallel_for(points.size(), kChunkPoints, [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += kChunkPoints) {
        const std::size_t size = std::min(kChunkPoints, end - begin);
        auto done = read_chunk<Group>(section, first + begin, points.subspan(begin, size));
        if (!done) failure.offer(begin, done.error());
      }
    });
    if (failure.get()) return *failure.get();
    return {};
  }

  template <class Group>
  Result<void> read_chunk(const ContainerSection& section, std::size_t first,
                          std::span<kernels::AffinePoint<Group>> points) {
    std::vector<std::byte> bytes(points.size() * kPointBytes<Group>);
    auto done = file_.container.read(section, first * kPointBytes<Group>, bytes);
    if (!done) return done.error();
    ByteReader reader(bytes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool canonical = take_montgomery(reader, points[i]);
      if (canonical && kernels::is_on_curve(points[i])) continue;
      const std::string rule = canonical ? " is not on the curve" : " is not below the modulus";
      return file_.container.section_error(section.type,
                                           "point " + std::to_string(first + i) + rule);
    }
    return {};
  }

  const ZkeyFile& file_;
  kernels::ThreadPool& threads_;
  LoadProgress& progress_;
};

}  // namespace vitrine::engine
