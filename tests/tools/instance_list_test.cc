// SPDX-License-Identifier: Apache-2.0
#include "tools/instance_list.h"

#include <boost/json/array.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/scratch_folder.h"
#include "tests/tools/test_engine.h"

using namespace vitrine;
using namespace vitrine::tools;
using namespace vitrine::tests;

namespace {

std::vector<ListedInstance> list(const SharedScratchFolder& scratch) {
  return list_instances(shm::list_segments({{scratch.path()}}));
}

}  // namespace

TEST_CASE("live, dead and unreadable instances are all listed and explained", "[ls]") {
  const SharedScratchFolder scratch;
  shm::SegmentWriter alive = publish_engine(scratch.path(), "alive");
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "dead"); }
  std::ofstream(shm::segment_path_in(scratch.path(), "noise")) << std::string(8192, 'x');
  const auto instances = list(scratch);
  const std::string text = instances_text(instances, {});
  INFO(text);
  REQUIRE(instances.size() == 3);
  CHECK(text.find("INSTANCE  VERDICT") == 0);
  CHECK(text.find("alive     busy") != std::string::npos);
  CHECK(text.find("1 running") != std::string::npos);
  CHECK(text.find("dead      dead") != std::string::npos);
  CHECK(text.find("noise     unreadable") != std::string::npos);
  CHECK(worst_exit_code(instances) == ExitCode::kUnreadable);
  const auto json = instances_json(instances);
  REQUIRE(json.at("instances").as_array().size() == 3);
  CHECK(json.at("instances").as_array()[0].as_object().at("instance") == "alive");
}

TEST_CASE("an engine that was replaced is listed but no longer counts", "[ls]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter first = publish_engine(scratch.path(), "e"); }
  CHECK(worst_exit_code(list(scratch)) == ExitCode::kDead);
  shm::SegmentWriter second = publish_engine(scratch.path(), "e");
  const auto instances = list(scratch);
  REQUIRE(instances.size() == 2);
  CHECK(instances[1].is_replaced);
  CHECK(worst_exit_code(instances) == ExitCode::kOk);
}

TEST_CASE("a dead segment in another place does not count while its instance lives", "[ls]") {
  const SharedScratchFolder old_place;
  const SharedScratchFolder new_place;
  { const shm::SegmentWriter dead = publish_engine(old_place.path(), "e"); }
  { const shm::SegmentWriter other = publish_engine(old_place.path(), "other"); }
  shm::SegmentWriter alive = publish_engine(new_place.path(), "e");
  const auto names = shm::list_segments({{old_place.path(), new_place.path()}});
  const auto instances = list_instances(names);
  REQUIRE(instances.size() == 3);
  CHECK(instances[0].is_replaced);
  CHECK(!instances[1].is_replaced);
  CHECK(worst_exit_code(instances) == ExitCode::kDead);
  std::filesystem::remove(shm::segment_path_in(old_place.path(), "other"));
  CHECK(worst_exit_code(list_instances(
            shm::list_segments({{old_place.path(), new_place.path()}}))) == ExitCode::kOk);
}

TEST_CASE("an instance is listed by its own name, whatever its segment is called", "[ls]") {
  const SharedScratchFolder scratch;
  constexpr std::uint64_t kIntervalNs = 10'000'000'000;
  const auto path = shm::segment_path_in(scratch.path(), "file");
  { const shm::SegmentWriter dead = publish_engine_at(path, "first", kIntervalNs); }
  const shm::SegmentWriter alive = publish_engine_at(path, "second", kIntervalNs);
  const auto instances = list(scratch);
  REQUIRE(instances.size() == 2);
  CHECK(instances[1].is_replaced);
  const std::string text = instances_text(instances, {});
  INFO(text);
  CHECK(text.find("\nsecond  ") != std::string::npos);
  CHECK(text.find("\nfirst  ") != std::string::npos);
  CHECK(instances_json(instances).at("instances").as_array()[1].at("instance") == "first");
}

TEST_CASE("no row is wider than the terminal, and what was cut is said", "[ls]") {
  const SharedScratchFolder scratch;
  { const shm::SegmentWriter dead = publish_engine(scratch.path(), "dead"); }
  const auto instances = list(scratch);
  const std::string all = instances_text(instances, {});
  CHECK(all.find("rows are cut") == std::string::npos);
  const std::string text = instances_text(instances, {}, 100);
  INFO(all << text);
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  CHECK(widest == 100);
  CHECK(text.find("...\nrows are cut") != std::string::npos);
}

TEST_CASE("no instance at all is said", "[ls]") {
  const SharedScratchFolder scratch;
  CHECK(instances_text(list(scratch), {}) == "no instances\n");
  CHECK(worst_exit_code({}) == ExitCode::kOk);
}
