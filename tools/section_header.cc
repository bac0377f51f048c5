// SPDX-License-Identifier: Apache-2.0
#include "shm/time_text.h"
#include "tools/duration_text.h"
#include "tools/verdict_tone.h"
#include "tools/view.h"

namespace vitrine::tools {
namespace {

std::string heartbeat_text(const View& view) {
  const shm::Snapshot& snapshot = view.snapshot();
  if (snapshot.heartbeat_monotonic_ns == 0) return "no heartbeat yet";
  const std::string age = duration_text(snapshot.heartbeat_age_ns) + " ago";
  if (!view.engine_is_gone()) return "heartbeat " + age;
  const shm::Instant last_beat{snapshot.heartbeat_monotonic_ns};
  return "last heartbeat " + shm::rfc3339_ms(snapshot.unix_ns_of(last_beat)) + ", " + age;
}

std::string backend_text(const View& view) {
  const shm::EngineRecord& engine = view.snapshot().engine();
  std::string text(shm::word(engine.effective_backend));
  if (!engine.kernel_path.view().empty()) {
    text += " (" + view.text(engine.kernel_path.view()) + ")";
  }
  if (engine.requested_backend != engine.effective_backend) {
    text += ", asked for " + std::string(shm::word(engine.requested_backend));
  }
  return text;
}

}  // namespace

std::string header_section(const View& view) {
  const shm::SegmentIdentity& who = view.observation().identity;
  const shm::Verdict& verdict = view.observation().verdict;
  StyledText line;
  line.add(view.text(who.instance), Tone::kStrong).add("  ");
  line.add(shm::word(verdict.word), tone_of(verdict.word)).add("  ");
  line.add(view.text(verdict.reason));
  std::string out = line.painted(view.style()) + "\n";
  out += "vitrine " + view.text(who.engine_version) + "  pid " + std::to_string(who.pid) + " on " +
         view.text(who.host) + (view.engine_is_gone() ? "  ran " : "  up ") +
         view.age(view.snapshot().engine().started) + "  " + heartbeat_text(view) + "  backend " +
         backend_text(view) + "\n";
  if (view.snapshot().engine().paused != 0) out += "paused: new work is held back\n";
  if (view.snapshot().damaged) {
    out +=
        "this state is not of one moment: the segment is damaged, its rows do not fit its commit\n";
  } else if (!view.snapshot().consistent) {
    out += "this state is not of one moment: it changed faster than it could be copied\n";
  }
  return out;
}

}  // namespace vitrine::tools
