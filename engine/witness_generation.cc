// SPDX-License-Identifier: Apache-2.0
#include "engine/witness_generation.h"

#include <signal.h>

#include <chrono>
#include <cstring>

#include "engine/command_run.h"
#include "engine/quantities.h"
#include "engine/spool.h"
#include "engine/telling_line.h"
#include "engine/witness_command.h"

namespace vitrine::engine {
namespace {

constexpr std::uint64_t kValueBytes = 32;
// What a command may write beside, and a witness' own header.
constexpr std::uint64_t kFileBytesLeast = std::uint64_t{1} << 20;

std::string how_it_ended(const CommandEnd& end) {
  const std::string number = std::to_string(end.number);
  if (end.kind == CommandEnd::Kind::kExited) return "exited with " + number;
  return "was ended by signal " + number + " (" + ::strsignal(end.number) + ")";
}

// Somebody else's doing, the kernel's when memory is short; other signals are the program's own.
bool is_from_outside(const CommandEnd& end) {
  return end.kind == CommandEnd::Kind::kStruck && (end.number == SIGKILL || end.number == SIGTERM);
}

// Whether the disk cannot take what the witness is short of: then no command could have made it.
// One that writes elsewhere first, or tidies up after itself, is believed.
bool lacks_room(const std::filesystem::path& witness, std::uint64_t whole_bytes) {
  std::error_code problem;
  const std::uintmax_t size_bytes = std::filesystem::file_size(witness, problem);
  const std::uint64_t there_bytes = problem ? 0 : size_bytes;
  const auto space = std::filesystem::space(witness.parent_path(), problem);
  return !problem && there_bytes < whole_bytes && space.available < whole_bytes - there_bytes;
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
  if (lacks_room(files.witness, order.witness_values * kValueBytes)) {
    return Error{ErrorClass::kOutOfMemory,
                 order.label + ": the spool: its disk has no room for the witness"};
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
  const bool lacks_place = !input && input.error().error_class == ErrorClass::kOutOfMemory;
  if (input || lacks_place) spool.note_write(input ? std::string() : input.error().text);
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
