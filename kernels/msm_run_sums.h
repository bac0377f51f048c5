// SPDX-License-Identifier: Apache-2.0
// One sum for each run of a sorted list of references to points, on all threads.
//
// Layout: the list is cut into blocks of equal length, whatever the runs: a run within a block is
//   summed there, a run across a border leaves one partial sum in each block, added at the end.
//   So one bucket that takes everything costs no more than many that share.
// Threads: an object serves several sums at once.
// Cost: one affine addition per reference (msm_pairwise_sums.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/curve_point.h"
#include "kernels/msm_pairwise_sums.h"
#include "kernels/thread_pool.h"

namespace vitrine::kernels {

// References of one run after the other. A reference is the index of a point, plus kNegatedPoint
// to take the opposite point.
struct PointRuns {
  static constexpr std::uint32_t kNegatedPoint = std::uint32_t{1} << 31;

  std::vector<std::uint32_t> references;
  std::vector<std::uint32_t> starts;  // run i is references[starts[i], starts[i + 1])

  std::size_t size() const { return starts.size() - 1; }
};

template <class Group>
class RunSums {
 public:
  using Point = AffinePoint<Group>;

  // References per block: enough to hide an inversion per round, few enough for a second-level
  // cache.
  static constexpr std::size_t kBlockLength = 512 * 1024 / sizeof(Point);

  explicit RunSums(ThreadPool& pool) : pool_(pool) {}

  // sums[i] = the sum of run i, infinity if it is empty.
  std::vector<Point> sum(std::span<const Point> points, const PointRuns& runs) {
    std::vector<Point> sums(runs.size(), Point::infinity());
    const std::size_t blocks = (runs.references.size() + kBlockLength - 1) / kBlockLength;
    std::vector<PartialSums> partial_sums(blocks);
    pool_.parallel_for(blocks, 1, [&](std::size_t begin, std::size_t end) {
      std::unique_ptr<Block> block = take_block();
      for (; begin < end; ++begin) {
        partial_sums[begin] = sum_block(*block, points, {runs, begin * kBlockLength}, sums);
      }
      give_back(std::move(block));
    });
    add_partial_sums(partial_sums, sums);
    return sums;
  }

 private:
  // References are known long before their points are needed.
  static constexpr std::size_t kPrefetchDistance = 16;

  // Memory a thread needs while it sums a block.
  struct Block {
    std::vector<Point> points;
    std::vector<std::uint32_t> runs, lengths;
    PairwiseSums<Group> sums;
  };
  struct PartialSum {
    std::uint32_t run;
    Point sum;
  };
  // Of the run cut by the start of a block and of the one cut by its end.
  struct PartialSums {
    std::size_t count = 0;
    std::array<PartialSum, 2> sums;
  };
  struct BlockSource {
    const PointRuns& runs;
    std::size_t first;
  };

  static PartialSums sum_block(Block& block, std::span<const Point> points,
                               const BlockSource& source, std::span<Point> sums) {
    const std::vector<std::uint32_t>& starts = source.runs.starts;
    const std::size_t first = source.first;
    const std::size_t last = std::min(first + kBlockLength, source.runs.references.size());
    block.runs.clear();
    block.lengths.clear();
    const auto after = std::upper_bound(starts.begin(), starts.end(), first);
    for (auto run = static_cast<std::size_t>(after - starts.begin()) - 1;
         run < source.runs.size() && starts[run] < last; ++run) {
      const std::size_t begin = std::max<std::size_t>(starts[run], first);
      const std::size_t end = std::min<std::size_t>(starts[run + 1], last);
      if (begin == end) continue;
      block.runs.push_back(static_cast<std::uint32_t>(run));
      block.lengths.push_back(static_cast<std::uint32_t>(end - begin));
    }
    gather(block, points, std::span(source.runs.references).subspan(first, last - first));
    block.sums.reduce(block.points, block.lengths);
    PartialSums cut;
    for (std::size_t i = 0; i < block.runs.size(); ++i) {
      const std::uint32_t run = block.runs[i];
      if (starts[run] >= first && starts[run + 1] <= last) {
        sums[run] = block.points[i];
      } else {
        cut.sums[cut.count++] = {run, block.points[i]};
      }
    }
    return cut;
  }

  static void gather(Block& block, std::span<const Point> points,
                     std::span<const std::uint32_t> references) {
    block.points.resize(references.size());
    for (std::size_t i = 0; i < references.size(); ++i) {
      const std::size_t ahead = std::min(i + kPrefetchDistance, references.size() - 1);
      __builtin_prefetch(&points[references[ahead] & ~PointRuns::kNegatedPoint]);
      const Point& point = points[references[i] & ~PointRuns::kNegatedPoint];
      const bool negated = (references[i] & PointRuns::kNegatedPoint) != 0;
      block.points[i] = negated ? point.negated() : point;
    }
  }

  void add_partial_sums(std::span<const PartialSums> partial_sums, std::span<Point> sums) {
    std::unique_ptr<Block> block = take_block();
    block->points.clear();
    block->runs.clear();
    block->lengths.clear();
    for (const PartialSums& cut : partial_sums) {
      for (std::size_t i = 0; i < cut.count; ++i) {
        if (block->runs.empty() || block->runs.back() != cut.sums[i].run) {
          block->runs.push_back(cut.sums[i].run);
          block->lengths.push_back(0);
        }
        block->points.push_back(cut.sums[i].sum);
        ++block->lengths.back();
      }
    }
    block->sums.reduce(block->points, block->lengths);
    for (std::size_t i = 0; i < block->runs.size(); ++i) sums[block->runs[i]] = block->points[i];
    give_back(std::move(block));
  }

  std::unique_ptr<Block> take_block() {
    const std::lock_guard lock(mutex_);
    if (spare_blocks_.empty()) return std::make_unique<Block>();
    std::unique_ptr<Block> block = std::move(spare_blocks_.back());
    spare_blocks_.pop_back();
    return block;
  }

  void give_back(std::unique_ptr<Block> block) {
    const std::lock_guard lock(mutex_);
    spare_blocks_.push_back(std::move(block));
  }

  ThreadPool& pool_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> spare_blocks_;
};

}  // namespace vitrine::kernels
