// SPDX-License-Identifier: Apache-2.0
#include "exporters/metric_family.h"

#include <algorithm>
#include <utility>

#include "shm/utf8_repair.h"

namespace vitrine::exporters {
namespace {

void add_to(std::uint64_t& sum, std::uint64_t more) { add_saturating(sum, more); }
void add_to(MetricDuration& sum, MetricDuration more) { add_to(sum.ns, more.ns); }
void add_to(MetricTime& latest, MetricTime other) {
  latest.unix_ns = std::max(latest.unix_ns, other.unix_ns);
}
void add_to(MetricDistribution& sum, const MetricDistribution& more) {
  for (std::size_t i = 0; i < std::min(sum.buckets.size(), more.buckets.size()); ++i) {
    add_to(sum.buckets[i].count, more.buckets[i].count);
  }
  add_to(sum.beyond, more.beyond);
  add_to(sum.sum, more.sum);
}

std::vector<std::string> names_of(std::string_view name, MetricType type) {
  const std::string family(family_name(name, type));
  switch (type) {
    case MetricType::kCounter:
      return {family, family + "_total", family + "_created"};
    case MetricType::kInfo:
      return {family, family + "_info"};
    case MetricType::kHistogram:
    case MetricType::kSummary:
      return {family, family + "_count", family + "_sum", family + "_bucket", family + "_created"};
    case MetricType::kGauge:
      break;
  }
  return {family};
}

}  // namespace

std::string_view family_name(std::string_view name, MetricType type) {
  const std::string_view suffix = type == MetricType::kCounter ? "_total"
                                  : type == MetricType::kInfo  ? "_info"
                                                               : "";
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

std::string repaired_text(std::string_view bytes) {
  const auto is_control = [](char byte) {
    return (static_cast<unsigned char>(byte) < 0x20 && byte != '\n') || byte == 0x7F;
  };
  const auto is_plain = [&](char byte) {
    return static_cast<unsigned char>(byte) < 0x7F && !is_control(byte);
  };
  if (std::ranges::all_of(bytes, is_plain)) return std::string(bytes);
  std::string text;
  for (const char byte : shm::repair_utf8(bytes)) {
    if (is_control(byte)) {
      text += "\xEF\xBF\xBD";
    } else {
      text += byte;
    }
  }
  return text;
}

void MetricFamily::add(MetricLabels labels, const MetricValue& value) {
  for (MetricLabel& label : labels) label.value = repaired_text(label.value);
  const auto same = std::ranges::find(samples, labels, &MetricSample::labels);
  if (same == samples.end()) {
    samples.push_back({std::move(labels), value});
    return;
  }
  if (type == MetricType::kInfo) return;  // it is 1, however often it is said
  std::visit(
      [&]<class Value>(const Value& more) {
        if (Value* const sum = std::get_if<Value>(&same->value)) add_to(*sum, more);
      },
      value);
}

MetricFamily* MetricFamilies::family(const MetricDescription& description) {
  for (MetricFamily& family : families_) {
    if (family.name == description.name) {
      return family.type == description.type ? &family : nullptr;
    }
  }
  const auto names = names_of(description.name, description.type);
  const bool is_taken =
      std::ranges::any_of(names, [&](const std::string& name) { return names_.contains(name); });
  if (is_taken) return nullptr;
  names_.insert(names.begin(), names.end());
  return &families_.emplace_back(description);
}

}  // namespace vitrine::exporters
