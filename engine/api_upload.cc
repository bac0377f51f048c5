// SPDX-License-Identifier: Apache-2.0
#include "engine/api_upload.h"

#include <strings.h>

#include <string_view>

#include "engine/job.h"
#include "engine/quantities.h"
#include "shm/printable_text.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kJsonBytesMax = std::size_t{1} << 20;
constexpr std::size_t kNameBytesMax = 48;  // a failure's text in the segment has 128

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
    kind_ = Kind::kMultipart;
    if (const auto boundary = MultipartReader::boundary_of(type)) {
      MultipartReader::Listener& parts = *this;
      form_.emplace(*boundary, parts);
    } else {
      fail(400, "Content-Type names no boundary of 1 to 70 characters");
    }
  } else {
    kind_ = Kind::kUnknown;
  }
}

bool ApiUpload::take(const char* bytes, std::size_t size) {
  if (failure_) return false;
  received_bytes_ += size;
  const std::uint64_t limit_bytes = kind_ == Kind::kJson ? kJsonBytesMax : limit_bytes_;
  if (received_bytes_ > limit_bytes) {
    return fail(413, "the body is longer than " + size_text(limit_bytes));
  }
  switch (kind_) {
    case Kind::kJson:
      json_.append(bytes, size);
      return true;
    case Kind::kOctets:
      if (!open_witness_ && !begin_witness({})) return false;
      return append({bytes, size});
    case Kind::kMultipart:
      return form_->take({bytes, size}) || fail_form();
    default:
      return fail(415,
                  "expected multipart/form-data, application/octet-stream or application/json");
  }
}

bool ApiUpload::part_begins(const PartHead& head) {
  if (head.name != "witness" && head.name != "input") {
    return fail(400, "each part of the form must be named witness, or each input");
  }
  const WitnessKind kind = head.name == "input" ? WitnessKind::kInput : WitnessKind::kWitness;
  if (!witnesses_.empty() && witnesses_.front().kind != kind) {
    return fail(400, "a job has witnesses or inputs, not both");
  }
  open_kind_ = kind;
  return begin_witness(head.file_name);
}

// A witness that is left out would shift the proofs of all that follow.
bool ApiUpload::part_ends() {
  if (open_witness_->bytes() == 0) return fail(400, open_label() + " is empty");
  close_witness();
  return true;
}

bool ApiUpload::begin_witness(std::string_view file_name) {
  if (witnesses_.size() == kPartitionsMax) {
    return fail(400, "more than " + std::to_string(kPartitionsMax) + " partitions");
  }
  open_name_ = shm::printable_end(file_name, kNameBytesMax);
  auto created = spool_.create(open_kind_);
  if (!created) return fail(507, open_label() + ": " + created.error().text);
  open_witness_ = std::move(*created);
  return true;
}

bool ApiUpload::append(std::span<const char> bytes) {
  const auto appended = open_witness_->append(bytes);
  return appended ? true : fail(507, open_label() + ": " + appended.error().text);
}

void ApiUpload::close_witness() {
  WitnessFile& finished = witnesses_.emplace_back(SpoolFile::finish(std::move(open_witness_)));
  finished.name = std::move(open_name_);
  finished.kind = open_kind_;
}

bool ApiUpload::fail_form() {
  return failure_ ? false : fail(400, "the body is not multipart/form-data: " + form_->fault());
}

bool ApiUpload::fail(unsigned status, const std::string& detail) {
  if (!failure_) failure_ = problem(status, detail);
  return false;
}

std::optional<ApiResponse> ApiUpload::finish(ApiRequest& request) {
  if (form_ && received_bytes_ > 0 && !form_->finish()) fail_form();
  if (failure_) return failure_;
  if (open_witness_) close_witness();
  request.witnesses = std::move(witnesses_);
  request.json = std::move(json_);
  return std::nullopt;
}

}  // namespace vitrine::engine
