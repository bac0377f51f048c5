// SPDX-License-Identifier: Apache-2.0
#include <boost/json/serialize.hpp>
#include <memory>

#include "tools/snapshot_difference.h"
#include "tools/status_command.h"
#include "tools/terminal.h"

namespace vitrine::tools {
namespace {

struct DiffFlags {
  std::vector<std::string> files;
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> to;
  bool json = false;
};

// The last frame of the file, or frame `number` of a recording.
Result<DifferenceSide> side_of(const std::string& file, std::optional<std::uint64_t> number) {
  const auto open = [&]() -> shm::Result<shm::SegmentReader> {
    if (!number) return shm::SegmentReader::open_file(file);
    auto recording = shm::RecordingReader::open(file);
    if (!recording) return recording.error();
    return shm::SegmentReader::of_recording(std::move(*recording));
  };
  shm::Result<shm::SegmentReader> reader = open();
  if (!reader) return reading_error(reader.error());
  const shm::RecordingReader* recording = reader->recording();
  while (number && recording->moment().frame < *number) {
    if (reader->next_frame()) continue;
    return Error{ExitCode::kUsage, file + ": has " + std::to_string(recording->moment().frame) +
                                       " frames, none with number " + std::to_string(*number)};
  }
  DifferenceSide side;
  side.source = file;
  if (recording != nullptr) side.source += " frame " + std::to_string(recording->moment().frame);
  side.identity = reader->identity();
  if (const auto taken = reader->snapshot(side.snapshot); !taken)
    return reading_error(taken.error());
  // What a dead segment shows was true at its last beat, not when it was read.
  if (recording == nullptr) side.snapshot.heartbeat_age_ns = 0;
  return side;
}

Result<ExitCode> run_diff(const CommandContext& context, const DiffFlags& flags) {
  const bool is_one = flags.files.size() == 1;
  if (flags.files.size() > 2) return Error{ExitCode::kUsage, "diff compares two files, not more"};
  if (is_one && (!flags.from && !flags.to)) {
    return Error{ExitCode::kUsage, flags.files[0] +
                                       ": diff needs a second file, or --from and "
                                       "--to, two frames of this one"};
  }
  if (flags.from == std::uint64_t{0} || flags.to == std::uint64_t{0}) {
    return Error{ExitCode::kUsage, "--from, --to: frames are counted from 1"};
  }
  // Of one recording the beginning is compared with the end, unless told otherwise.
  const auto from = is_one && !flags.from ? std::optional<std::uint64_t>(1) : flags.from;
  const Result<DifferenceSide> before = side_of(flags.files.front(), from);
  if (!before) return before.error();
  const Result<DifferenceSide> after = side_of(flags.files.back(), flags.to);
  if (!after) return after.error();
  const SnapshotDifference difference = difference_of(*before, *after);
  const Charset charset = text_style_of(context.output.descriptor()).charset;
  const std::string text =
      flags.json ? boost::json::serialize(difference_json(*before, *after, difference)) + "\n"
                 : difference_text(*before, *after, difference, charset);
  if (const Result<void> written = context.output.write(text); !written) return written.error();
  return ExitCode::kOk;
}

}  // namespace

Command diff_command() {
  const auto flags = std::make_shared<DiffFlags>();
  return {"diff", "What changed between two recordings or dead segments, or two frames of one",
          "0 compared, 1 output not writable, 2 usage or no such frame, 3 no such file, "
          "5 not readable",
          [flags](FlagSet& set) {
            FlagSet::require(set.texts("files", flags->files, "Two files, or one recording"));
            set.number("--from", flags->from, "Frame of the first file; else its last");
            set.number("--to", flags->to, "Frame of the second file; else its last");
            set.toggle("--json", flags->json, "One JSON document and nothing else");
          },
          [flags](const CommandContext& context) { return run_diff(context, *flags); }};
}

}  // namespace vitrine::tools
