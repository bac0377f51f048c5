// SPDX-License-Identifier: Apache-2.0
// Metrics as plain values: families of samples, without a format.
//
// Layout   a family is named as queries name it (vitrine_jobs_finished_total, vitrine_build_info);
//          its samples differ in their labels, in the order in which they were first added.
// Units    base units, as the name says: seconds, bytes.
//          Labels and help texts may be given as any bytes: what is not UTF-8, and control
//          characters but the line feed, become U+FFFD.
// Why      a NUL or a carriage return is allowed by the formats, and ends a value or a line in real
//          parsers. Values that came under one set of labels become one sample, so that no text can
//          hold a series twice: numbers and durations add up, of two times the later one counts.
// Threads  one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vitrine::exporters {

enum class MetricType : std::uint8_t { kCounter, kGauge, kInfo, kHistogram, kSummary };

struct MetricDescription {
  std::string_view name;  // a counter's ends with _total, that of an info with _info
  MetricType type;
  std::string_view help;
};

struct MetricLabel {
  std::string_view name;  // of static life
  std::string value;
  friend bool operator==(const MetricLabel&, const MetricLabel&) = default;
};
using MetricLabels = std::vector<MetricLabel>;

// Shown exactly, as seconds.
struct MetricDuration {
  std::uint64_t ns = 0;
};
// Seconds since 1970.
struct MetricTime {
  std::int64_t unix_ns = 0;
};
// How many observations were at most `bound` and above the bound before it.
struct MetricBucket {
  MetricDuration bound;
  std::uint64_t count = 0;
};
struct MetricDistribution {
  std::vector<MetricBucket> buckets;  // by rising bound; none in a summary
  std::uint64_t beyond = 0;           // observations above the last bound
  MetricDuration sum;
};
using MetricValue = std::variant<std::uint64_t, MetricDuration, MetricTime, MetricDistribution>;

struct MetricSample {
  MetricLabels labels;
  MetricValue value;
};

// Bytes as text that no parser stumbles over.
std::string repaired_text(std::string_view bytes);

class MetricFamily {
 public:
  explicit MetricFamily(const MetricDescription& description)
      : name(description.name), type(description.type), help(repaired_text(description.help)) {}

  void add(MetricLabels labels, const MetricValue& value);

  const std::string name;
  const MetricType type;
  const std::string help;
  std::vector<MetricSample> samples;
};

class MetricFamilies {
 public:
  // The family of this description, made when it is new. Null when its name, or one that a format
  // derives from it, belongs to another family: names of fields may come from a segment.
  MetricFamily* family(const MetricDescription& description);

  void add(const MetricDescription& description, const MetricLabels& labels,
           const MetricValue& value) {
    if (MetricFamily* const found = family(description)) found->add(labels, value);
  }

  const std::deque<MetricFamily>& all() const { return families_; }

 private:
  std::deque<MetricFamily> families_;  // its references stay valid
  std::set<std::string> names_;        // taken, with everything that a suffix makes of them
};

// Adds without passing the end: untrusted numbers must not make a sum smaller.
constexpr void add_saturating(std::uint64_t& sum, std::uint64_t more) {
  sum += std::min(more, std::numeric_limits<std::uint64_t>::max() - sum);
}

// The name without the suffix that its type gives it: what OpenMetrics calls the family.
std::string_view family_name(std::string_view name, MetricType type);

}  // namespace vitrine::exporters
