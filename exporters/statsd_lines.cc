// SPDX-License-Identifier: Apache-2.0
#include "exporters/statsd_lines.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace vitrine::exporters {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

std::string seconds_text(std::uint64_t ns) {
  std::string text = std::to_string(ns / kNsPerSecond);
  if (ns % kNsPerSecond == 0) return text;
  text += "." + std::to_string(kNsPerSecond + ns % kNsPerSecond).substr(1);
  text.resize(text.find_last_not_of('0') + 1);
  return text;
}

std::string safe_text(std::string text) {
  const auto is_safe = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
  };
  std::ranges::replace_if(
      text, [&](char byte) { return !is_safe(byte); }, '_');
  return text.empty() ? "_" : text;
}

class LineWriter {
 public:
  LineWriter(const StatsdStyle& style, CounterDeltas& deltas) : style_(style), deltas_(deltas) {}

  void add(const MetricFamily& family, const MetricSample& sample) {
    if (const auto* spread = std::get_if<MetricDistribution>(&sample.value)) {
      std::uint64_t count = spread->beyond;
      for (const MetricBucket& bucket : spread->buckets) add_saturating(count, bucket.count);
      add_counter(family.name + "_count", sample.labels, count);
      add_counter(family.name + "_sum", sample.labels, spread->sum);
    } else if (family.type == MetricType::kCounter) {
      std::visit([&](const auto& value) { add_counter(family.name, sample.labels, value); },
                 sample.value);
    } else {
      std::visit([&](const auto& value) { add_gauge(family.name, sample.labels, value); },
                 sample.value);
    }
  }

  std::vector<std::string> take() { return std::move(units_); }

 private:
  struct Series {
    std::string name;
    std::string tags;
    std::string counter;  // tells apart what has one name: labels as they are
  };

  Series series(const std::string& name, const MetricLabels& labels) const {
    Series out{style_.prefix + name, {}, name};
    for (const MetricLabel& label : labels) {
      out.counter += '\n' + label.value;
      const std::string label_name(label.name);
      if (style_.format == StatsdFormat::kPlain) {
        out.name += "." + label_name + "." + safe_text(label.value);
      } else {
        out.tags += (out.tags.empty() ? "|#" : ",") + label_name + ":" + safe_text(label.value);
      }
    }
    return out;
  }

  void add_line(const Series& of, const std::string& value, const char* type) {
    units_.push_back(of.name + ":" + value + "|" + type + of.tags);
  }

  void add_rise(const Series& of, std::uint64_t value, std::string (*text)(std::uint64_t)) {
    const std::uint64_t rise = deltas_.take(of.counter, value);
    if (rise != 0) add_line(of, text(rise), "c");
  }
  void add_counter(const std::string& name, const MetricLabels& labels, std::uint64_t value) {
    add_rise(series(name, labels), value, [](std::uint64_t rise) { return std::to_string(rise); });
  }
  void add_counter(const std::string& name, const MetricLabels& labels, MetricDuration value) {
    add_rise(series(name, labels), value.ns, seconds_text);
  }
  // No counter is a time of day or a distribution.
  void add_counter(const std::string&, const MetricLabels&, MetricTime) {}
  void add_counter(const std::string&, const MetricLabels&, const MetricDistribution&) {}

  void add_gauge(const std::string& name, const MetricLabels& labels, std::uint64_t value) {
    add_line(series(name, labels), std::to_string(value), "g");
  }
  void add_gauge(const std::string& name, const MetricLabels& labels, MetricDuration value) {
    add_line(series(name, labels), seconds_text(value.ns), "g");
  }
  // To the millisecond, as in /metrics.
  void add_gauge(const std::string& name, const MetricLabels& labels, MetricTime value) {
    const Series of = series(name, labels);
    const std::int64_t ms = value.unix_ns / kNsPerMs;
    const auto size_ms = static_cast<std::uint64_t>(ms < 0 ? -ms : ms);
    const std::string size = seconds_text(size_ms * static_cast<std::uint64_t>(kNsPerMs));
    add_line(of, ms < 0 ? "0" : size, "g");
    if (ms < 0) units_.back() += "\n" + of.name + ":-" + size + "|g" + of.tags;
  }
  void add_gauge(const std::string&, const MetricLabels&, const MetricDistribution&) {}

  const StatsdStyle& style_;
  CounterDeltas& deltas_;
  std::vector<std::string> units_;
};

}  // namespace

std::vector<std::string> statsd_lines(const MetricFamilies& families, const StatsdStyle& style,
                                      CounterDeltas& deltas) {
  LineWriter writer(style, deltas);
  for (const MetricFamily& family : families.all()) {
    if (family.type == MetricType::kInfo) continue;
    for (const MetricSample& sample : family.samples) writer.add(family, sample);
  }
  return writer.take();
}

}  // namespace vitrine::exporters
