// SPDX-License-Identifier: Apache-2.0
// record, replay and --file, as programs on a published segment.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "shm/attachment.h"
#include "shm/catalogue.h"
#include "shm/recording_reader.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

namespace {

// A program that runs beside the test, with its errors dropped; killed if the test ends first.
class BackgroundProgram {
 public:
  explicit BackgroundProgram(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), VITRINE_BIN "/vitrine");
    pid_ = fork();
    if (pid_ != 0) return;
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    alarm(60);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;
  ~BackgroundProgram() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    end();
  }

  void signal(int number) const { ::kill(pid_, number); }
  int end() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
};

template <class Condition>
void wait_until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::uint64_t frames_in(const std::filesystem::path& file) {
  auto recording = shm::RecordingReader::open(file);
  if (!recording) return 0;
  while (recording->next()) {
  }
  return recording->moment().frame;
}

shm::Snapshot last_snapshot(const std::filesystem::path& file) {
  auto reader = shm::SegmentReader::open_file(file);
  INFO((reader ? std::string() : reader.error().text));
  REQUIRE(reader.has_value());
  shm::Snapshot snapshot;
  REQUIRE(reader->snapshot(snapshot).has_value());
  return snapshot;
}

bool has_same_rows(const shm::Snapshot& a, const shm::Snapshot& b) {
  bool is_same = a.consistent && b.consistent && a.commit == b.commit;
  shm::for_each_table([&]<class Record>() {
    const auto& left = a.rows<Record>();
    const auto& right = b.rows<Record>();
    is_same = is_same && left.size() == right.size() &&
              std::memcmp(static_cast<const void*>(left.data()), right.data(),
                          left.size() * sizeof(Record)) == 0;
  });
  return is_same;
}

// An engine that is published, and an empty place for its recording.
struct Scene {
  SharedScratchFolder folder;
  std::optional<shm::SegmentWriter> writer = publish_engine(folder.path(), "main");

  std::string segment() const { return (folder / "main.segment").string(); }
  std::string file() const { return (folder / "main.rec").string(); }
  ProgramRun record(const std::string& duration) const {
    return run_vitrine({"record", "--segment", segment(), "--out", file(), "--for", duration,
                        "--interval", "10ms"});
  }
  void stop_engine(std::uint32_t exit_code) {
    writer->set_life(shm::EngineLife::kClosed, exit_code);
    writer.reset();
  }
};

}  // namespace

TEST_CASE("a recording of an engine opens in every status command") {
  Scene scene;
  append_events(*scene.writer, 5);
  const ProgramRun recorded = scene.record("100ms");
  INFO(recorded.error);
  REQUIRE(recorded.exit_code == 0);
  CHECK_THAT(recorded.error, Contains("the time is over") && Contains("frames"));
  for (const std::string command : {"show", "jobs", "workers", "memory", "events"}) {
    INFO(command);
    const ProgramRun shown = run_vitrine({command, "--file", scene.file()});
    INFO(shown.error);
    CHECK(shown.exit_code == 0);
    CHECK_FALSE(shown.output.empty());
  }
  const ProgramRun json = run_vitrine({"show", "--json", "--file", scene.file()});
  const boost::json::object engine = boost::json::parse(json.output).at("engine").as_object();
  CHECK(engine.at("verdict") == "busy");
  CHECK_THAT(std::string(engine.at("reason").as_string()), Contains("recorded 20"));
  CHECK(engine.at("lock_held") == true);
}

TEST_CASE("a recording ends with the last state of an engine that ends") {
  Scene scene;
  BackgroundProgram recorder({"record", "--segment", scene.segment(), "--out", scene.file(),
                              "--interval", "10ms", "--log-level", "off"});
  wait_until([&] { return frames_in(scene.file()) >= 2; });
  append_events(*scene.writer, 3);
  scene.stop_engine(7);
  CHECK(recorder.end() == 0);
  const shm::Snapshot last = last_snapshot(scene.file());
  CHECK(last.life == shm::EngineLife::kClosed);
  CHECK(last.exit_code == 7);
  CHECK(last.last_event_sequence == 3);
  const ProgramRun shown = run_vitrine({"show", "--file", scene.file()});
  CHECK(shown.exit_code == 4);
  CHECK_THAT(shown.output, Contains("exited with code 7"));
}

TEST_CASE("a signal ends a recording well, and a killed recorder leaves what it wrote") {
  Scene scene;
  const int number = GENERATE(SIGINT, SIGTERM, SIGKILL);
  BackgroundProgram recorder({"record", "--segment", scene.segment(), "--out", scene.file(),
                              "--interval", "10ms", "--log-level", "off"});
  wait_until([&] { return frames_in(scene.file()) >= 3; });
  recorder.signal(number);
  CHECK(recorder.end() == (number == SIGKILL ? 128 + SIGKILL : 0));
  auto recording = shm::RecordingReader::open(scene.file()).value();
  while (recording.next()) {
  }
  CHECK(recording.moment().frame >= 3);
  const bool is_finished = recording.end() == shm::RecordingEnd::kFinished;
  CHECK(is_finished == (number != SIGKILL));
}

TEST_CASE("all events are recorded when they come faster than frames") {
  Scene scene;
  BackgroundProgram recorder({"record", "--segment", scene.segment(), "--out", scene.file(),
                              "--interval", "30s", "--log-level", "off"});
  wait_until([&] { return frames_in(scene.file()) >= 1; });
  // The ring has 64 places and the next usual frame is half a minute away.
  for (int i = 0; i < 5; ++i) {
    append_events(*scene.writer, 30);
    const auto expected = static_cast<std::uint64_t>(30 * (i + 1));
    wait_until([&] { return last_snapshot(scene.file()).last_event_sequence == expected; });
  }
  recorder.signal(SIGINT);
  CHECK(recorder.end() == 0);
  auto recording = shm::RecordingReader::open(scene.file()).value();
  while (recording.next()) {
  }
  CHECK(recording.missed_entries() == 0);
}

TEST_CASE("a full disk ends a recording with one line, and what is there stays readable") {
  Scene scene;
  const std::string command = "ulimit -f 256; exec " VITRINE_BIN "/vitrine record --segment " +
                              scene.segment() + " --out " + scene.file() + " --interval 1ms";
  std::atomic<bool> is_done{false};
  std::thread engine([&] {
    while (!is_done) append_events(*scene.writer, 1);
  });
  const ProgramRun run = run_program({"/bin/sh", "-c", command});
  is_done = true;
  engine.join();
  INFO(run.error);
  CHECK(run.exit_code == 1);
  CHECK(run.error_is_one_line());
  CHECK_THAT(run.error, Contains(scene.file()) && Contains("File too large"));
  auto recording = shm::RecordingReader::open(scene.file()).value();
  while (recording.next()) {
  }
  CHECK(recording.moment().frame > 0);
  CHECK(recording.end() == shm::RecordingEnd::kOpen);
}

TEST_CASE("a recording overwrites nothing and names what it cannot record") {
  Scene scene;
  std::ofstream(scene.file()) << "precious";
  const ProgramRun again = scene.record("1s");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.error, Contains(scene.file() + ": is there already"));
  const ProgramRun absent =
      run_vitrine({"record", "--segment", scene.segment() + "x", "--out", scene.file() + "2"});
  CHECK(absent.exit_code == 3);
  CHECK_FALSE(std::filesystem::exists(scene.file() + "2"));
  scene.writer.reset();
  const ProgramRun dead =
      run_vitrine({"record", "--segment", scene.segment(), "--out", scene.file() + "3"});
  CHECK(dead.exit_code == 4);
  CHECK(frames_in(scene.file() + "3") == 1);
}

TEST_CASE("a replay is a live instance whose state is that of the recording") {
  Scene scene;
  append_events(*scene.writer, 9);
  REQUIRE(scene.record("100ms").exit_code == 0);
  const shm::Snapshot truth = last_snapshot(scene.file());
  const auto path = scene.folder / "again.segment";
  BackgroundProgram replay({"replay", scene.file(), "--segment", path.string(), "--instance",
                            "again", "--speed", "10", "--hold", "--log-level", "off"});
  shm::Target target;
  target.path = path;
  shm::Attachment attachment(target);
  wait_until([&] {
    const shm::Observation& look = attachment.observe();
    return look.snapshot && look.snapshot->commit == truth.commit;
  });
  const shm::Observation& look = attachment.observe();
  CHECK(has_same_rows(*look.snapshot, truth));
  CHECK(look.snapshot->last_event_sequence == truth.last_event_sequence);
  CHECK(look.verdict.word == shm::VerdictWord::kBusy);
  CHECK(look.liveness.lock_held);
  CHECK(look.identity.instance == "again");
  CHECK(look.identity.incarnation != truth.incarnation);
  const ProgramRun jobs = run_vitrine({"jobs", "--segment", path.string()});
  CHECK(jobs.exit_code == 0);
  CHECK_THAT(jobs.output, Contains("sha256"));
  const ProgramRun events = run_vitrine({"events", "--segment", path.string(), "--json"});
  CHECK(std::count(events.output.begin(), events.output.end(), '\n') == 9);
  replay.signal(SIGTERM);
  CHECK(replay.end() == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("to readers a replay ends as an exit, unless its engine died") {
  Scene scene;
  const bool has_died = GENERATE(false, true);
  if (has_died) scene.writer.reset();
  CHECK(scene.record("50ms").exit_code == (has_died ? 4 : 0));
  const auto path = scene.folder / "again.segment";
  BackgroundProgram replay({"replay", scene.file(), "--segment", path.string(), "--instance",
                            "again", "--hold", "--log-level", "off"});
  shm::Target target;
  target.path = path;
  shm::Attachment attachment(target);
  wait_until([&] { return attachment.observe().snapshot.has_value(); });
  replay.signal(SIGTERM);
  CHECK(replay.end() == 0);
  const shm::Observation& look = attachment.observe();
  CHECK(look.verdict.word == (has_died ? shm::VerdictWord::kDead : shm::VerdictWord::kExited));
  CHECK(look.snapshot->exit_code == 0);
}

TEST_CASE("a recording without a frame is none: 5, and it tells no time") {
  Scene scene;
  // One row whose versions are all ahead of the commit: there is no moment to copy.
  constexpr std::size_t kSlotWords = shm::slot_bytes(sizeof(shm::EngineRecord)) / 8;
  for (std::size_t slot = 0; slot < shm::kSlots; ++slot) {
    overwrite_row(scene.segment(), shm::SectionId::kEngine, shm::kLineBytes / 8 + slot * kSlotWords,
                  std::uint64_t{1} << 40);
  }
  overwrite_row(scene.segment(), shm::SectionId::kEngine, 0, 7);
  scene.writer->beat();
  const ProgramRun run = scene.record("50ms");
  CHECK(run.exit_code == 5);
  CHECK_THAT(run.error, Contains("the recording has no frame"));
  for (const std::string command : {"show", "events", "trace"}) {
    std::vector<std::string> words = {command, "--file", scene.file()};
    if (command == "trace") words.insert(words.end(), {"--out", scene.file() + ".json"});
    const ProgramRun shown = run_vitrine(words);
    INFO(command << shown.error);
    CHECK(shown.exit_code == 5);
    CHECK_THAT(shown.error, Contains("without a whole frame") && !Contains("1970"));
  }
  const ProgramRun played = run_vitrine({"replay", scene.file()});
  CHECK(played.exit_code == 5);
  CHECK_THAT(played.error, !Contains("1970"));
  const ProgramRun shown = run_vitrine({"show", "--segment", scene.segment()});
  CHECK_THAT(shown.output, Contains("the segment is damaged, its rows do not fit its commit"));
  const ProgramRun report =
      run_vitrine({"report", "--segment", scene.segment(), "--out", scene.file() + ".tar.gz"});
  CHECK_THAT(report.error, Contains("is damaged: its rows do not fit its commit"));
}

TEST_CASE("a replay ends after its last frame, and refuses what it cannot play") {
  Scene scene;
  REQUIRE(scene.record("50ms").exit_code == 0);
  const std::string path = (scene.folder / "again.segment").string();
  // The instance that a host looks at by default is not the one to play as.
  const ProgramRun played =
      run_vitrine({"replay", scene.file(), "--segment", path}, {"VITRINE_INSTANCE=main"});
  INFO(played.error);
  CHECK(played.exit_code == 0);
  CHECK_THAT(played.error, Contains("instance replay-main"));
  CHECK_FALSE(std::filesystem::exists(path));
  const ProgramRun live = run_vitrine({"replay", scene.file(), "--segment", scene.segment()});
  CHECK(live.exit_code == 3);
  CHECK_THAT(live.error, Contains("a live engine has it"));
  for (const std::string speed : {"0", "-1", "fast", "1e3", "nan"}) {
    INFO(speed);
    const ProgramRun wrong = run_vitrine({"replay", scene.file(), "--speed=" + speed});
    CHECK(wrong.exit_code == 2);
    CHECK(wrong.error_is_one_line());
  }
  CHECK(run_vitrine({"replay", scene.segment() + "x"}).exit_code == 3);
  CHECK(run_vitrine({"replay", "/etc/hostname"}).exit_code == 5);
}
