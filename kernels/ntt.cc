// SPDX-License-Identifier: Apache-2.0
#include "kernels/ntt.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

namespace vitrine::kernels {
namespace {

// Below this many elements a block is worked level by level; 2^10 elements fit a first-level cache.
constexpr std::size_t kLeafSize = 1024;
// Elements of a range worth handing to another thread.
constexpr std::size_t kMinRange = 1024;
// Blocks per thread before the levels are split by block: evens out unequal ranges.
constexpr std::size_t kBlocksPerThread = 4;

std::size_t reversed(std::size_t value, unsigned bits) {
  std::size_t result = 0;
  for (unsigned bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

// Two levels of butterflies on one block of four quarters; [begin, end) is within a quarter.
// Block 0 of a level has twiddle one, and so have its first two children.
template <class Fr>
void decimate_quarters(std::span<Fr> block, std::size_t index, std::span<const Fr> twiddles,
                       std::pair<std::size_t, std::size_t> range) {
  const std::size_t quarter = block.size() / 4;
  Fr* const x0 = block.data();
  Fr* const x1 = x0 + quarter;
  Fr* const x2 = x1 + quarter;
  Fr* const x3 = x2 + quarter;
  const auto butterflies = [&](auto times_outer, auto times_even, const Fr& odd) {
    for (std::size_t i = range.first; i < range.second; ++i) {
      const Fr a2 = times_outer(x2[i]);
      const Fr a3 = times_outer(x3[i]);
      const Fr low = x0[i] + a2;
      const Fr high = x0[i] - a2;
      const Fr low_turned = times_even(x1[i] + a3);
      const Fr high_turned = (x1[i] - a3) * odd;
      x0[i] = low + low_turned;
      x1[i] = low - low_turned;
      x2[i] = high + high_turned;
      x3[i] = high - high_turned;
    }
  };
  if (index == 0) {
    const auto unchanged = [](const Fr& value) { return value; };
    butterflies(unchanged, unchanged, twiddles[1]);
    return;
  }
  const Fr outer = twiddles[index];
  const Fr even = twiddles[2 * index];
  butterflies([&](const Fr& value) { return value * outer; },
              [&](const Fr& value) { return value * even; }, twiddles[2 * index + 1]);
}

// The transpose of decimate_quarters.
template <class Fr>
void recombine_quarters(std::span<Fr> block, std::size_t index, std::span<const Fr> twiddles,
                        std::pair<std::size_t, std::size_t> range) {
  const std::size_t quarter = block.size() / 4;
  Fr* const x0 = block.data();
  Fr* const x1 = x0 + quarter;
  Fr* const x2 = x1 + quarter;
  Fr* const x3 = x2 + quarter;
  const auto butterflies = [&](auto times_outer, auto times_even, const Fr& odd) {
    for (std::size_t i = range.first; i < range.second; ++i) {
      const Fr low = x0[i] + x1[i];
      const Fr low_turned = times_even(x0[i] - x1[i]);
      const Fr high = x2[i] + x3[i];
      const Fr high_turned = (x2[i] - x3[i]) * odd;
      x0[i] = low + high;
      x1[i] = low_turned + high_turned;
      x2[i] = times_outer(low - high);
      x3[i] = times_outer(low_turned - high_turned);
    }
  };
  if (index == 0) {
    const auto unchanged = [](const Fr& value) { return value; };
    butterflies(unchanged, unchanged, twiddles[1]);
    return;
  }
  const Fr outer = twiddles[index];
  const Fr even = twiddles[2 * index];
  butterflies([&](const Fr& value) { return value * outer; },
              [&](const Fr& value) { return value * even; }, twiddles[2 * index + 1]);
}

// All levels below block `index`, natural order to bit-reversed.
template <class Fr>
void decimate_block(std::span<Fr> block, std::size_t index, std::span<const Fr> twiddles) {
  if (block.size() > kLeafSize) {
    const std::size_t quarter = block.size() / 4;
    decimate_quarters(block, index, twiddles, {0, quarter});
    for (std::size_t child = 0; child < 4; ++child) {
      decimate_block(block.subspan(child * quarter, quarter), 4 * index + child, twiddles);
    }
    return;
  }
  std::size_t size = block.size();
  std::size_t first = index;
  for (; size >= 4; size /= 4, first *= 4) {
    for (std::size_t i = 0; i < block.size() / size; ++i) {
      decimate_quarters(block.subspan(i * size, size), first + i, twiddles, {0, size / 4});
    }
  }
  if (size == 1) return;
  for (std::size_t i = 0; i < block.size() / 2; ++i) {
    const Fr turned = block[2 * i + 1] * twiddles[first + i];
    block[2 * i + 1] = block[2 * i] - turned;
    block[2 * i] += turned;
  }
}

// The transpose of decimate_block: bit-reversed order to natural.
template <class Fr>
void recombine_block(std::span<Fr> block, std::size_t index, std::span<const Fr> twiddles) {
  if (block.size() > kLeafSize) {
    const std::size_t quarter = block.size() / 4;
    for (std::size_t child = 0; child < 4; ++child) {
      recombine_block(block.subspan(child * quarter, quarter), 4 * index + child, twiddles);
    }
    recombine_quarters(block, index, twiddles, {0, quarter});
    return;
  }
  std::size_t size = 1;
  const bool odd_levels = (std::countr_zero(block.size()) & 1) != 0;
  if (odd_levels) {
    size = 2;
    const std::size_t first = index * (block.size() / 2);
    for (std::size_t i = 0; i < block.size() / 2; ++i) {
      const Fr difference = block[2 * i] - block[2 * i + 1];
      block[2 * i] += block[2 * i + 1];
      block[2 * i + 1] = difference * twiddles[first + i];
    }
  }
  for (size *= 4; size <= block.size(); size *= 4) {
    const std::size_t blocks = block.size() / size;
    for (std::size_t i = 0; i < blocks; ++i) {
      recombine_quarters(block.subspan(i * size, size), index * blocks + i, twiddles,
                         {0, size / 4});
    }
  }
}

// One call of `step` (decimate_quarters or recombine_quarters) per block of `block_size`, the work
// of all blocks cut into even ranges.
template <class Fr, class Step>
void each_quarter_range(std::span<Fr> values, std::size_t block_size, ThreadPool& pool, Step step) {
  const std::size_t quarter = block_size / 4;
  pool.parallel_for(values.size() / 4, kMinRange, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t index = begin / quarter;
      const std::size_t offset = begin % quarter;
      const std::size_t length = std::min(end - begin, quarter - offset);
      step(values.subspan(index * block_size, block_size), index,
           std::pair{offset, offset + length});
      begin += length;
    }
  });
}

// The size of the blocks that threads take whole.
std::size_t whole_block_size(std::size_t size, const ThreadPool& pool) {
  const std::size_t wanted = pool.size() == 1 ? 1 : kBlocksPerThread * pool.size();
  std::size_t block = size;
  while (block > kLeafSize && size / block < wanted) block /= 4;
  return block;
}

// powers[i] = start times factors[j] over all bits j set in i.
template <class Fr>
std::vector<Fr> products_by_bits(const Fr& start, std::span<const Fr> factors) {
  std::vector<Fr> products = {start};
  products.reserve(std::size_t{1} << factors.size());
  for (const Fr& factor : factors) {
    const std::size_t count = products.size();
    for (std::size_t i = 0; i < count; ++i) products.push_back(products[i] * factor);
  }
  return products;
}

// start * shift^reversed(i) for any i below 2^bits, from two tables of about 2^(bits / 2).
template <class Fr>
class ReversedPowers {
 public:
  ReversedPowers(const Fr& start, const Fr& shift, unsigned bits) : low_bits_(bits / 2) {
    std::vector<Fr> factors(bits);
    Fr factor = shift;
    for (unsigned bit = bits; bit-- > 0; factor = factor.squared()) factors[bit] = factor;
    const std::span<const Fr> all(factors);
    low_ = products_by_bits(Fr::one(), all.first(low_bits_));
    high_ = products_by_bits(start, all.subspan(low_bits_));
  }
  Fr operator()(std::size_t i) const { return low_[i & (low_.size() - 1)] * high_[i >> low_bits_]; }

 private:
  unsigned low_bits_;
  std::vector<Fr> low_, high_;
};

// Turns the forward transform, in bit-reversed order, into the inverse one: result k is the value
// at -k, and in bit-reversed order -k is the mirror image of k within [2^j, 2^(j+1)). Position p is
// then multiplied by scale(p).
template <class Fr, class Scale>
void reflect_and_scale(std::span<Fr> values, ThreadPool& pool, const Scale& scale) {
  values[0] *= scale(0);
  if (values.size() == 1) return;
  values[1] *= scale(1);
  pool.parallel_for(values.size() / 2 - 1, kMinRange, [&](std::size_t begin, std::size_t end) {
    for (std::size_t pair = begin + 1; pair < end + 1; ++pair) {
      const std::size_t half = std::bit_floor(pair);
      const std::size_t p = pair + half;
      const std::size_t mirror = 5 * half - 1 - pair;
      const Fr kept = values[p];
      values[p] = values[mirror] * scale(p);
      values[mirror] = kept * scale(mirror);
    }
  });
}

}  // namespace

template <class Fr>
Domain<Fr>::Domain(unsigned log2_size, ThreadPool& pool) : log2_size_(log2_size) {
  assert(log2_size <= kMaxLog2);
  twiddles_.resize(std::max(size() / 2, std::size_t{1}));
  twiddles_[0] = Fr::one();
  for (unsigned level = 0; level + 1 < log2_size; ++level) {
    const Fr root = root_of_unity(level + 2);
    const std::size_t count = std::size_t{1} << level;
    pool.parallel_for(count, kMinRange, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) twiddles_[count + i] = twiddles_[i] * root;
    });
  }
}

template <class Fr>
Fr Domain<Fr>::root_of_unity(unsigned log2_order) {
  assert(log2_order <= kMaxLog2);
  // (r - 1) / 2^log2_order; r is odd, so the lost bit of r itself does not matter.
  typename Fr::Limbs exponent = Fr::modulus();
  exponent[0] -= 1;
  for (std::size_t i = 0; i < Fr::kLimbs && log2_order > 0; ++i) {
    const std::uint64_t next = i + 1 < Fr::kLimbs ? exponent[i + 1] : 0;
    exponent[i] = (exponent[i] >> log2_order) | (next << (64 - log2_order));
  }
  return Fr::from_u64(5).pow(exponent);
}

template <class Fr>
void Domain<Fr>::decimate(std::span<Fr> values, ThreadPool& pool) const {
  const std::span<const Fr> twiddles(twiddles_);
  const std::size_t whole = whole_block_size(size(), pool);
  for (std::size_t block = size(); block > whole; block /= 4) {
    each_quarter_range(values, block, pool, [&](auto part, std::size_t index, auto range) {
      decimate_quarters(part, index, twiddles, range);
    });
  }
  pool.parallel_for(size() / whole, 1, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      decimate_block(values.subspan(begin * whole, whole), begin, twiddles);
    }
  });
}

template <class Fr>
void Domain<Fr>::recombine(std::span<Fr> values, ThreadPool& pool) const {
  const std::span<const Fr> twiddles(twiddles_);
  const std::size_t whole = whole_block_size(size(), pool);
  pool.parallel_for(size() / whole, 1, [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      recombine_block(values.subspan(begin * whole, whole), begin, twiddles);
    }
  });
  for (std::size_t block = 4 * whole; block <= size(); block *= 4) {
    each_quarter_range(values, block, pool, [&](auto part, std::size_t index, auto range) {
      recombine_quarters(part, index, twiddles, range);
    });
  }
}

template <class Fr>
void Domain<Fr>::bit_reverse(std::span<Fr> values, ThreadPool& pool) const {
  pool.parallel_for(size(), kMinRange, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t j = reversed(i, log2_size_);
      if (i < j) std::swap(values[i], values[j]);
    }
  });
}

template <class Fr>
void Domain<Fr>::forward(std::span<Fr> values, ThreadPool& pool) const {
  assert(values.size() == size());
  decimate(values, pool);
  bit_reverse(values, pool);
}

template <class Fr>
void Domain<Fr>::inverse(std::span<Fr> values, ThreadPool& pool) const {
  assert(values.size() == size());
  const Fr fraction = Fr::from_u64(size()).inverse();
  decimate(values, pool);
  reflect_and_scale(values, pool, [&](std::size_t) { return fraction; });
  bit_reverse(values, pool);
}

template <class Fr>
void Domain<Fr>::move_to_coset(std::span<Fr> values, const Fr& shift, ThreadPool& pool) const {
  assert(values.size() == size());
  const ReversedPowers<Fr> scale(Fr::from_u64(size()).inverse(), shift, log2_size_);
  decimate(values, pool);
  reflect_and_scale(values, pool, scale);
  recombine(values, pool);
}

template <class Fr>
void scale_by_powers(std::span<Fr> values, const Fr& factor, ThreadPool& pool) {
  pool.parallel_for(values.size(), kMinRange, [&](std::size_t begin, std::size_t end) {
    const std::array<std::uint64_t, 1> first = {begin};
    Fr power = factor.pow(first);
    for (std::size_t i = begin; i < end; ++i, power *= factor) values[i] *= power;
  });
}

template class Domain<Bn254::Fr>;
template class Domain<Bls12_381::Fr>;
template void scale_by_powers(std::span<Bn254::Fr>, const Bn254::Fr&, ThreadPool&);
template void scale_by_powers(std::span<Bls12_381::Fr>, const Bls12_381::Fr&, ThreadPool&);

}  // namespace vitrine::kernels
