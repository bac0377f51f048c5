// SPDX-License-Identifier: Apache-2.0
// Fuzz target: families of any names, labels and numbers as metric text, read back strictly.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "exporters/bounded_label.h"
#include "exporters/metric_text.h"
#include "tests/exporters/metric_text_check.h"

namespace {

using namespace vitrine::exporters;

// The input as what it is asked for; zeros and empty texts when it has ended.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool is_empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_[0];
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    const auto bytes = take(byte() % 9);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }
  std::string text() {
    const auto bytes = take(byte() % 32);
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::span<const std::uint8_t> take(std::size_t size) {
    const auto taken = bytes_.first(std::min(size, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

  std::span<const std::uint8_t> bytes_;
};

MetricValue value_from(Input& input, MetricType type) {
  if (type == MetricType::kHistogram || type == MetricType::kSummary) {
    MetricDistribution spread;
    for (std::uint64_t bound_ns = 1; bound_ns < 1'000'000'000'000; bound_ns *= 1000) {
      if (type == MetricType::kHistogram) spread.buckets.push_back({{bound_ns}, input.number()});
    }
    spread.beyond = input.number();
    spread.sum.ns = input.number();
    return spread;
  }
  switch (input.byte() % 3) {
    case 0:
      return MetricDuration{input.number()};
    case 1:
      return MetricTime{static_cast<std::int64_t>(input.number())};
    default:
      return input.number();
  }
}

// Names are of the catalogue's form: a segment's schema is checked for that when it is read.
std::string name_from(Input& input, MetricType type) {
  constexpr const char* kEnds[] = {"",       "_total",  "_info",    "_sum",
                                   "_count", "_bucket", "_created", "_seconds"};
  std::string name = std::string("m") + static_cast<char>('a' + input.byte() % 4);
  name += kEnds[input.byte() % std::size(kEnds)];
  if (type == MetricType::kCounter) name += "_total";
  if (type == MetricType::kInfo) name += "_info";
  return name;
}

void require_whole(const MetricFamilies& families, MetricFormat format) {
  const std::string text = metric_text(families, format);
  const auto read = testing::read_metrics(text, format == MetricFormat::kOpenMetrics);
  if (!read.fault) return;
  std::fprintf(stderr, "broken promise: %s\n%s", read.fault->c_str(), text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  MetricFamilies families;
  BoundedLabel bounded(2);
  while (!input.is_empty()) {
    const auto type = static_cast<MetricType>(input.byte() % 5);
    const std::string name = name_from(input, type);
    const std::string help = input.text();
    MetricLabels labels;
    if (input.byte() % 2 == 0) labels.push_back({"x", bounded.value_of(input.text())});
    if (input.byte() % 2 == 0) labels.push_back({"y", input.text()});
    families.add({name, type, help}, labels, value_from(input, type));
  }
  require_whole(families, MetricFormat::kPrometheusText);
  require_whole(families, MetricFormat::kOpenMetrics);
  return 0;
}
