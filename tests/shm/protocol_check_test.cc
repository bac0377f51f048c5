// SPDX-License-Identifier: Apache-2.0
// Every execution of the protocol that C++ allows, and the mutants that this check must catch.
#include "tests/shm/protocol_check.h"

#include <catch2/catch.hpp>

#include "tests/shm/protocol_mutants.h"

namespace vitrine::shm::testing {
namespace {

// Laps one record, or the ring, past all its slots while the others stand still, change late, or
// come late.
template <std::size_t kSlotCount>
std::vector<Scenario> scenarios() {
  Scenario one_lapped(kSlotCount + 3, {{0}});
  one_lapped[0] = {{0, 1, 2}};
  Scenario one_late(kSlotCount + 3, {{1}});
  one_late[kSlotCount - 1] = {{0, 1}};
  const Scenario all(kSlotCount + 1, {{2, 1, 0}});
  const Scenario growing = {{{0}}, {{0, 1}}, {{2}}, {{1}}, {{2, 0}}};
  const Scenario ring_lapped(kSlotCount + 3, {{}, 1});
  Scenario ring_in_pairs(kSlotCount, {{}, 2});
  ring_in_pairs.insert(ring_in_pairs.begin() + 1, {{0}});
  const Scenario together = {{{0}, 1}, {{1}, 2}, {{0, 1}}, {{0}, 1}, {{0, 2}, 1}};
  return {one_lapped, one_late, all, growing, ring_lapped, ring_in_pairs, together, {}, {{{1}}}};
}

template <class Protocol>
std::optional<std::string> fault_of() {
  for (const Scenario& scenario : scenarios<Protocol::kSlots>()) {
    if (auto fault = ProtocolCheck<Protocol>(scenario).find_fault()) return fault;
  }
  return std::nullopt;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("no execution shows a reader anything but whole states of one moment", "",
                       ((std::size_t kSlotCount), kSlotCount), 3, 4) {
  CHECK(fault_of<RealProtocol<kSlotCount>>().value_or("") == "");
}

TEMPLATE_TEST_CASE_SIG("every planted mutant of the protocol is caught", "",
                       ((std::size_t kSlotCount), kSlotCount), 3, 4) {
  CHECK(fault_of<NoReleaseOfHead<kSlotCount>>().has_value());
  CHECK(fault_of<NoReleaseFence<kSlotCount>>().has_value());
  CHECK(fault_of<NoReleaseOfCommit<kSlotCount>>().has_value());
  CHECK(fault_of<NoAcquireOfHead<kSlotCount>>().has_value());
  CHECK(fault_of<NoAcquireFence<kSlotCount>>().has_value());
  CHECK(fault_of<NoAcquireOfCommit<kSlotCount>>().has_value());
  CHECK(fault_of<FenceAfterWords<kSlotCount>>().has_value());
  CHECK(fault_of<HeadBeforeWords<kSlotCount>>().has_value());
  CHECK(fault_of<CommitBeforeRecords<kSlotCount>>().has_value());
  CHECK(fault_of<RepeatedPublish<kSlotCount>>().has_value());
  CHECK(fault_of<OneSlotTooMany<kSlotCount>>().has_value());
}

TEMPLATE_TEST_CASE_SIG("every planted mutant of the count of used rows is caught", "",
                       ((std::size_t kSlotCount), kSlotCount), 3, 4) {
  CHECK(fault_of<UsedAfterCommit<kSlotCount>>().has_value());
  CHECK(fault_of<UsedBeforeCommitOfReader<kSlotCount>>().has_value());
}

TEMPLATE_TEST_CASE_SIG("every planted mutant of the event ring is caught", "",
                       ((std::size_t kSlotCount), kSlotCount), 3, 4) {
  constexpr std::uint64_t kNeverLooksAgain = 1000;
  CHECK(fault_of<AppendNoRelease<kSlotCount>>().has_value());
  CHECK(fault_of<AppendNoFence<kSlotCount>>().has_value());
  CHECK(fault_of<AppendFenceAfterWords<kSlotCount>>().has_value());
  CHECK(fault_of<AppendHeadBeforeWords<kSlotCount>>().has_value());
  CHECK(fault_of<AppendAfterCommit<kSlotCount>>().has_value());
  CHECK(fault_of<NewestNoAcquire<kSlotCount>>().has_value());
  CHECK(fault_of<NewestNoFence<kSlotCount>>().has_value());
  CHECK(fault_of<NewestTooLong<kSlotCount, 0>>().has_value());
  CHECK(fault_of<NewestTooLong<kSlotCount, 1>>().has_value());
  CHECK(fault_of<NewestTooLong<kSlotCount, kNeverLooksAgain>>().has_value());
  CHECK(fault_of<FollowNoAcquire<kSlotCount>>().has_value());
  CHECK(fault_of<FollowNoFence<kSlotCount>>().has_value());
  CHECK(fault_of<FollowPastCommit<kSlotCount>>().has_value());
  CHECK(fault_of<FollowOneTooMany<kSlotCount>>().has_value());
}

}  // namespace vitrine::shm::testing
