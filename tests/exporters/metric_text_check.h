// SPDX-License-Identifier: Apache-2.0
// Reads metric text back, strictly and without the code that wrote it: what a scraper would see, or
// the first thing that is wrong.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shm/utf8_repair.h"

namespace vitrine::exporters::testing {

struct Series {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string value;  // as it stands there
};

struct ReadMetrics {
  std::map<std::string, std::string> types;  // by the name in the TYPE line
  std::map<std::string, std::string> helps;
  std::vector<Series> series;
  std::optional<std::string> fault;

  // The value of the one series with this name and these labels; empty when there is none.
  std::string value(const std::string& name,
                    const std::map<std::string, std::string>& labels = {}) const {
    for (const Series& one : series) {
      if (one.name == name && one.labels == labels) return one.value;
    }
    return {};
  }
};

class MetricReader {
 public:
  static ReadMetrics read(std::string_view text, bool is_open) {
    MetricReader reader(text, is_open);
    reader.run();
    return std::move(reader.out_);
  }

 private:
  MetricReader(std::string_view text, bool is_open) : text_(text), is_open_(is_open) {}

  void run() {
    if (vitrine::shm::repair_utf8(text_) != text_) return fail("not UTF-8");
    if (std::ranges::any_of(text_, is_control)) return fail("a control character");
    while (!text_.empty() && !out_.fault) {
      const std::size_t end = text_.find('\n');
      if (end == text_.npos) return fail("the last line has no end");
      line_ = text_.substr(0, end);
      text_.remove_prefix(end + 1);
      if (is_ended_) return fail("a line after the end");
      line_.starts_with('#') ? read_comment() : read_sample();
    }
    if (is_open_ && !is_ended_) fail("no # EOF");
    if (!out_.fault) check_buckets();
  }

  static bool is_control(char byte) {
    const auto code = static_cast<unsigned char>(byte);
    return (code < 0x20 && byte != '\n') || code == 0x7F;
  }

  void fail(const std::string& what) {
    if (!out_.fault) out_.fault = what + ": " + std::string(line_);
  }

  static bool is_name(std::string_view text) {
    const auto is_letter = [](char byte) {
      return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
    };
    return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char byte) {
      return is_letter(byte) || (byte >= '0' && byte <= '9');
    });
  }

  std::string_view take_until(char end) {
    const std::size_t at = std::min(line_.find(end), line_.size());
    const std::string_view word = line_.substr(0, at);
    line_.remove_prefix(std::min(at + 1, line_.size()));
    return word;
  }

  void read_comment() {
    if (is_open_ && line_ == "# EOF") {
      is_ended_ = true;
      return;
    }
    take_until(' ');
    const std::string_view what = take_until(' ');
    const std::string name(take_until(' '));
    if (!is_name(name)) return fail("a name that is none");
    if (what == "HELP") {
      if (!out_.helps.emplace(name, unescaped(line_, is_open_)).second) fail("two HELPs");
    } else if (what == "TYPE") {
      if (!out_.types.emplace(name, line_).second) return fail("two TYPEs");
      family_ = name;
      type_ = line_;
    } else if (what != "UNIT" || !is_open_ || !name.ends_with("_" + std::string(line_))) {
      fail("a comment that is none");
    }
  }

  std::string unescaped(std::string_view text, bool may_quote) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"' && may_quote) fail("a bare quote");
      if (text[i] != '\\') {
        out += text[i];
        continue;
      }
      const char next = ++i < text.size() ? text[i] : '?';
      if (next != '\\' && next != 'n' && (next != '"' || !may_quote)) fail("an escape");
      out += next == 'n' ? '\n' : next;
    }
    return out;
  }

  void read_labels(Series& series) {
    while (!line_.starts_with('}') && !out_.fault) {
      const std::string name(take_until('='));
      if (!is_name(name) || !line_.starts_with('"')) return fail("a label");
      std::size_t end = 1;
      while (end < line_.size() && line_[end] != '"') end += line_[end] == '\\' ? 2 : 1;
      if (end >= line_.size()) return fail("a value without an end");
      if (!series.labels.emplace(name, unescaped(line_.substr(1, end - 1), true)).second) {
        return fail("a label twice");
      }
      line_.remove_prefix(end + 1);
      if (line_.starts_with(',')) line_.remove_prefix(1);
    }
    line_.remove_prefix(std::min<std::size_t>(1, line_.size()));
  }

  bool is_of_family(std::string_view name) const {
    if (!name.starts_with(family_)) return false;
    const std::string_view suffix = name.substr(family_.size());
    if (type_ == "histogram") return suffix == "_bucket" || suffix == "_sum" || suffix == "_count";
    if (type_ == "summary") return suffix == "_sum" || suffix == "_count";
    if (is_open_ && type_ == "counter") return suffix == "_total";
    if (is_open_ && type_ == "info") return suffix == "_info";
    return suffix.empty();
  }

  void read_sample() {
    Series series;
    const std::size_t end = std::min(line_.find_first_of("{ "), line_.size());
    series.name = line_.substr(0, end);
    if (!is_name(series.name) || !is_of_family(series.name)) return fail("a sample out of place");
    const bool has_labels = end < line_.size() && line_[end] == '{';
    line_.remove_prefix(std::min(end + (has_labels ? 1 : 0), line_.size()));
    if (has_labels) read_labels(series);
    if (!line_.starts_with(' ')) return fail("no value");
    series.value = line_.substr(1);
    char* stop = nullptr;
    std::strtod(series.value.c_str(), &stop);
    const bool is_number = !series.value.empty() && *stop == '\0' &&
                           series.value.find_first_not_of("0123456789.-") == std::string::npos;
    if (!is_number) return fail("a value that is no number");
    if (!seen_.emplace(series.name, series.labels).second) return fail("a series twice");
    out_.series.push_back(std::move(series));
  }

  // Buckets rise, and the last one is the count.
  void check_buckets() {
    unsigned long long last = 0;
    for (const Series& series : out_.series) {
      const unsigned long long count = std::strtoull(series.value.c_str(), nullptr, 10);
      if (series.name.ends_with("_bucket") && series.labels.contains("le")) {
        if (count < last) fail("buckets fall");
        last = count;
      } else if (series.name.ends_with("_count") && out_.types.contains(base_of(series.name))) {
        const bool is_histogram = out_.types.at(base_of(series.name)) == "histogram";
        if (is_histogram && count != last) fail("count is not the last bucket");
        last = 0;
      }
    }
  }
  static std::string base_of(const std::string& name) {
    return name.substr(0, name.size() - std::string_view("_count").size());
  }

  std::string_view text_;
  const bool is_open_;
  std::string_view line_;
  std::string family_;
  std::string type_;
  bool is_ended_ = false;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen_;
  ReadMetrics out_;
};

inline ReadMetrics read_metrics(std::string_view text, bool is_open = false) {
  return MetricReader::read(text, is_open);
}

}  // namespace vitrine::exporters::testing
