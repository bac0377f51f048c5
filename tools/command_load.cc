// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "shm/segment_reader.h"
#include "tools/load_builder.h"
#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

Result<ExitCode> run_load(const CommandContext& context, const std::string& file) {
  auto recording = shm::RecordingReader::open(file);
  if (!recording) return reading_error(recording.error());
  auto reader = shm::SegmentReader::of_recording(std::move(*recording));
  if (!reader) return reading_error(reader.error());
  LoadBuilder builder;
  shm::Snapshot snapshot;
  do {
    if (const auto taken = reader->snapshot(snapshot); !taken) return reading_error(taken.error());
    builder.add(snapshot);
  } while (reader->next_frame());
  for (const std::string& gap : builder.gaps()) context.diagnostics.info(gap);
  if (const auto written = context.output.write(builder.text()); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command load_command() {
  const auto file = std::make_shared<std::string>();
  return {"load", "The jobs of a recording as a load for 'vitrined --simulate'",
          "0 written, 1 the output could not be written, 2 usage, 3 no such file, 5 not readable",
          [file](FlagSet& set) { FlagSet::require(set.text("--file", *file, "A recording")); },
          [file](const CommandContext& context) { return run_load(context, *file); }};
}

}  // namespace vitrine::tools
