// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include "shm/layout.h"
#include "tools/doctor_checks.h"

namespace vitrine::tools {
namespace {

using Word = shm::VerdictWord;

std::string segment_flag(const ListedInstance& listed) {
  return " --segment " + listed.name.path.string();
}

Findings check_unreadable(const ListedInstance& listed) {
  const shm::Error& error = *listed.observation.error;
  const std::string about = listed.name.path.string();
  // An error names its file, which is what the finding is about.
  const std::string name = about + ": ";
  const std::string text =
      error.text.starts_with(name) ? error.text.substr(name.size()) : error.text;
  switch (error.kind) {
    case shm::ErrorKind::kUnsupported:
      return {{Severity::kProblem, about, text, "use the vitrine of the engine's version"}};
    case shm::ErrorKind::kCorrupt:
      return {{Severity::kProblem, about, text + "; an engine that lives publishes it again",
               "rm " + about}};
    default:
      if (::geteuid() == 0) return {{Severity::kWarning, about, text, ""}};
      return {{Severity::kNote, about, text, "sudo vitrine doctor", true}};
  }
}

std::string version_text(const shm::SegmentIdentity& identity) {
  return std::to_string(identity.major) + "." + std::to_string(identity.minor);
}

Findings check_minor(const ListedInstance& listed) {
  const shm::SegmentIdentity& identity = listed.observation.identity;
  if (identity.minor == shm::kMinorVersion) return {};
  const bool is_newer = identity.minor > shm::kMinorVersion;
  return {{Severity::kNote, about_of(listed),
           "its layout " + version_text(identity) + " is " + (is_newer ? "newer" : "older") +
               " than this program's " + std::to_string(shm::kMajorVersion) + "." +
               std::to_string(shm::kMinorVersion) + ": some values are not shown",
           is_newer ? "update vitrine" : "restart the engine with vitrined " VITRINE_VERSION}};
}

Finding judge(const ListedInstance& listed) {
  const shm::Observation& observation = listed.observation;
  const shm::SegmentIdentity& identity = observation.identity;
  const std::string word(shm::word(observation.verdict.word));
  Finding finding{Severity::kOk, about_of(listed), word + ": " + observation.verdict.reason, ""};
  switch (observation.verdict.word) {
    case Word::kHung:
      finding.severity = Severity::kProblem;
      if (shares_pid_namespace(identity))
        finding.fix = "kill -ABRT " + std::to_string(identity.pid);
      break;
    case Word::kDead:
      finding.severity = Severity::kWarning;
      finding.fix = "vitrine post-mortem" + segment_flag(listed);
      break;
    case Word::kExited:
      if (observation.snapshot->exit_code == 0) break;
      finding.severity = Severity::kWarning;
      finding.fix = "vitrine post-mortem" + segment_flag(listed);
      break;
    case Word::kDegraded:
      finding.severity = Severity::kWarning;
      finding.fix = "vitrine show" + segment_flag(listed);
      break;
    case Word::kStarting:
    case Word::kDraining:
      finding.severity = Severity::kNote;
      break;
    default:
      finding.text += "; lock held, heartbeat moves, layout " + version_text(identity);
  }
  return finding;
}

}  // namespace

bool is_foreign(const ListedInstance& listed) {
  return listed.name.path.string().starts_with("/proc/");
}

std::string about_of(const ListedInstance& listed) {
  return listed.instance() + (is_foreign(listed) ? " at " + listed.name.path.string() : "");
}

bool shares_pid_namespace(const shm::SegmentIdentity& identity) {
  struct stat own {};
  return ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == identity.pid_namespace_inode;
}

Findings check_engine(const ListedInstance& listed) {
  if (!listed.observation.snapshot) return check_unreadable(listed);
  // What a former engine left is for check_dead_segments().
  if (listed.is_replaced || listed.name.named_dead) return {};
  Findings found = check_minor(listed);
  found.push_back(judge(listed));
  return found;
}

}  // namespace vitrine::tools
