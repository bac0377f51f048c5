// SPDX-License-Identifier: Apache-2.0
#include "engine/api_upload.h"

#include <strings.h>

#include <string_view>

#include "engine/job.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kJsonBytesMax = std::size_t{1} << 20;
constexpr std::size_t kProcessorBytes = std::size_t{256} << 10;

bool is_type(std::string_view header, std::string_view type) {
  const std::string_view name = header.substr(0, header.find(';'));
  return name.size() == type.size() && ::strncasecmp(name.data(), type.data(), type.size()) == 0;
}

}  // namespace

void ApiUpload::begin(MHD_Connection* connection) {
  const char* header =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
  const std::string_view type = header == nullptr ? "" : header;
  if (type.empty()) return;
  if (is_type(type, "application/json")) {
    kind_ = Kind::kJson;
  } else if (is_type(type, "application/octet-stream")) {
    kind_ = Kind::kOctets;
  } else if (is_type(type, "multipart/form-data")) {
    const MHD_PostDataIterator on_part = [](void* upload, MHD_ValueKind, const char* key,
                                            const char*, const char*, const char*, const char* data,
                                            std::uint64_t offset, std::size_t size) -> MHD_Result {
      const std::string_view name = key == nullptr ? "" : key;
      const bool taken = static_cast<ApiUpload*>(upload)->take_part(name, {data, size}, offset);
      return taken ? MHD_YES : MHD_NO;
    };
    processor_.reset(MHD_create_post_processor(connection, kProcessorBytes, on_part, this));
    kind_ = processor_ ? Kind::kMultipart : Kind::kUnknown;
  } else {
    kind_ = Kind::kUnknown;
  }
}

bool ApiUpload::take(const char* bytes, std::size_t size) {
  if (failure_) return false;
  received_bytes_ += size;
  const std::uint64_t limit_bytes = kind_ == Kind::kJson ? kJsonBytesMax : limit_bytes_;
  if (received_bytes_ > limit_bytes) {
    return fail(413, "the body is longer than " + std::to_string(limit_bytes) + " bytes");
  }
  switch (kind_) {
    case Kind::kJson:
      json_.append(bytes, size);
      return true;
    case Kind::kOctets:
      if (!open_witness_ && !begin_witness()) return false;
      return append({bytes, size});
    case Kind::kMultipart:
      if (MHD_post_process(processor_.get(), bytes, size) == MHD_YES && !failure_) return true;
      return failure_ ? false : fail(400, "the body is not multipart/form-data");
    default:
      return fail(415,
                  "expected multipart/form-data, application/octet-stream or application/json");
  }
}

bool ApiUpload::take_part(std::string_view name, std::span<const char> bytes,
                          std::uint64_t offset) {
  if (name != "witness") return fail(400, "each part of the form must be named witness");
  // The library may announce a part with no bytes first and call again at the same offset: only
  // bytes make a witness, or a part would count twice.
  if (bytes.empty()) return true;
  if (offset == 0 && !begin_witness()) return false;
  return append(bytes);
}

bool ApiUpload::begin_witness() {
  if (open_witness_) witnesses_.push_back(SpoolFile::finish(std::move(open_witness_)));
  if (witnesses_.size() == kPartitionsMax) {
    return fail(400, "more than " + std::to_string(kPartitionsMax) + " witnesses");
  }
  auto created = spool_.create();
  if (!created) return fail(507, created.error().text);
  open_witness_ = std::move(*created);
  return true;
}

bool ApiUpload::append(std::span<const char> bytes) {
  if (!open_witness_) return fail(400, "the body is not multipart/form-data");
  const auto appended = open_witness_->append(bytes);
  return appended ? true : fail(507, appended.error().text);
}

bool ApiUpload::fail(unsigned status, const std::string& detail) {
  if (!failure_) failure_ = problem(status, detail);
  return false;
}

std::optional<ApiResponse> ApiUpload::finish(ApiRequest& request) {
  processor_.reset();
  if (failure_) return failure_;
  if (open_witness_) witnesses_.push_back(SpoolFile::finish(std::move(open_witness_)));
  request.witnesses = std::move(witnesses_);
  request.json = std::move(json_);
  return std::nullopt;
}

}  // namespace vitrine::engine
