// SPDX-License-Identifier: Apache-2.0
#include "exporters/metric_text.h"

#include <catch2/catch.hpp>
#include <clocale>
#include <limits>
#include <string>

#include "exporters/bounded_label.h"
#include "tests/exporters/metric_text_check.h"

namespace vitrine::exporters::testing {

namespace {

constexpr MetricDescription kGauge{"a", MetricType::kGauge, "help"};

std::string text_of(const MetricFamilies& families,
                    MetricFormat format = MetricFormat::kPrometheusText) {
  return metric_text(families, format);
}

// The one sample's value as text.
std::string value_text(const MetricValue& value) {
  MetricFamilies families;
  families.add(kGauge, {}, value);
  const std::string text = text_of(families);
  return text.substr(text.rfind(' ') + 1);
}

MetricFamilies hostile_families() {
  MetricFamilies families;
  const MetricDescription total{"b_total", MetricType::kCounter, "quote \" slash \\ line\nend"};
  families.add(total, {{"x", std::string("q\"b\\n\nz\0e", 9)}, {"y", "bad\xFF"}}, std::uint64_t{1});
  families.add(total, {{"x", "</script>\r\t"}, {"y", "\xF0\x9F\x94\xA5"}}, std::uint64_t{2});
  return families;
}

}  // namespace

TEST_CASE("hostile strings stay inside their quotes in both formats", "[X1]") {
  CHECK(text_of(hostile_families()) ==
        "# HELP b_total quote \" slash \\\\ line\\nend\n"
        "# TYPE b_total counter\n"
        "b_total{x=\"q\\\"b\\\\n\\nz\xEF\xBF\xBD"
        "e\",y=\"bad\xEF\xBF\xBD\"} 1\n"
        "b_total{x=\"</script>\xEF\xBF\xBD\xEF\xBF\xBD\",y=\"\xF0\x9F\x94\xA5\"} 2\n");
  CHECK(text_of(hostile_families(), MetricFormat::kOpenMetrics) ==
        "# HELP b quote \\\" slash \\\\ line\\nend\n"
        "# TYPE b counter\n"
        "b_total{x=\"q\\\"b\\\\n\\nz\xEF\xBF\xBD"
        "e\",y=\"bad\xEF\xBF\xBD\"} 1\n"
        "b_total{x=\"</script>\xEF\xBF\xBD\xEF\xBF\xBD\",y=\"\xF0\x9F\x94\xA5\"} 2\n"
        "# EOF\n");
}

TEST_CASE("each type has the names and lines that its format gives it", "[X1]") {
  MetricFamilies families;
  families.add({"build_info", MetricType::kInfo, "i"}, {{"v", "1"}}, std::uint64_t{1});
  families.add({"age_seconds", MetricType::kGauge, "g"}, {}, MetricDuration{1'500'000'000});
  MetricDistribution spread;
  spread.buckets = {{{10'000'000}, 2}, {{1'000'000'000}, 3}};
  spread.beyond = 1;
  spread.sum = {12};
  families.add({"d_seconds", MetricType::kHistogram, "h"}, {{"k", "x"}}, spread);
  families.add({"s_seconds", MetricType::kSummary, "s"}, {}, MetricDistribution{{}, 4, {5}});
  families.family({"empty", MetricType::kGauge, "nothing to say"});
  const std::string samples_of_d =
      "d_seconds_bucket{k=\"x\",le=\"0.01\"} 2\nd_seconds_bucket{k=\"x\",le=\"1.0\"} 5\n"
      "d_seconds_bucket{k=\"x\",le=\"+Inf\"} 6\nd_seconds_sum{k=\"x\"} 0.000000012\n"
      "d_seconds_count{k=\"x\"} 6\n";
  const std::string samples_of_s = "s_seconds_sum 0.000000005\ns_seconds_count 4\n";
  CHECK(text_of(families) ==
        "# HELP build_info i\n# TYPE build_info gauge\nbuild_info{v=\"1\"} 1\n"
        "# HELP age_seconds g\n# TYPE age_seconds gauge\nage_seconds 1.5\n"
        "# HELP d_seconds h\n# TYPE d_seconds histogram\n" +
            samples_of_d + "# HELP s_seconds s\n# TYPE s_seconds summary\n" + samples_of_s);
  CHECK(text_of(families, MetricFormat::kOpenMetrics) ==
        "# HELP build i\n# TYPE build info\nbuild_info{v=\"1\"} 1\n"
        "# HELP age_seconds g\n# TYPE age_seconds gauge\n# UNIT age_seconds seconds\n"
        "age_seconds 1.5\n"
        "# HELP d_seconds h\n# TYPE d_seconds histogram\n# UNIT d_seconds seconds\n" +
            samples_of_d + "# HELP s_seconds s\n# TYPE s_seconds summary\n" +
            "# UNIT s_seconds seconds\n" + samples_of_s + "# EOF\n");
}

TEST_CASE("numbers are exact, whatever the locale", "[X1]") {
  const char* const locale = GENERATE("C", "de_DE.UTF-8");
  if (std::setlocale(LC_ALL, locale) == nullptr) return;  // tests/system has one made
  CHECK(value_text(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615\n");
  CHECK(value_text(MetricDuration{0}) == "0.0\n");
  CHECK(value_text(MetricDuration{1'234'567'890'123}) == "1234.567890123\n");
  CHECK(value_text(MetricTime{1'796'136'793'090'179'999}) == "1796136793.09\n");
  CHECK(value_text(MetricTime{-1}) == "-0.001\n");
  CHECK(value_text(MetricTime{std::numeric_limits<std::int64_t>::min()}) == "-9223372036.855\n");
  std::setlocale(LC_ALL, "C");
}

TEST_CASE("values under the same labels become one sample", "[X1]") {
  MetricFamilies families;
  families.add(kGauge, {{"l", "x"}}, std::uint64_t{3});
  families.add(kGauge, {{"l", "x"}}, std::numeric_limits<std::uint64_t>::max() - 1);
  families.add(kGauge, {{"l", "\xFF"}}, std::uint64_t{1});
  families.add(kGauge, {{"l", "\xFE"}}, std::uint64_t{1});  // looks the same
  families.add(kGauge, {{"l", "y"}}, MetricTime{7'000'000});
  families.add(kGauge, {{"l", "y"}}, MetricTime{5'000'000});
  families.add({"i_info", MetricType::kInfo, "i"}, {}, std::uint64_t{1});
  families.add({"i_info", MetricType::kInfo, "i"}, {}, std::uint64_t{1});
  const ReadMetrics read = read_metrics(text_of(families));
  CHECK(read.fault.value_or("") == "");
  CHECK(read.value("a", {{"l", "x"}}) == "18446744073709551615");
  CHECK(read.value("a", {{"l", "\xEF\xBF\xBD"}}) == "2");
  CHECK(read.value("a", {{"l", "y"}}) == "0.007");
  CHECK(read.value("i_info") == "1");
}

TEST_CASE("a family whose name another one has, in any of its forms, is left out", "[X1]") {
  MetricFamilies families;
  families.add({"x_total", MetricType::kCounter, ""}, {}, std::uint64_t{1});
  CHECK(families.family({"x", MetricType::kGauge, ""}) == nullptr);
  CHECK(families.family({"x_created", MetricType::kGauge, ""}) == nullptr);
  CHECK(families.family({"x_total", MetricType::kGauge, ""}) == nullptr);
  CHECK(families.family({"x_sum", MetricType::kGauge, ""}) != nullptr);
  CHECK(families.family({"x_total", MetricType::kCounter, "another help"})->samples.size() == 1);
}

TEST_CASE("a label keeps its first values, and what is folded is counted") {
  BoundedLabel label(2);
  CHECK(label.value_of("a\xFF") == "a\xEF\xBF\xBD");
  CHECK(label.value_of("a\xFE") == "a\xEF\xBF\xBD");  // looks the same, is the same
  CHECK(label.value_of("") == "unknown");
  CHECK(label.value_of("c") == "other");
  CHECK(label.value_of("d") == "other");
  CHECK(label.value_of("d") == "other");
  CHECK(label.value_of("other") == "other");
  CHECK(label.folded() == 2);
}

}  // namespace vitrine::exporters::testing
