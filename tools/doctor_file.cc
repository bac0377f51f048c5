// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "tools/doctor_checks.h"

namespace vitrine::tools {

std::optional<FileFacts> file_facts(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return FileFacts{path, found.st_mode, found.st_uid, found.st_nlink, found.st_ino, found.st_dev};
}

Findings check_file(const FileFacts& file, const ListedInstance& listed) {
  const std::string about = file.path.string();
  if (!S_ISREG(file.mode)) {
    const bool is_folder = S_ISDIR(file.mode);
    const std::string what = S_ISLNK(file.mode) ? "a symbolic link"
                             : is_folder        ? "a folder"
                                                : "not a file";
    return {{Severity::kProblem, about, "is " + what + "; a segment is never that",
             (is_folder ? "rmdir " : "rm ") + about}};
  }
  Findings found;
  if (file.links > 1) {
    found.push_back({Severity::kProblem, about,
                     "has " + std::to_string(file.links) + " names, so readers refuse it",
                     "find " + file.path.parent_path().string() + " -samefile " + about});
  }
  if ((file.mode & S_IWOTH) != 0) {
    found.push_back({Severity::kProblem, about, "anybody may write it", "chmod o-w " + about});
  }
  if ((file.mode & S_IWGRP) != 0) {
    found.push_back({Severity::kWarning, about, "its group may write it", "chmod g-w " + about});
  }
  // User namespaces give one user several numbers.
  if (listed.observation.snapshot && listed.observation.identity.uid != file.owner) {
    found.push_back({Severity::kNote, about,
                     "belongs to uid " + std::to_string(file.owner) + ", its engine ran as uid " +
                         std::to_string(listed.observation.identity.uid),
                     ""});
  }
  return found;
}

}  // namespace vitrine::tools
