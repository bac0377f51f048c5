// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "shm/time_text.h"
#include "tools/duration_text.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

std::string signal_text(std::uint32_t number) {
  const char* description = number < 1024 ? ::sigdescr_np(static_cast<int>(number)) : nullptr;
  return std::to_string(number) +
         (description == nullptr ? "" : " (" + std::string(description) + ")");
}

// What the process was struck in, as its signal handler noted it.
std::string last_words_text(const View& view, const shm::LastWords& words) {
  std::string text = signal_text(words.signal) + " at " +
                     shm::rfc3339_ms(view.snapshot().unix_ns_of(words.time)) + ", in thread " +
                     view.text(words.thread.view());
  if (words.job.value == 0) return text;
  text +=
      ", at " + std::string(shm::word(words.stage)) + " of job " + std::to_string(words.job.value);
  if (words.partition.is_set()) text += " partition " + view.number(words.partition);
  return text;
}

std::string line(std::string_view name, const std::string& value) {
  std::string out(name);
  out.resize(10, ' ');
  return out + value + "\n";
}

}  // namespace

std::string death_section(const View& view) {
  const shm::Snapshot& snapshot = view.snapshot();
  const bool has_exited = snapshot.life == shm::EngineLife::kClosed;
  const std::uint64_t sign_after_beat_ns = snapshot.heartbeat_age_ns - snapshot.last_sign_age_ns();
  const shm::Instant last_sign{snapshot.heartbeat_monotonic_ns + sign_after_beat_ns};
  std::string when = "no heartbeat was seen";
  if (snapshot.heartbeat_monotonic_ns != 0) {
    when = shm::rfc3339_ms(snapshot.unix_ns_of(last_sign)) + ", " +
           duration_text(snapshot.last_sign_age_ns()) + " ago";
    // Where the last beat is the last sign, death came before the next was due.
    if (!has_exited && sign_after_beat_ns == 0) {
      when += ", or up to " + duration_text(shm::credible_interval_ns(snapshot)) + " later";
    }
  }
  std::string out = line(has_exited ? "ended" : "died", when);
  if (has_exited) out += line("exit code", std::to_string(snapshot.exit_code));
  if (snapshot.last_words.written != 0) {
    out += line("struck by", last_words_text(view, snapshot.last_words));
  } else if (snapshot.last_signal != 0) {
    out += line("signal", signal_text(snapshot.last_signal));
  } else if (!has_exited) {
    out +=
        line("signal", "none was seen; SIGKILL, as of the kernel out of memory, leaves no trace");
  }
  out += line("commit", std::to_string(snapshot.commit));
  return out + line("segment", view.text(view.observation().identity.path.string()));
}

}  // namespace vitrine::tools
