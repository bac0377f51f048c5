// SPDX-License-Identifier: Apache-2.0
#include "tools/tar_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace vitrine::tools {
namespace {

using Archive = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

la_ssize_t append(archive*, void* out, const void* bytes, std::size_t count) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

Error failed(archive* writer) {
  const char* why = archive_error_string(writer);
  return {ExitCode::kFailed, "making the archive: " + std::string(why == nullptr ? "?" : why)};
}

bool add_file(archive* writer, const std::string& name, const std::string& bytes,
              std::int64_t unix_seconds) {
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  archive_entry_set_mtime(entry.get(), unix_seconds, 0);
  return archive_write_header(writer, entry.get()) == ARCHIVE_OK &&
         archive_write_data(writer, bytes.data(), bytes.size()) ==
             static_cast<la_ssize_t>(bytes.size());
}

}  // namespace

Result<std::string> tar_gz(const std::string& folder, const std::vector<ArchivedFile>& files,
                           std::int64_t unix_seconds) {
  std::string out;
  const Archive writer(archive_write_new(), archive_write_free);
  if (archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
      archive_write_add_filter_gzip(writer.get()) != ARCHIVE_OK ||
      archive_write_open(writer.get(), &out, nullptr, append, nullptr) != ARCHIVE_OK) {
    return failed(writer.get());
  }
  for (const ArchivedFile& file : files) {
    if (!add_file(writer.get(), folder + "/" + file.name, file.bytes, unix_seconds)) {
      return failed(writer.get());
    }
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) return failed(writer.get());
  return out;
}

}  // namespace vitrine::tools
