// SPDX-License-Identifier: Apache-2.0
// ApiUpload: takes in the body of one request, piece by piece.
//
// Layout: multipart/form-data with one part per witness, application/octet-stream for one witness,
// application/json for names of files on the server.
// Threads: one at a time.
// Why: a witness goes to the spool as it arrives; only JSON is kept in memory, and it is bounded.
#pragma once

#include <microhttpd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/api_message.h"
#include "engine/spool.h"

namespace vitrine::engine {

class ApiUpload {
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
  struct DestroyProcessor {
    void operator()(MHD_PostProcessor* processor) const { MHD_destroy_post_processor(processor); }
  };

  // `offset` is that of `bytes` within the part; a part comes in pieces.
  bool take_part(std::string_view name, std::span<const char> bytes, std::uint64_t offset);
  bool begin_witness();
  bool append(std::span<const char> bytes);
  bool fail(unsigned status, const std::string& detail);

  Spool& spool_;
  std::uint64_t limit_bytes_;
  Kind kind_ = Kind::kNone;
  std::uint64_t received_bytes_ = 0;
  std::unique_ptr<MHD_PostProcessor, DestroyProcessor> processor_;
  std::unique_ptr<SpoolFile> open_witness_;
  std::vector<WitnessFile> witnesses_;
  std::string json_;
  std::optional<ApiResponse> failure_;
};

}  // namespace vitrine::engine
