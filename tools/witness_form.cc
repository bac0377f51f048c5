// SPDX-License-Identifier: Apache-2.0
#include "tools/witness_form.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <string_view>

namespace vitrine::tools {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

// 128 random bits: no file holds them.
std::string random_boundary() {
  std::random_device random;
  std::string text = "vitrine-";
  for (int i = 0; i < 4; ++i) text += std::to_string(random()) + "-";
  return text + "end";
}

// A name that a head can hold: a control character would end its line.
std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') out.push_back('\\');
    out.push_back(byte < 0x20 || byte == 0x7F ? '?' : letter);
  }
  return out + '"';
}

Result<std::uint64_t> readable_bytes(const std::filesystem::path& file) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) {
    return Error{ExitCode::kUsage,
                 file.string() + ": " + (problem ? problem.message() : "not a regular file")};
  }
  const std::uint64_t bytes = std::filesystem::file_size(file, problem);
  if (problem || !std::ifstream(file).good()) {
    return Error{ExitCode::kUsage, file.string() + ": not readable"};
  }
  return bytes;
}

}  // namespace

WitnessForm::WitnessForm() : boundary_(random_boundary()), end_("\r\n--" + boundary_ + "--\r\n") {}

Result<WitnessForm> WitnessForm::of(const std::vector<std::filesystem::path>& files,
                                    const std::string& part_name) {
  WitnessForm form;
  for (const auto& file : files) {
    const Result<std::uint64_t> bytes = readable_bytes(file);
    if (!bytes) return bytes.error();
    const std::string line_before = form.parts_.empty() ? "" : "\r\n";
    form.parts_.push_back({file, *bytes,
                           line_before + "--" + form.boundary_ +
                               "\r\nContent-Disposition: form-data; name=\"" + part_name +
                               "\"; filename=" + quoted_name(file.filename().string()) +
                               "\r\nContent-Type: application/octet-stream\r\n\r\n"});
  }
  return form;
}

std::string WitnessForm::content_type() const {
  return "multipart/form-data; boundary=" + boundary_;
}

std::uint64_t WitnessForm::bytes() const {
  std::uint64_t sum = end_.size();
  for (const Part& part : parts_) sum += part.head.size() + part.bytes;
  return sum;
}

Result<bool> WitnessForm::send(EngineConnection& connection) const {
  for (const Part& part : parts_) {
    const Result<bool> head = connection.send(part.head);
    if (!head || !*head) return head;
    const Result<bool> file = send_file(part, connection);
    if (!file || !*file) return file;
  }
  return connection.send(end_);
}

// As many bytes as were announced, also of a file that grows meanwhile.
Result<bool> WitnessForm::send_file(const Part& part, EngineConnection& connection) {
  std::ifstream file(part.file, std::ios::binary);
  std::string piece;
  for (std::uint64_t left = part.bytes; left > 0; left -= piece.size()) {
    piece.resize(std::min<std::uint64_t>(left, kPieceBytes));
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (!file) return Error{ExitCode::kFailed, part.file.string() + ": changed while it was sent"};
    const Result<bool> sent = connection.send(piece);
    if (!sent || !*sent) return sent;
  }
  return true;
}

}  // namespace vitrine::tools
