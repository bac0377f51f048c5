// SPDX-License-Identifier: Apache-2.0
#include "engine/witness_generation.h"

#include <signal.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <sstream>
#include <string_view>

#include "engine/command_run.h"
#include "engine/quantities.h"
#include "engine/short_text.h"
#include "engine/spool.h"
#include "engine/witness_command.h"
#include "shm/printable_text.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kLineBytesMax = 160;
constexpr std::uint64_t kValueBytes = 32;
// What a command may write beside, and a witness' own header.
constexpr std::uint64_t kFileBytesLeast = std::uint64_t{1} << 20;

// Colours are for terminals.
std::string without_colours(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find("\x1b["), text.size());
    plain += text.substr(0, begin);
    const std::size_t end = text.find('m', begin);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return plain;
}

bool speaks_of_error(std::string_view line) {
  constexpr std::string_view kWord = "error";
  return std::ranges::search(line, kWord, [](char letter, char wanted) {
           return std::tolower(static_cast<unsigned char>(letter)) == wanted;
         }).begin() != line.end();
}

std::string how_it_ended(const CommandEnd& end) {
  const std::string number = std::to_string(end.number);
  if (end.kind == CommandEnd::Kind::kExited) return "exited with " + number;
  return "was ended by signal " + number + " (" + ::strsignal(end.number) + ")";
}

// Somebody else's doing, the kernel's when memory is short; other signals are the program's own.
bool is_from_outside(const CommandEnd& end) {
  return end.kind == CommandEnd::Kind::kStruck && (end.number == SIGKILL || end.number == SIGTERM);
}

std::string without_folder(std::string text, const std::filesystem::path& folder) {
  const std::string name = folder.string() + "/";
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
    text.erase(at, name.size());
  }
  return text;
}

// Nothing when the command has done what it should.
Result<void> judge_end(const WitnessOrder& order, const CommandEnd& end,
                       const WitnessFiles& files) {
  const std::string name = order.label + ": witness_command ";
  if (end.kind == CommandEnd::Kind::kCancelled) return cancelled_error();
  if (end.kind == CommandEnd::Kind::kLate) {
    return Error{ErrorClass::kTimeout, name + "took longer than its witness_timeout of " +
                                           duration_setting(order.timeout_ns)};
  }
  if (end.kind == CommandEnd::Kind::kStruck || end.number != 0) {
    const std::string line = telling_line(without_folder(end.errors, files.witness.parent_path()));
    return Error{is_from_outside(end) ? ErrorClass::kInternal : ErrorClass::kBadInput,
                 name + how_it_ended(end) + (line.empty() ? "" : ": " + line)};
  }
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(files.witness, ignored);
  if (status.type() != std::filesystem::file_type::regular) {
    return bad_input(name + "made no witness");
  }
  return {};
}

}  // namespace

std::string telling_line(const std::string& errors) {
  std::istringstream lines(without_colours(errors));
  std::string last, last_error;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t\r"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    if (speaks_of_error(line)) last_error = line;
    last = std::move(line);
  }
  std::string text = shm::printable_text(last_error.empty() ? last : last_error);
  if (text.size() <= kLineBytesMax) return text;
  text.resize(whole_characters(text, kLineBytesMax - kEllipsis.size()).size());
  return text.append(kEllipsis);
}

Result<MadeWitness> make_witness(const WitnessOrder& order, Spool& spool,
                                 const std::atomic<bool>& cancelled) {
  if (order.command.empty()) {
    return Error{ErrorClass::kInternal, order.label + ": its circuit has no witness_command"};
  }
  const auto labelled = [&order](const Error& error) {
    return Error{error.error_class, order.label + ": " + error.text};
  };
  auto folder = spool.make_work_folder();
  if (!folder) return labelled(folder.error());
  const auto input = (*folder)->copy_in(order.input, "input.json", order.input_bytes_max);
  if (!input) return labelled(input.error());
  const WitnessFiles files{*input, (*folder)->path() / "witness.wtns"};
  const auto program = find_program(order.command.front());
  if (!program)
    return labelled({program.error().error_class, "witness_command: " + program.error().text});
  const Command command{*program, command_words(order.command, files), (*folder)->path(),
                        kFileBytesLeast + order.witness_values * kValueBytes};
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(order.timeout_ns);
  const auto end = run_command(command, deadline, cancelled);
  if (!end) return labelled({end.error().error_class, "witness_command: " + end.error().text});
  if (auto judged = judge_end(order, *end, files); !judged) return judged.error();
  return MadeWitness{files.witness, std::move(*folder)};
}

}  // namespace vitrine::engine
