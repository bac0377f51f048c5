// SPDX-License-Identifier: Apache-2.0
#include "engine/device_eligibility.h"

#include <catch2/catch.hpp>
#include <vector>

namespace vitrine::engine::testing {
namespace {

using shm::DeviceState;
using Bytes = std::optional<std::uint64_t>;

Device device(std::uint32_t number, DeviceState state, Bytes memory_bytes = {}) {
  Device made;
  made.number = number;
  made.state = state;
  made.setup.memory_bytes = memory_bytes;
  return made;
}

Device standing_by() {
  Device made = device(9, DeviceState::kUp);
  made.stands_by = made.is_standby = true;
  return made;
}

TEST_CASE("a device runs what it holds and has not failed, as long as it is trusted") {
  struct Row {
    Device device;
    DeviceDemand demand;
    bool may_run;
  };
  const Row rows[] = {
      {device(0, DeviceState::kUp), {100, {}}, true},
      {device(0, DeviceState::kDegraded), {100, {}}, true},
      {device(0, DeviceState::kQuarantined), {100, {}}, false},
      {device(0, DeviceState::kLost), {100, {}}, false},
      {device(0, DeviceState::kUnknown), {100, {}}, false},
      {standing_by(), {100, {}}, false},
      {device(0, DeviceState::kUp, 100), {100, {}}, true},
      {device(0, DeviceState::kUp, 99), {100, {}}, false},
      {device(0, DeviceState::kUp, 0), {0, {}}, true},
      {device(0, DeviceState::kUp), {100, 0}, false},
      {device(1, DeviceState::kUp), {100, 0}, true},
      {device(1, DeviceState::kUp, 99), {100, 0}, false},
      {device(1, DeviceState::kLost), {100, 0}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CHECK(may_run(row.device, row.demand) == row.may_run);
    CHECK(any_may_run(std::vector{row.device}, row.demand) == row.may_run);
  }
}

TEST_CASE("of several devices one that can is enough, and only those that take work count") {
  struct Row {
    std::vector<Device> devices;
    bool takes_work, runs_100_bytes, runs_despite_first;
    Bytes largest_memory;
  };
  const Row rows[] = {
      {{}, false, false, false, {}},
      {{device(0, DeviceState::kUp)}, true, true, false, {}},
      {{device(0, DeviceState::kUp, 50)}, true, false, false, 50},
      {{device(0, DeviceState::kUp, 50), device(1, DeviceState::kUp, 200)}, true, true, true, 200},
      {{device(0, DeviceState::kUp, 50), device(1, DeviceState::kUp)}, true, true, true, {}},
      {{device(0, DeviceState::kUp, 50), device(1, DeviceState::kLost)}, true, false, false, 50},
      {{device(0, DeviceState::kLost), device(1, DeviceState::kQuarantined)},
       false,
       false,
       false,
       {}},
      {{device(0, DeviceState::kLost), standing_by()}, false, false, false, {}},
      {{device(0, DeviceState::kUp, 200), device(1, DeviceState::kUp, 50)}, true, true, false, 200},
  };
  for (const Row& row : rows) {
    CAPTURE(&row - rows);
    CHECK(any_takes_work(row.devices) == row.takes_work);
    CHECK(any_may_run(row.devices, {100, {}}) == row.runs_100_bytes);
    CHECK(any_may_run(row.devices, {100, 0}) == row.runs_despite_first);
    CHECK(largest_memory(row.devices) == row.largest_memory);
  }
}

}  // namespace
}  // namespace vitrine::engine::testing
