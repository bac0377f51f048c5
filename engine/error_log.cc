// SPDX-License-Identifier: Apache-2.0
#include "engine/error_log.h"

#include <algorithm>

namespace vitrine::engine {
namespace {

constexpr std::size_t kTextBytesMax = 512;

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// True when the texts are the same but for the numbers in them.
bool are_alike(std::string_view left, std::string_view right) {
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < left.size() && k < right.size()) {
    if (is_digit(left[i]) && is_digit(right[k])) {
      i = skip_digits(left, i);
      k = skip_digits(right, k);
    } else if (left[i++] != right[k++]) {
      return false;
    }
  }
  return i == left.size() && k == right.size();
}

}  // namespace

std::uint32_t ErrorLog::row_of(const ErrorNote& note) {
  const auto known = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.failure_class == note.failure_class && are_alike(entry.text, note.text);
  });
  if (known != entries_.end()) return static_cast<std::uint32_t>(known - entries_.begin());
  Entry fresh;
  fresh.failure_class = note.failure_class;
  fresh.text = note.text;
  if (entries_.size() < capacity_) {
    entries_.push_back(std::move(fresh));
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  const auto by_last = [](const Entry& entry) { return entry.last.ns; };
  const auto oldest = std::ranges::min_element(entries_, {}, by_last);
  *oldest = std::move(fresh);
  return static_cast<std::uint32_t>(oldest - entries_.begin());
}

std::optional<std::uint32_t> ErrorLog::note(const ErrorNote& note, shm::Instant now) {
  if (capacity_ == 0) return std::nullopt;
  ErrorNote bounded = note;
  bounded.text = note.text.substr(0, kTextBytesMax);
  const std::uint32_t row = row_of(bounded);
  Entry& entry = entries_[row];
  if (entry.count++ == 0) entry.first = now;
  entry.last = now;
  entry.job = note.job;
  entry.partition = note.partition;
  entry.device = note.device;
  return row;
}

}  // namespace vitrine::engine
