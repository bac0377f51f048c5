// SPDX-License-Identifier: Apache-2.0
// What goes into a report for others to read: state, segment, checks, configuration, versions, log.
//
// Why   whoever is asked for help was not there. Nothing of a job's input is in any part: segments,
//       events and logs hold none. Secrets of the configuration are taken out, paths stay.
// Cost  that of doctor, and up to 5 s each for the two programs that are asked.
#pragma once

#include <string>
#include <vector>

#include "shm/attachment.h"
#include "tools/command.h"
#include "tools/tar_archive.h"

namespace vitrine::tools {

struct Report {
  std::vector<ArchivedFile> files;
  std::vector<std::string> missing;  // what could not be had, and why
};

// The instance that the segment tells, else the one that was asked for.
std::string reported_instance(const shm::Observation& observation, const CommonFlags& flags);

// `attachment` was observed; what it could not read is missing in the report.
Report make_report(shm::Attachment& attachment, const CommonFlags& flags);

}  // namespace vitrine::tools
