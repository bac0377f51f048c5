// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <memory>

#include "shm/clock.h"
#include "shm/time_text.h"
#include "tools/atomic_file.h"
#include "tools/black_box.h"
#include "tools/report.h"
#include "tools/size_text.h"
#include "tools/status_command.h"

namespace vitrine::tools {
namespace {

struct ReportFlags {
  StatusFlags status;
  std::string out;
};

// vitrine-report-main-20260131T081530Z: the folder within the archive.
std::string folder_name(const std::string& instance) {
  std::string time = shm::rfc3339_ms(shm::unix_ns()).substr(0, 19) + "Z";
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return "vitrine-report-" + instance + "-" + time;
}

// The engine, or what it left.
shm::Attachment attach(const shm::Target& target) {
  shm::Attachment attachment(target);
  if (attachment.observe_settled().snapshot || target.file) return attachment;
  Result<BlackBox> box = attach_black_box(target);
  return box ? std::move(box->attachment) : std::move(attachment);
}

std::string done_text(const ReportFlags& flags, const Report& report, std::size_t bytes) {
  if (flags.status.json) {
    boost::json::array names;
    for (const ArchivedFile& file : report.files) names.push_back(boost::json::value(file.name));
    boost::json::array missing;
    for (const std::string& line : report.missing) {
      missing.push_back(boost::json::value(printable(line, Charset::kUtf8)));
    }
    return boost::json::serialize(boost::json::object{{"report", flags.out},
                                                      {"bytes", bytes},
                                                      {"files", std::move(names)},
                                                      {"missing", std::move(missing)}}) +
           "\n";
  }
  return printable(flags.out, Charset::kUtf8) + ": " + std::to_string(report.files.size()) +
         " files, " + size_text(bytes) + "\n";
}

Result<ExitCode> run_report(const CommandContext& context, const ReportFlags& flags) {
  std::error_code ignored;
  if (std::filesystem::is_directory(flags.out, ignored)) {
    return Error{ExitCode::kUsage, "--out: " + flags.out + " is a folder; name a file"};
  }
  shm::Attachment attachment = attach(target_of(context.flags, flags.status));
  const Report report = make_report(attachment, context.flags);
  const shm::Observation& observation = attachment.last();
  const std::string instance = reported_instance(observation, context.flags);
  const Result<std::string> archive =
      tar_gz(folder_name(instance), report.files, shm::unix_ns() / 1'000'000'000);
  if (!archive) return archive.error();
  // A segment is not everybody's to read, so its copy is not either.
  ::umask(S_IRWXG | S_IRWXO);
  if (const auto written = write_file_atomically(flags.out, *archive); !written) {
    return written.error();
  }
  for (const std::string& line : report.missing) context.diagnostics.warn("not in it: " + line);
  const auto told = context.output.write(done_text(flags, report, archive->size()));
  if (!told) return told.error();
  return observation.snapshot ? ExitCode::kOk
                              : static_cast<ExitCode>(shm::exit_code_of(observation));
}

}  // namespace

Command report_command() {
  const auto flags = std::make_shared<ReportFlags>();
  return {"report", "Everything that somebody who helps needs to see, in one archive",
          "0 written, 1 not writable, 2 usage, 3 written without an engine's state: no such "
          "instance, 5 the same: its segment is not readable",
          [flags](FlagSet& set) {
            FlagSet::require(set.text("--out", flags->out, "The archive, a .tar.gz"));
            add_status_flags(set, flags->status);
          },
          [flags](const CommandContext& context) { return run_report(context, *flags); }};
}

}  // namespace vitrine::tools
