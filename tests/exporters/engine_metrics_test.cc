// SPDX-License-Identifier: Apache-2.0
#include "exporters/engine_metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "exporters/exporter_metrics.h"
#include "exporters/metric_names.h"
#include "exporters/metric_text.h"
#include "tests/exporters/crowded_segment.h"
#include "tests/exporters/metric_text_check.h"
#include "tests/shm/random_segment.h"
#include "tests/shm/small_segment.h"

namespace vitrine::exporters::testing {

namespace {

constexpr std::size_t kSeriesMax = 1'500;

struct Crowded {
  SharedScratchFolder folder;
  shm::SegmentWriter writer = shm::publish(crowded_segment(folder / "main.segment"));

  Crowded() { fill_crowded(writer); }

  // Everything that /metrics has.
  MetricFamilies families() {
    shm::Attachment attachment(shm::Target{.path = folder / "main.segment"});
    Moment moment{1, attachment.observe(), {}};
    const HttpActivity activity;
    MetricFamilies all;
    add_engine_metrics(all, moment.observation);
    add_exporter_metrics(all, moment);
    add_http_metrics(all, activity);
    add_process_metrics(all, 1'000'000'000);
    return all;
  }
  ReadMetrics read(MetricFormat format = MetricFormat::kPrometheusText) {
    ReadMetrics out =
        read_metrics(metric_text(families(), format), format == MetricFormat::kOpenMetrics);
    CHECK(out.fault.value_or("") == "");
    return out;
  }
};

// Where the catalogue or the table of composed families has this name with this help.
bool is_explained(const MetricFamily& family) {
  for (const MetricDescription& row : kComposedFamilies) {
    if (row.name == family.name) return row.type == family.type && row.help == family.help;
  }
  bool found = false;
  shm::for_each_table([&]<class Record>() {
    for (const shm::Field& field : shm::TableOf<Record>::kFields) {
      for (const char* prefix :
           {"vitrine_", "vitrine_jobs_", "vitrine_queue_", "vitrine_memory_", "vitrine_srs_",
            "vitrine_pce_", "vitrine_limiter_", "vitrine_worker_", "vitrine_device_"}) {
        const auto metric = metric_of(shm::TableOf<Record>::kSection, prefix, field);
        found |= metric && metric->name == family.name && metric->help == family.help &&
                 metric->type == family.type;
      }
    }
  });
  return found;
}

}  // namespace

TEST_CASE("an engine of two devices and any names is fewer than 1,500 series, none twice", "[X1]") {
  Crowded engine;
  for (const MetricFormat format : {MetricFormat::kPrometheusText, MetricFormat::kOpenMetrics}) {
    const ReadMetrics read = engine.read(format);
    CAPTURE(read.series.size());
    CHECK(read.series.size() < kSeriesMax);
    CHECK(read.series.size() > kSeriesMax / 2);  // it is crowded
  }
}

TEST_CASE("every metric's name, type and help is the catalogue's or the table's", "[X1]") {
  Crowded engine;
  const MetricFamilies families = engine.families();
  for (const MetricFamily& family : families.all()) {
    if (family.name.find("_x_") != family.name.npos) continue;  // the engine's own
    INFO(family.name);
    CHECK(is_explained(family));
  }
  for (const MetricDescription& row : kComposedFamilies) {
    INFO(row.name);
    const bool is_shown = std::ranges::any_of(
        families.all(), [&](const MetricFamily& family) { return family.name == row.name; });
    // Of this engine no limiter is called synthesis.
    CHECK(is_shown == (row.name != "vitrine_synthesis_waiting"));
  }
}

TEST_CASE("labels have their bounds, sums stay whole, and what is folded is counted", "[X1]") {
  Crowded engine;
  const ReadMetrics read = engine.read();
  std::set<std::string> kinds, circuits;
  std::uint64_t submitted = 0, srs_bytes = 0;
  for (const Series& series : read.series) {
    if (series.labels.contains("proof_kind")) kinds.insert(series.labels.at("proof_kind"));
    if (series.labels.contains("circuit")) circuits.insert(series.labels.at("circuit"));
    if (series.name == "vitrine_jobs_submitted_total") submitted += std::stoull(series.value);
    if (series.name == "vitrine_srs_reserved_bytes") srs_bytes += std::stoull(series.value);
  }
  CHECK(kinds.size() == 8 + 1);
  CHECK(circuits.size() == 16 + 1);
  CHECK(submitted == 45);
  CHECK(srs_bytes == 96);
  const auto folded = [&](const char* label) {
    return std::stoi(read.value("vitrine_exporter_labels_folded", {{"label", label}}));
  };
  CHECK(folded("proof_kind") > 0);
  CHECK(folded("circuit") > 70);
  CHECK(folded("device") == 0);
}

TEST_CASE("families of several fields have each of them", "[X1]") {
  Crowded engine;
  const ReadMetrics read = engine.read();
  CHECK(read.value("vitrine_up") == "1");
  CHECK(read.value("vitrine_ready") == "1");
  CHECK(read.value("vitrine_verdict", {{"verdict", "busy"}}) == "1");
  CHECK(read.value("vitrine_verdict", {{"verdict", "idle"}}) == "0");
  CHECK(read.value("vitrine_jobs_rejected_total", {{"reason", "queue_full"}}) == "5");
  CHECK(read.value("vitrine_jobs_rejected_total", {{"reason", "impossible"}}) == "4");
  CHECK(read.value("vitrine_jobs_rejected_total", {{"reason", "status_capacity"}}) == "3");
  CHECK(read.value("vitrine_memory_reserved_bytes", {{"consumer", "srs"}}) == "10");
  CHECK(read.value("vitrine_buffers_in_flight", {{"buffer", "aux"}}) == "9");
  CHECK(read.value("vitrine_worker_busy", {{"worker", "0"}}) == "1");
  CHECK(read.value("vitrine_worker_busy_seconds_total", {{"worker", "3"}}) == "1.25");
  CHECK(read.value("vitrine_proofs_invalid_total", {{"device", "1"}}) == "1");
  CHECK(read.value("vitrine_device_up", {{"device", "1"}}) == "0");
  CHECK(read.value("vitrine_device_state", {{"device", "1"}, {"state", "quarantined"}}) == "1");
  CHECK(read.value("vitrine_queue_depth", {{"queue", "device"}}) == "1");
  CHECK(read.value("vitrine_partitions", {{"proof_kind", "le"}, {"state", "pending"}}) == "");
  CHECK(read.value("vitrine_partitions", {{"proof_kind", "quo\"te"}, {"state", "pending"}}) == "1");
  const std::string histogram = "vitrine_partition_phase_duration_seconds";
  const auto bucket = [&](const char* bound) {
    return read.value(histogram + "_bucket",
                      {{"proof_kind", "quo\"te"}, {"phase", "gpu_proving"}, {"le", bound}});
  };
  CHECK(bucket("0.01") == "4");  // 1, 2, 5 and 10 ms
  CHECK(bucket("1000.0") == "19");
  CHECK(bucket("+Inf") == "23");
}

TEST_CASE("numbers that an engine adds to its rows are metrics with its help", "[X1]") {
  Crowded engine;
  const ReadMetrics read = engine.read(MetricFormat::kOpenMetrics);
  CHECK(read.value("vitrine_x_fees_total") == "250");
  CHECK(read.helps.at("vitrine_x_fees") == "fees \"taken\"\nin \\ cents");
  CHECK(read.value("vitrine_device_x_spin", {{"device", "1"}}) == "7");
  CHECK_FALSE(read.types.contains("vitrine_memory_x_note"));
}

TEST_CASE("an engine's start does not move with its beats", "[X1]") {
  Crowded engine;
  shm::Attachment attachment(shm::Target{.path = engine.folder / "main.segment"});
  const std::uint64_t created_unix_ns = attachment.observe().identity.created_unix_ns;
  MetricFamilies families;
  families.add({"t", MetricType::kGauge, ""}, {},
               MetricTime{static_cast<std::int64_t>(created_unix_ns)});
  const std::string created =
      read_metrics(metric_text(families, MetricFormat::kPrometheusText)).value("t");
  engine.writer.beat();
  CHECK(engine.read().value("vitrine_start_time_seconds") == created);
}

TEST_CASE("what is not known is absent", "[X1]") {
  Crowded engine;
  const ReadMetrics read = engine.read();
  CHECK(read.types.contains("vitrine_queue_oldest_timestamp_seconds"));
  {
    auto open = engine.writer.begin();
    for (std::uint32_t row = 0; row < 15; ++row) open.edit<shm::QueueRecord>(row).oldest = {};
  }
  const ReadMetrics later = engine.read();
  CHECK_FALSE(later.types.contains("vitrine_queue_oldest_timestamp_seconds"));
  const ReadMetrics idle = [] {
    SharedScratchFolder folder;
    auto writer = shm::publish(shm::small_segment(folder / "main.segment"));
    writer.set_life(shm::EngineLife::kReady, 0);
    writer.beat();
    MetricFamilies families;
    shm::Attachment attachment(shm::Target{.path = folder / "main.segment"});
    add_engine_metrics(families, attachment.observe());
    return read_metrics(metric_text(families, MetricFormat::kPrometheusText));
  }();
  CHECK(idle.value("vitrine_up") == "1");
  CHECK_FALSE(idle.types.contains("vitrine_memory_budget_bytes"));
  CHECK_FALSE(idle.types.contains("vitrine_device_up"));
}

TEST_CASE("of an engine that is gone, or never was, there is only that it is not up", "[X1]") {
  const auto read_all = [](shm::Attachment& attachment) {
    MetricFamilies families;
    add_engine_metrics(families, attachment.observe());
    return metric_text(families, MetricFormat::kPrometheusText);
  };
  const std::string gone =
      "# HELP vitrine_up 1 while the engine lives; otherwise its metrics are absent\n"
      "# TYPE vitrine_up gauge\nvitrine_up 0\n";
  std::optional<Crowded> engine(std::in_place);
  SharedScratchFolder folder;
  const auto copy = folder / "main.segment";
  shm::Attachment never(shm::Target{.path = copy});
  CHECK(read_all(never) == gone);
  shm::Attachment attachment(shm::Target{.path = engine->folder / "main.segment"});
  CHECK(read_all(attachment).size() > 10'000);
  engine.reset();
  CHECK(read_all(attachment) == gone);
}

TEST_CASE("segments of nonsense make texts that are whole", "[X1]") {
  const auto first_seed = GENERATE(range(1, 40));
  CAPTURE(first_seed);
  const SharedScratchFolder folder;
  shm::RandomSegment random(static_cast<std::uint64_t>(first_seed));
  const auto path = folder / "dead.segment";
  shm::write_whole(path, random.bytes(folder.path()));
  shm::Attachment attachment(shm::Target{.file = path});
  shm::Observation observation = attachment.observe();
  if (!observation.snapshot) return;
  observation.verdict.word = shm::VerdictWord::kBusy;  // as if it lived
  MetricFamilies families;
  add_engine_metrics(families, observation);
  for (const MetricFormat format : {MetricFormat::kPrometheusText, MetricFormat::kOpenMetrics}) {
    const ReadMetrics read =
        read_metrics(metric_text(families, format), format == MetricFormat::kOpenMetrics);
    CHECK(read.fault.value_or("") == "");
    CHECK(read.series.size() < kSeriesMax);
  }
}

}  // namespace vitrine::exporters::testing
