// SPDX-License-Identifier: Apache-2.0
#include "exporters/statsd_lines.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "exporters/datagram_packer.h"

namespace vitrine::exporters::testing {
namespace {

using Lines = std::vector<std::string>;

const CounterDeltas::Incarnation kFirst = "1";
const CounterDeltas::Incarnation kSecond = "2";
constexpr MetricDescription kDone{"done_total", MetricType::kCounter, ""};
constexpr MetricDescription kBusy{"busy_seconds_total", MetricType::kCounter, ""};
constexpr MetricDescription kDepth{"depth", MetricType::kGauge, ""};
constexpr MetricDescription kTime{"start_seconds", MetricType::kGauge, ""};
constexpr MetricDescription kBuild{"build_info", MetricType::kInfo, ""};
constexpr MetricDescription kWait{"wait_seconds", MetricType::kHistogram, ""};

Lines lines_of(const MetricDescription& description, const MetricValue& value,
               const MetricLabels& labels = {}, StatsdFormat format = StatsdFormat::kPlain) {
  MetricFamilies families;
  families.add(description, labels, value);
  CounterDeltas deltas;
  deltas.begin_flush(kSecond);
  deltas.begin_flush(kFirst);
  return statsd_lines(families, {format}, deltas);
}

}  // namespace

TEST_CASE("the first engine's history is not sent, its rises are", "[X11]") {
  CounterDeltas deltas;
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", 7) == 0);
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", 9) == 2);
  CHECK(deltas.take("appeared", 4) == 4);
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", 9) == 0);
}

TEST_CASE("a new incarnation counts whole, also where it passed the old value", "[X11]") {
  CounterDeltas deltas;
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", 7) == 0);
  deltas.begin_flush(kSecond);
  CHECK(deltas.take("a", 8) == 8);
  deltas.begin_flush(kSecond);
  CHECK(deltas.take("a", 8) == 0);
  CHECK(deltas.falls() == 0);
}

TEST_CASE("a counter that fell sends nothing, is an error, and goes on from there", "[X11]") {
  CounterDeltas deltas;
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", 7) == 0);
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", 5) == 0);
  CHECK(deltas.falls() == 1);
  CHECK(deltas.take("a", 6) == 1);
}

TEST_CASE("counters whose names become one add up", "[X11]") {
  CounterDeltas deltas;
  const auto flush = [&](std::uint64_t one, std::uint64_t other) {
    MetricFamilies families;
    families.add(kDone, {{"circuit", "a.b"}}, one);
    families.add(kDone, {{"circuit", "a_b"}}, other);
    deltas.begin_flush(kFirst);
    return statsd_lines(families, {}, deltas);
  };
  CHECK(flush(7, 1).empty());
  CHECK(flush(9, 4) == Lines{"done_total.circuit.a_b:2|c", "done_total.circuit.a_b:3|c"});
  CHECK(deltas.falls() == 0);
}

TEST_CASE("counters above 2^53 rise by exact numbers", "[X11]") {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 53) + 1;
  CHECK(lines_of(kDone, kMany) == Lines{"done_total:9007199254740993|c"});
  CounterDeltas deltas;
  deltas.begin_flush(kFirst);
  CHECK(deltas.take("a", kMany) == 0);
  CHECK(deltas.take("a", kMany + 1) == 1);
  CHECK(deltas.take("a", std::numeric_limits<std::uint64_t>::max()) ==
        std::numeric_limits<std::uint64_t>::max() - kMany - 1);
}

TEST_CASE("numbers, durations and times are exact decimals", "[X11]") {
  CHECK(lines_of(kDepth, std::uint64_t{0}) == Lines{"depth:0|g"});
  CHECK(lines_of(kBusy, MetricDuration{1'500'000'001}) ==
        Lines{"busy_seconds_total:1.500000001|c"});
  CHECK(lines_of(kTime, MetricTime{12'340'000'000}) == Lines{"start_seconds:12.34|g"});
  CHECK(lines_of(kBuild, std::uint64_t{1}).empty());
  const MetricDistribution waits{{{MetricDuration{1}, 2}}, 3, MetricDuration{10'000'000'000}};
  CHECK(lines_of(kWait, waits) == Lines{"wait_seconds_count:5|c", "wait_seconds_sum:10|c"});
}

TEST_CASE("a gauge below zero is set to 0 first, in one unit", "[X11]") {
  CHECK(lines_of(kTime, MetricTime{-5'000'000'000}) ==
        Lines{"start_seconds:0|g\nstart_seconds:-5|g"});
}

TEST_CASE("labels are parts of the name or tags, and no value ends one", "[X11]") {
  const MetricLabels labels{{"kind", "a:1|c\n.b,#"}, {"state", ""}};
  CHECK(lines_of(kDepth, std::uint64_t{3}, labels) == Lines{"depth.kind.a_1_c__b__.state._:3|g"});
  CHECK(lines_of(kDepth, std::uint64_t{3}, labels, StatsdFormat::kDogstatsd) ==
        Lines{"depth:3|g|#kind:a_1_c__b__,state:_"});
}

TEST_CASE("datagrams hold whole lines and at most 1432 bytes", "[X11]") {
  const std::string half(kDatagramBytesMax / 2, 'x');
  const std::string rest(kDatagramBytesMax - half.size() - 1, 'y');
  const auto packed = pack_lines({half, rest, "z", std::string(kDatagramBytesMax + 1, 'l')});
  CHECK(packed.datagrams == Lines{half + "\n" + rest, "z"});
  CHECK(packed.too_long == 1);
  CHECK(pack_lines({}).datagrams.empty());
}

}  // namespace vitrine::exporters::testing
