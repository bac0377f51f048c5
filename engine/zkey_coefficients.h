// SPDX-License-Identifier: Apache-2.0
// Builds the constraint matrices A and B from a key's coefficient section.
//
// Cost: two passes over the section, one to size the rows and one to fill them, so that the section
// is never in memory as a whole.
// Why: the file could change between the passes; the second trusts nothing the first has seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/byte_reader.h"
#include "engine/error.h"
#include "engine/load_progress.h"
#include "engine/zkey_file.h"

namespace vitrine::engine {

template <class Fr>
class ZkeyCoefficientReader {
 public:
  // The matrices A and B.
  using Matrices = std::array<ConstraintMatrix<Fr>, 2>;

  ZkeyCoefficientReader(const ZkeyFile& file, LoadProgress& progress)
      : file_(file), progress_(progress) {}

  [[nodiscard]] Result<Matrices> read() {
    Matrices matrices;
    for (ConstraintMatrix<Fr>& matrix : matrices) {
      matrix.row_begin.assign(std::size_t{file_.shape.domain_size} + 1, 0);
    }
    auto counted = for_each([&](const Entry& entry) {
      ++matrices[entry.matrix].row_begin[entry.constraint + 1];
      return true;
    });
    if (!counted) return counted.error();
    for (ConstraintMatrix<Fr>& matrix : matrices) make_room(matrix);
    return fill(std::move(matrices));
  }

  // Looks at every entry without keeping any.
  [[nodiscard]] Result<void> check() {
    return for_each([](const Entry&) { return true; });
  }

 private:
  static constexpr std::size_t kChunkEntries = std::size_t{1} << 14;

  struct Entry {
    std::uint32_t matrix, constraint, signal;
    typename Fr::Limbs value;
  };

  static void make_room(ConstraintMatrix<Fr>& matrix) {
    for (std::size_t i = 1; i < matrix.row_begin.size(); ++i) {
      matrix.row_begin[i] += matrix.row_begin[i - 1];
    }
    matrix.signals.resize(matrix.row_begin.back());
    matrix.values.resize(matrix.row_begin.back());
  }

  Result<Matrices> fill(Matrices matrices) {
    std::array<LargeVector<std::uint32_t>, 2> next = {matrices[0].row_begin, matrices[1].row_begin};
    auto filled = for_each([&](const Entry& entry) {
      ConstraintMatrix<Fr>& matrix = matrices[entry.matrix];
      std::uint32_t& position = next[entry.matrix][entry.constraint];
      if (position == matrix.row_begin[entry.constraint + 1]) return false;
      matrix.signals[position] = entry.signal;
      matrix.values[position] = Fr::from_montgomery(entry.value);
      ++position;
      return true;
    });
    if (!filled) return filled.error();
    return matrices;
  }

  // Calls body for every entry, in the file's order; body answers false when the entry is not one
  // of the first pass.
  template <class Body>
  Result<void> for_each(Body&& body) {
    const ContainerSection section = file_.section(ZkeySection::kCoefficients);
    std::vector<std::byte> buffer(kChunkEntries * kCoefficientBytes);
    for (std::uint64_t first = 0; first < file_.shape.coefficients; first += kChunkEntries) {
      const std::uint64_t count =
          std::min<std::uint64_t>(kChunkEntries, file_.shape.coefficients - first);
      const std::span bytes = std::span(buffer).first(count * kCoefficientBytes);
      auto done = file_.container.read(section, 4 + first * kCoefficientBytes, bytes);
      if (!done) return done.error();
      ByteReader reader(bytes);
      for (std::uint64_t i = 0; i < count; ++i) {
        auto entry = take_entry(reader, first + i);
        if (!entry) return entry.error();
        if (!body(*entry)) return error(first + i, "changed while it was read");
      }
      progress_.add_constraints(bytes.size() / 2);
    }
    return {};
  }

  Result<Entry> take_entry(ByteReader& reader, std::uint64_t index) const {
    Entry entry;
    entry.matrix = reader.take<std::uint32_t>();
    entry.constraint = reader.take<std::uint32_t>();
    entry.signal = reader.take<std::uint32_t>();
    entry.value = reader.take<typename Fr::Limbs>();
    if (entry.matrix > 1) {
      return error(index, "matrix " + std::to_string(entry.matrix) + ", expected 0 or 1");
    }
    if (entry.constraint >= file_.shape.domain_size) {
      return error(index, "constraint " + std::to_string(entry.constraint) +
                              ", expected less than the domain size " +
                              std::to_string(file_.shape.domain_size));
    }
    if (entry.signal >= file_.shape.variables) {
      return error(index, "signal " + std::to_string(entry.signal) + ", expected less than the " +
                              std::to_string(file_.shape.variables) + " variables");
    }
    if (!Fr::is_canonical(entry.value)) return error(index, "value is not below the modulus");
    return entry;
  }

  Error error(std::uint64_t index, const std::string& rule) const {
    return file_.section_error(ZkeySection::kCoefficients,
                               "coefficient " + std::to_string(index) + ": " + rule);
  }

  const ZkeyFile& file_;
  LoadProgress& progress_;
};

}  // namespace vitrine::engine
