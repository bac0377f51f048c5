// SPDX-License-Identifier: Apache-2.0
#include "engine/witness_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shm/file_descriptor.h"
#include "shm/printable_text.h"

namespace vitrine::engine {
namespace {

Result<void> sync(const std::filesystem::path& path) {
  const shm::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.is_open() && ::fsync(file.number()) == 0) return {};
  return Error{ErrorClass::kOutOfMemory, std::string("the spool: ") + std::strerror(errno)};
}

}  // namespace

Result<void> make_durable(std::span<const WitnessFile> witnesses) {
  std::filesystem::path folder;
  for (const WitnessFile& witness : witnesses) {
    if (!witness.copy) continue;
    if (auto synced = sync(witness.path); !synced) return synced;
    folder = witness.path.parent_path();
  }
  return folder.empty() ? Result<void>() : sync(folder);
}

void end_as(const WitnessFile& file, WitnessCopy::End end) {
  if (file.copy) file.copy->end_as(end);
}

std::string witness_label(std::size_t partition, const WitnessFile& file) {
  return witness_label(file.kind, partition,
                       file.copy ? file.name : shm::printable_text(file.path.string()));
}

std::string witness_label(WitnessKind kind, std::size_t partition, std::string_view name) {
  const bool is_input = kind == WitnessKind::kInput;
  std::string label = (is_input ? "input " : "witness ") + std::to_string(partition);
  if (!name.empty()) label.append(" (").append(name).append(")");
  return label;
}

}  // namespace vitrine::engine
