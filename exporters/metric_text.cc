// SPDX-License-Identifier: Apache-2.0
#include "exporters/metric_text.h"

#include <charconv>
#include <utility>

namespace vitrine::exporters {
namespace {

constexpr std::uint64_t kNsInSecond = 1'000'000'000;

void append_number(std::string& out, std::uint64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// With a point always, so that the bounds of buckets are spelled the same in both formats.
void append_seconds(std::string& out, std::uint64_t ns) {
  append_number(out, ns / kNsInSecond);
  std::string fraction;
  append_number(fraction, kNsInSecond + ns % kNsInSecond);
  fraction[0] = '.';
  while (fraction.size() > 2 && fraction.back() == '0') fraction.pop_back();
  out += fraction;
}

// To the millisecond, as every other output has times of day.
void append_time(std::string& out, std::int64_t unix_ns) {
  constexpr std::int64_t kMs = 1'000'000;
  const std::int64_t unix_ms = unix_ns / kMs - (unix_ns % kMs < 0 ? 1 : 0);
  if (unix_ms < 0) out += '-';
  const auto magnitude = static_cast<std::uint64_t>(unix_ms < 0 ? -unix_ms : unix_ms);
  append_seconds(out, magnitude * kMs);
}

enum class Quotes : std::uint8_t { kPlain, kEscaped };

void append_escaped(std::string& out, std::string_view text, Quotes quotes) {
  for (const char byte : text) {
    if (byte == '\n') {
      out += "\\n";
      continue;
    }
    if (byte == '\\' || (byte == '"' && quotes == Quotes::kEscaped)) out += '\\';
    out += byte;
  }
}

std::string_view type_word(MetricType type, MetricFormat format) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kInfo:
      return format == MetricFormat::kOpenMetrics ? "info" : "gauge";
    case MetricType::kHistogram:
      return "histogram";
    case MetricType::kSummary:
      return "summary";
    case MetricType::kGauge:
      break;
  }
  return "gauge";
}

std::string_view unit_of(std::string_view family) {
  for (const std::string_view unit : {"seconds", "bytes"}) {
    if (family.ends_with(unit) && family.size() > unit.size() &&
        family[family.size() - unit.size() - 1] == '_') {
      return unit;
    }
  }
  return {};
}

class Writer {
 public:
  explicit Writer(MetricFormat format) : format_(format) {}

  void write(const MetricFamily& family) {
    write_head(family);
    for (const MetricSample& sample : family.samples) {
      if (const auto* spread = std::get_if<MetricDistribution>(&sample.value)) {
        write_distribution(family, sample.labels, *spread);
      } else {
        write_line(family.name, "", sample.labels);
        append_value(sample.value);
      }
    }
  }

  std::string finish() {
    if (format_ == MetricFormat::kOpenMetrics) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  void write_head(const MetricFamily& family) {
    const bool is_open = format_ == MetricFormat::kOpenMetrics;
    const std::string name(is_open ? family_name(family.name, family.type) : family.name);
    out_ += "# HELP " + name + " ";
    append_escaped(out_, family.help, is_open ? Quotes::kEscaped : Quotes::kPlain);
    out_ += "\n# TYPE " + name + " ";
    out_ += type_word(family.type, format_);
    out_ += '\n';
    const std::string_view unit = unit_of(name);
    if (!is_open || unit.empty() || family.type == MetricType::kInfo) return;
    out_ += "# UNIT " + name + " ";
    out_ += unit;
    out_ += '\n';
  }

  // Up to the value.
  void write_line(std::string_view name, std::string_view suffix, const MetricLabels& labels,
                  std::string_view bound = {}) {
    out_ += name;
    out_ += suffix;
    char before = '{';
    const auto write_label = [&](std::string_view label, std::string_view value) {
      out_ += before;
      out_ += label;
      out_ += "=\"";
      append_escaped(out_, value, Quotes::kEscaped);
      out_ += '"';
      before = ',';
    };
    for (const MetricLabel& label : labels) write_label(label.name, label.value);
    if (!bound.empty()) write_label("le", bound);
    if (before == ',') out_ += '}';
    out_ += ' ';
  }

  void append_value(const MetricValue& value) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      append_number(out_, *number);
    } else if (const auto* duration = std::get_if<MetricDuration>(&value)) {
      append_seconds(out_, duration->ns);
    } else if (const auto* time = std::get_if<MetricTime>(&value)) {
      append_time(out_, time->unix_ns);
    }
    out_ += '\n';
  }

  void write_distribution(const MetricFamily& family, const MetricLabels& labels,
                          const MetricDistribution& spread) {
    std::uint64_t count = 0;
    for (const MetricBucket& bucket : spread.buckets) {
      add_saturating(count, bucket.count);
      std::string bound;
      append_seconds(bound, bucket.bound.ns);
      write_line(family.name, "_bucket", labels, bound);
      append_value(count);
    }
    add_saturating(count, spread.beyond);
    if (family.type == MetricType::kHistogram) {
      write_line(family.name, "_bucket", labels, "+Inf");
      append_value(count);
    }
    write_line(family.name, "_sum", labels);
    append_value(spread.sum);
    write_line(family.name, "_count", labels);
    append_value(count);
  }

  const MetricFormat format_;
  std::string out_;
};

}  // namespace

std::string_view content_type_of(MetricFormat format) {
  return format == MetricFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metric_text(const MetricFamilies& families, MetricFormat format) {
  Writer writer(format);
  for (const MetricFamily& family : families.all()) {
    if (!family.samples.empty()) writer.write(family);
  }
  return writer.finish();
}

}  // namespace vitrine::exporters
