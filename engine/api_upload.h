// SPDX-License-Identifier: Apache-2.0
// ApiUpload: takes in the body of one request, piece by piece.
//
// Layout: multipart/form-data with one part per witness or per input, application/octet-stream for
// one witness, application/json for names of files on the server. Threads: one at a time. Why: a
// witness goes to the spool as it arrives; only JSON is kept in memory, and it is bounded.
#pragma once

#include <microhttpd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api_message.h"
#include "engine/multipart_reader.h"
#include "engine/spool.h"

namespace vitrine::engine {

class ApiUpload : private MultipartReader::Listener {
 public:
  enum class Kind { kNone, kMultipart, kOctets, kJson, kUnknown };

  ApiUpload(Spool& spool, std::uint64_t limit_bytes) : spool_(spool), limit_bytes_(limit_bytes) {}

  // By the Content-Type of the request.
  void begin(MHD_Connection* connection);
  [[nodiscard]] Kind kind() const { return kind_; }
  // False when no more of the body should be read; failure() then says why.
  [[nodiscard]] bool take(const char* bytes, std::size_t size);
  // Puts what came into the request; or what is wrong with it.
  [[nodiscard]] std::optional<ApiResponse> finish(ApiRequest& request);
  [[nodiscard]] const std::optional<ApiResponse>& failure() const { return failure_; }

 private:
  bool part_begins(const PartHead& head) override;
  bool part_goes_on(std::span<const char> bytes) override { return append(bytes); }
  bool part_ends() override;
  bool begin_witness(std::string_view file_name);
  bool append(std::span<const char> bytes);
  void close_witness();
  // What the client calls the witness that is coming in.
  [[nodiscard]] std::string open_label() const {
    return witness_label(open_kind_, witnesses_.size(), open_name_);
  }
  bool fail(unsigned status, const std::string& detail);
  bool fail_form();

  Spool& spool_;
  std::uint64_t limit_bytes_;
  Kind kind_ = Kind::kNone;
  std::uint64_t received_bytes_ = 0;
  std::optional<MultipartReader> form_;
  std::unique_ptr<SpoolFile> open_witness_;
  std::string open_name_;  // the client's, harmless
  WitnessKind open_kind_ = WitnessKind::kWitness;
  std::vector<WitnessFile> witnesses_;
  std::string json_;
  std::optional<ApiResponse> failure_;
};

}  // namespace vitrine::engine
