// SPDX-License-Identifier: Apache-2.0
// WeakMemory: a memory of one writer and one reader that shows every value C++ allows.
//
// Model    A store adds a message to its word; it carries what it releases: the newest message of
//          every word that the writer had stored before it (release), or before its last release
//          fence (relaxed). A load takes any message that is not older than what the reader knows;
//          what the message carries becomes known at once (acquire), or with the next acquire
//          fence (relaxed). The writer depends on nothing that the reader does, so its run is
//          recorded first, and the loads are enumerated on top of it.
// Crash    only the first `alive` stores of the recorded run exist for the reader.
// Source   J. Kang, C.-K. Hur, O. Lahav, V. Vafeiadis, D. Dreyer, "A promising semantics for
//          relaxed-memory concurrency", POPL 2017: its views, without promises.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <vector>

namespace vitrine::shm::testing {

class WeakMemory {
 public:
  static constexpr std::size_t kWords = 40;
  struct Word {
    char unused;  // only its address counts
  };

  WeakMemory() {
    for (auto& messages : messages_) messages.push_back({0, 0, {}});
  }

  Word* word(std::size_t index) { return &words_[index]; }
  std::size_t stores() const { return stores_; }
  // The newest value of a word when `alive` stores were made.
  std::uint64_t value_after(const Word& word, std::size_t alive) const {
    const auto& messages = messages_[index_of(word)];
    return messages[newest(messages, alive)].value;
  }

  // The writer.
  void store(Word& word, std::uint64_t value, std::memory_order order) {
    auto& messages = messages_[index_of(word)];
    written_[index_of(word)] = static_cast<Index>(messages.size());
    const View& released = order == std::memory_order_release ? written_ : fenced_;
    messages.push_back({value, ++stores_, released});
    messages.back().released[index_of(word)] = static_cast<Index>(messages.size() - 1);
  }
  std::uint64_t load_own(const Word& word) const { return messages_[index_of(word)].back().value; }
  void fence_release() { fenced_ = written_; }

  // The reader. It begins anew with begin_reader(), and for the same writer's run takes other
  // choices after each next_choices(), until that says that there are none left.
  void begin_reader(std::size_t alive, bool sees_all) {
    alive_ = alive;
    known_ = carried_ = {};
    if (sees_all) {
      for (std::size_t i = 0; i < kWords; ++i) known_[i] = newest(messages_[i], alive);
    }
    depth_ = 0;
  }
  std::uint64_t load(const Word& word, std::memory_order order) {
    const std::size_t at = index_of(word);
    const auto& messages = messages_[at];
    const auto options = static_cast<Index>(newest(messages, alive_) - known_[at] + 1);
    const auto chosen = static_cast<Index>(known_[at] + choose(options));
    known_[at] = chosen;
    join(order == std::memory_order_acquire ? known_ : carried_, messages[chosen].released);
    return messages[chosen].value;
  }
  void fence_acquire() { join(known_, carried_); }

  bool next_choices() {
    choices_.resize(depth_);
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options) {
      choices_.pop_back();
    }
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

 private:
  using Index = std::uint8_t;
  using View = std::array<Index, kWords>;  // by word: the oldest message that may still be seen
  struct Message {
    std::uint64_t value;
    std::size_t store;  // its number in the writer's run; zero: the word's first content
    View released;
  };
  struct Choice {
    Index taken;
    Index options;
  };

  std::size_t index_of(const Word& word) const {
    assert(&word >= words_.data() && &word < words_.data() + kWords);
    return static_cast<std::size_t>(&word - words_.data());
  }
  static Index newest(const std::vector<Message>& messages, std::size_t alive) {
    std::size_t i = messages.size() - 1;
    while (messages[i].store > alive) --i;
    return static_cast<Index>(i);
  }
  static void join(View& view, const View& other) {
    for (std::size_t i = 0; i < kWords; ++i) view[i] = std::max(view[i], other[i]);
  }
  Index choose(Index options) {
    if (options == 1) return 0;
    if (depth_ == choices_.size()) choices_.push_back({0, options});
    assert(choices_[depth_].options == options && "the reader's code depends on its loads only");
    return choices_[depth_++].taken;
  }

  std::array<Word, kWords> words_{};
  std::array<std::vector<Message>, kWords> messages_;
  std::size_t stores_ = 0;
  View written_{};
  View fenced_{};

  std::size_t alive_ = 0;
  View known_{};
  View carried_{};
  std::size_t depth_ = 0;
  std::vector<Choice> choices_;
};

}  // namespace vitrine::shm::testing
