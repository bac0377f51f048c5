// SPDX-License-Identifier: Apache-2.0
// The checks on hosts that are made up, and the command on this one.
#include "tools/doctor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <catch2/catch.hpp>
#include <fstream>

#include "shm/owner_lock_writer.h"
#include "tests/scratch_folder.h"
#include "tests/tools/program_run.h"
#include "tests/tools/sample_observation.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

PlaceFacts good_place() {
  return {"/dev/shm", true, true, true, 900 * kMiB, 1024 * kMiB, S_IFDIR | 01777};
}

ListedInstance listed(shm::VerdictWord word) {
  ListedInstance one;
  one.name = {"main", "/dev/shm/vitrine.main", false};
  one.observation = sample_observation();
  one.observation.verdict = {word, "because"};
  one.observation.identity.major = shm::kMajorVersion;
  one.observation.identity.minor = shm::kMinorVersion;
  return one;
}

ListedInstance unreadable(shm::ErrorKind kind) {
  ListedInstance one;
  one.name = {"main", "/dev/shm/vitrine.main", false};
  one.observation.error = shm::Error{kind, "why not"};
  return one;
}

// The one finding, or one of no text.
Finding only(const Findings& findings) {
  INFO(findings_text(findings, {}));
  CHECK(findings.size() == 1);
  return findings.empty() ? Finding{} : findings.front();
}

Severity severity_of(const ListedInstance& one) { return only(check_engine(one)).severity; }

}  // namespace

TEST_CASE("a tmpfs with room is well, and says how much there is", "[doctor]") {
  const Finding finding = only(check_place(good_place()));
  CHECK(finding.severity == Severity::kOk);
  CHECK(finding.text == "in memory, 900.0 MiB of 1.0 GiB free");
  CHECK(check_place({}).empty());
}

TEST_CASE("a place on disk, a full one and an unguarded one are told", "[doctor]") {
  PlaceFacts place = good_place();
  place.is_in_memory = false;
  CHECK_THAT(only(check_place(place)).fix, Contains("mount -t tmpfs"));
  CHECK(only(check_place(place)).severity == Severity::kWarning);
  place.has_segments = false;
  CHECK(only(check_place(place)).severity == Severity::kNote);
  place = good_place();
  place.free_bytes = 15 * kMiB;
  CHECK(only(check_place(place)).severity == Severity::kWarning);
  CHECK(only(check_place(place)).fix == "vitrine gc");
  place = good_place();
  place.mode = S_IFDIR | 0777;
  CHECK(only(check_place(place)).severity == Severity::kProblem);
  CHECK(only(check_place(place)).fix == "chmod +t /dev/shm");
}

TEST_CASE("a segment's file that others may change is a problem", "[doctor]") {
  const ListedInstance one = listed(shm::VerdictWord::kIdle);
  FileFacts file{"/dev/shm/vitrine.main", S_IFREG | 0640, one.observation.identity.uid, 1, 1, 1};
  CHECK(check_file(file, one).empty());
  file.links = 2;
  CHECK_THAT(only(check_file(file, one)).text, Contains("2 names"));
  file.links = 1;
  file.mode = S_IFREG | 0646;
  CHECK(only(check_file(file, one)).fix == "chmod o-w /dev/shm/vitrine.main");
  file.mode = S_IFREG | 0660;
  CHECK(only(check_file(file, one)).severity == Severity::kWarning);
  file.mode = S_IFLNK | 0777;
  CHECK_THAT(only(check_file(file, one)).text, Contains("symbolic link"));
  file.mode = S_IFDIR | 0755;
  CHECK(only(check_file(file, one)).fix == "rmdir /dev/shm/vitrine.main");
  file.mode = S_IFREG | 0640;
  file.owner = one.observation.identity.uid + 7;
  CHECK(only(check_file(file, one)).severity == Severity::kNote);
}

TEST_CASE("every verdict has its weight", "[doctor]") {
  using Word = shm::VerdictWord;
  CHECK(severity_of(listed(Word::kIdle)) == Severity::kOk);
  CHECK(severity_of(listed(Word::kBusy)) == Severity::kOk);
  CHECK(severity_of(listed(Word::kStarting)) == Severity::kNote);
  CHECK(severity_of(listed(Word::kDraining)) == Severity::kNote);
  CHECK(severity_of(listed(Word::kDegraded)) == Severity::kWarning);
  CHECK(severity_of(listed(Word::kHung)) == Severity::kProblem);
  CHECK(only(check_engine(listed(Word::kDead))).fix ==
        "vitrine post-mortem --segment /dev/shm/vitrine.main");
  ListedInstance exited = listed(Word::kExited);
  CHECK(severity_of(exited) == Severity::kOk);
  exited.observation.snapshot->exit_code = 1;
  CHECK(severity_of(exited) == Severity::kWarning);
  exited.is_replaced = true;
  CHECK(check_engine(exited).empty());
}

TEST_CASE("an engine of another mount namespace is named with its place", "[doctor]") {
  ListedInstance one = listed(shm::VerdictWord::kIdle);
  CHECK(only(check_engine(one)).about == "main");
  one.name.path = "/proc/7/root/dev/shm/vitrine.main";
  CHECK(only(check_engine(one)).about == "main at /proc/7/root/dev/shm/vitrine.main");
}

TEST_CASE("layouts that this program does not know are told apart from damage", "[doctor]") {
  CHECK(severity_of(unreadable(shm::ErrorKind::kUnsupported)) == Severity::kProblem);
  CHECK(only(check_engine(unreadable(shm::ErrorKind::kCorrupt))).fix == "rm /dev/shm/vitrine.main");
  ListedInstance newer = listed(shm::VerdictWord::kIdle);
  ++newer.observation.identity.minor;
  const Findings findings = check_engine(newer);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].severity == Severity::kNote);
  CHECK_THAT(findings[0].text, Contains("newer"));
}

TEST_CASE("an API that does not answer is a problem, another user's is not asked", "[doctor]") {
  SocketFacts socket{"/run/vitrine/main.sock", "", 0750, true};
  CHECK(only(check_socket("main", socket)).severity == Severity::kOk);
  socket.problem = "nobody listens";
  CHECK(only(check_socket("main", socket)).severity == Severity::kProblem);
  socket.is_ours_to_ask = false;
  CHECK(only(check_socket("main", socket)).severity == Severity::kNote);
  socket = {"/tmp/x/main.sock", "", 0777, true};
  CHECK(only(check_socket("main", socket)).fix == "chmod o-w /tmp/x");
}

TEST_CASE("RemoveIPC is what the last file says, in its section", "[doctor]") {
  CHECK(removes_ipc({}));
  CHECK(removes_ipc({"[Login]\n#RemoveIPC=no\n"}));
  CHECK(!removes_ipc({"[Login]\nRemoveIPC=no\n"}));
  CHECK(!removes_ipc({"[Login]\nRemoveIPC=yes\n", "[Login]\n RemoveIPC = Off \r\n"}));
  CHECK(removes_ipc({"[Login]\nRemoveIPC=no\n", "[Login]\nRemoveIPC=yes\n"}));
  CHECK(removes_ipc({"[Other]\nRemoveIPC=no\n"}));
}

TEST_CASE("a person's segment goes at logout unless the person lingers", "[doctor]") {
  LoginFacts login{true, true, 1000, false, "ann", false};
  const Finding finding = only(check_remove_ipc("main", login));
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.fix == "loginctl enable-linger ann");
  for (bool LoginFacts::*spared : {&LoginFacts::is_system_user, &LoginFacts::lingers}) {
    LoginFacts other = login;
    other.*spared = true;
    CHECK(check_remove_ipc("main", other).empty());
  }
  for (bool LoginFacts::*cause : {&LoginFacts::has_systemd, &LoginFacts::removes_ipc}) {
    LoginFacts other = login;
    other.*cause = false;
    CHECK(check_remove_ipc("main", other).empty());
  }
}

TEST_CASE("more dead segments than engines keep are a warning", "[doctor]") {
  std::vector<DeadSegment> segments(3, {{"main", "/dev/shm/a", true}, 0});
  CHECK(only(check_dead_segments(segments)).severity == Severity::kNote);
  segments.push_back({{"main", "/dev/shm/b", true}, 65534});  // of another user's engine
  CHECK(check_dead_segments(segments).size() == 2);
  segments.back().owner = 0;
  const Finding finding = only(check_dead_segments(segments));
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.fix == "vitrine gc");
}

TEST_CASE("a lock is stale when nobody holds it and no segment is beside it", "[doctor]") {
  const SharedScratchFolder scratch;
  const auto held = scratch / "held.lock";
  const auto lock = shm::OwnerLock::take(held, shm::Owned::kSegment, "held");
  REQUIRE(lock.has_value());
  std::ofstream(scratch / "stale.lock") << "123";
  std::ofstream(scratch / "used.lock") << "123";
  std::ofstream(scratch / "used.segment") << "x";
  std::ofstream(scratch / "Other Thing.lock") << "x";
  const auto locks = stale_locks(scratch.path());
  REQUIRE(locks.size() == 1);
  CHECK(locks[0] == scratch / "stale.lock");
  CHECK(only(check_stale_locks(scratch.path(), locks)).fix == "rm " + locks[0].string());
}

TEST_CASE("the least limit of the groups around a process counts", "[doctor]") {
  const ScratchFolder root;
  std::filesystem::create_directories(root / "a/b");
  std::ofstream(root / "a/memory.max") << "1000\n";
  std::ofstream(root / "a/b/memory.max") << "max\n";
  CHECK(memory_limit_bytes("1:cpu:/x\n0::/a/b\n", root.path()) == 1000);
  CHECK(memory_limit_bytes("0::/\n", root.path()) == 0);
  CHECK(memory_limit_bytes("0::/../elsewhere\n", root.path()) == 0);
  CHECK(memory_limit_bytes("noise", root.path()) == 0);
  CHECK(check_memory("main", {1000, 900, 100}).empty());
  CHECK(only(check_memory("main", {1000, 901, 100})).severity == Severity::kWarning);
  CHECK(only(check_memory("main", {100, 1, 200})).severity == Severity::kWarning);
  CHECK(check_memory("main", {0, 900, 100}).empty());
}

TEST_CASE("maps of a process are read line by line", "[doctor]") {
  const auto mapped = mapped_files(
      "7f0000000000-7f0000001000 r--s 00000000 00:1a 4242    /dev/shm/vitrine.main\n"
      "7f0000001000-7f0000002000 rw-s 00000000 00:1a 4243    /dev/shm/x\n"
      "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \nnoise\n");
  REQUIRE(mapped.size() == 2);
  CHECK(mapped[0].inode == 4242);
  CHECK(!mapped[0].is_writable);
  CHECK(mapped[1].is_writable);
  CHECK(only(note_readers("main", {{7, "vitrine-http"}, {8, "x"}})).text ==
        "read by vitrine-http (7), x (8)");
}

TEST_CASE("a process that maps a segment to read it is found, its engine is not", "[doctor]") {
  const SharedScratchFolder scratch;
  const shm::SegmentWriter writer = publish_engine(scratch.path(), "e");
  const auto path = shm::segment_path_in(scratch.path(), "e");
  const auto file = file_facts(path);
  REQUIRE(file.has_value());
  const auto own = mapped_files([] {
    std::ifstream maps("/proc/self/maps");
    return std::string(std::istreambuf_iterator<char>(maps), {});
  }());
  CHECK(std::any_of(own.begin(), own.end(), [&](const MappedFile& map) {
    return map.inode == file->inode && map.device == file->device && map.is_writable;
  }));
  CHECK(readers_of(*file).empty());
}

TEST_CASE("findings become lines with the fix below, and an exit code", "[doctor]") {
  const Findings findings = {{Severity::kOk, "a", "is fine", ""},
                             {Severity::kProblem, "b\x1b", "is not", "mend b"}};
  CHECK(findings_text(findings, {}) ==
        "ok       a: is fine\n"
        "problem  b\\x1b: is not\n"
        "         fix: mend b\n"
        "problems: 1, warnings: 0\n");
  CHECK(has_faults(findings));
  CHECK(findings_text({{Severity::kNote, "a", "b", ""}}, {}) ==
        "note     a: b\nnothing is wrong\n");
  CHECK(findings_text({{Severity::kNote, "a", "b", "", true}}, {}) ==
        "note     a: b\n"
        "nothing is wrong as far as could be seen; 1 segments could not be looked at\n");
  CHECK(findings_json(findings).at("findings").as_array().size() == 2);
}

TEST_CASE("doctor tells what stands in a segment's place once, and its path once", "[doctor]") {
  const SharedScratchFolder scratch;
  const std::filesystem::path path = shm::segment_path_in(scratch.path(), "e");
  SECTION("a link") { std::filesystem::create_symlink("/etc/hostname", path); }
  SECTION("a folder") { std::filesystem::create_directory(path); }
  SECTION("a file with two names") {
    std::ofstream(path) << "x";
    std::filesystem::create_hard_link(path, scratch / "second");
  }
  SECTION("noise") { std::ofstream(path) << std::string(8192, 'x'); }
  const ProgramRun run = run_vitrine({"doctor", "--json", "--segment", path.string()});
  const auto document = boost::json::parse(run.output);
  std::size_t findings = 0;
  for (const auto& finding : document.at("findings").as_array()) {
    if (finding.at("about") != path.c_str()) continue;
    ++findings;
    CHECK_THAT(std::string(finding.at("text").as_string()), !Contains(path.string()));
  }
  CHECK(findings == 1);
}

TEST_CASE("doctor finds a segment that was named, and says that its engine died", "[doctor]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "e"); }
  const std::string path = shm::segment_path_in(scratch.path(), "e");
  const ProgramRun run = run_vitrine({"doctor", "--segment", path});
  INFO(run.output << run.error);
  CHECK(run.exit_code == 1);
  CHECK(run.error.empty());
  CHECK_THAT(run.output, Contains("\nwarning  e: dead: "));
  CHECK_THAT(run.output, Contains("fix: vitrine post-mortem --segment " + path + "\n"));
  const ProgramRun json = run_vitrine({"doctor", "--json", "--segment", path});
  CHECK(boost::json::parse(json.output).at("findings").is_array());
  CHECK(run_vitrine({"doctor", "--bogus"}).exit_code == 2);
}

TEST_CASE("doctor finds an engine in another mount namespace", "[doctor]") {
  // The child says when its segment is there, and stays until its input ends.
  const ProgramRun able =
      run_program({"/bin/sh", "-c", "unshare -m mount -t tmpfs tmpfs /dev/shm"});
  if (able.exit_code != 0 || ::geteuid() != 0) {
    WARN("not tested: this host gives us no mount namespace of our own");
    return;
  }
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "inner"); }
  const ScratchFolder outside;
  const auto copy = outside / "copy";
  std::filesystem::copy_file(shm::segment_path_in(scratch.path(), "inner"), copy);
  // The child says when its segment is there, and stays until it is told to end.
  const ProgramRun run = run_program(
      {"/bin/bash", "-c",
       "coproc inner { exec unshare -m /bin/sh -c 'mount -t tmpfs tmpfs /dev/shm && cp " +
           copy.string() +
           " /dev/shm/vitrine.inner && echo there && read -r end'; }; read -r line "
           "<&${inner[0]}; " +
           VITRINE_BIN "/vitrine doctor; echo end >&${inner[1]}"});
  INFO(run.output << run.error);
  CHECK_THAT(run.output, Contains("/root/dev/shm/vitrine.inner"));
}
