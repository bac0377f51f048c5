// SPDX-License-Identifier: Apache-2.0
// The states and reasons that may stand in a record, with the words every output uses for them.
//
// Layout   each enumeration is a u32 in the segment; zero means "absent" and reads `unknown` or
//          `none`. Enumerators are only appended, never renumbered.
// Reader   a number without a word reads `unknown`: bytes from the segment are untrusted.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace vitrine::shm {

using Words = std::span<const std::string_view>;

// Specialised for every enumeration below: `kWords[value]` is the word of `value`.
template <class Enum>
struct WordList;

template <class Enum>
concept Worded = requires {
  WordList<Enum>::kWords;
};

// The word of a value; "unknown" for a value without one.
constexpr std::string_view word_of(std::uint32_t value, Words words) {
  return value < words.size() ? words[value] : std::string_view("unknown");
}

template <Worded Enum>
constexpr std::string_view word(Enum value) {
  return word_of(static_cast<std::uint32_t>(value), WordList<Enum>::kWords);
}

// What the engine as a whole is doing (the hot line `life`).
enum class EngineLife : std::uint32_t {
  kUnknown,
  kStarting,
  kReady,
  kDegraded,
  kDraining,
  kClosed
};
template <>
struct WordList<EngineLife> {
  static constexpr std::string_view kWords[] = {"unknown",  "starting", "ready",
                                                "degraded", "draining", "closed"};
};

enum class JobState : std::uint32_t {
  kUnknown,
  kReceived,
  kQueued,
  kAdmitting,
  kRunning,
  kAssembling,
  kDone,
  kFailed,
  kCancelled,
  kRefused,
  kLost
};
template <>
struct WordList<JobState> {
  static constexpr std::string_view kWords[] = {"unknown",   "received",   "queued", "admitting",
                                                "running",   "assembling", "done",   "failed",
                                                "cancelled", "refused",    "lost"};
};

enum class PartitionStage : std::uint32_t {
  kUnknown,
  kPending,
  kWitnessing,
  kSynthesizing,
  kGpuQueued,
  kGpuProving,
  kFinishing,
  kDone,
  kFailed,
  kCancelled
};
template <>
struct WordList<PartitionStage> {
  static constexpr std::string_view kWords[] = {
      "unknown",     "pending",   "witnessing", "synthesizing", "gpu_queued",
      "gpu_proving", "finishing", "done",       "failed",       "cancelled"};
};

// Why an item that is neither running nor final is not going on (invariant I5).
enum class WaitReason : std::uint32_t { kNone, kMemory, kSrs, kBatch, kCpu, kDevice, kPaused };
template <>
struct WordList<WaitReason> {
  static constexpr std::string_view kWords[] = {"none", "memory", "srs",   "batch",
                                                "cpu",  "device", "paused"};
};

enum class FailureClass : std::uint32_t {
  kNone,
  kBadInput,
  kOutOfMemory,
  kDeviceError,
  kVerifyFailed,
  kCancelled,
  kTimeout,
  kLost,
  kInternal
};
template <>
struct WordList<FailureClass> {
  static constexpr std::string_view kWords[] = {"none",         "bad_input",     "out_of_memory",
                                                "device_error", "verify_failed", "cancelled",
                                                "timeout",      "lost",          "internal"};
};

enum class Priority : std::uint32_t { kUnknown, kLow, kNormal, kHigh, kCritical };
template <>
struct WordList<Priority> {
  static constexpr std::string_view kWords[] = {"unknown", "low", "normal", "high", "critical"};
};

enum class Backend : std::uint32_t { kUnknown, kAuto, kCpu, kCuda };
template <>
struct WordList<Backend> {
  static constexpr std::string_view kWords[] = {"unknown", "auto", "cpu", "cuda"};
};

enum class DeviceState : std::uint32_t { kUnknown, kUp, kDegraded, kQuarantined, kLost };
template <>
struct WordList<DeviceState> {
  static constexpr std::string_view kWords[] = {"unknown", "up", "degraded", "quarantined", "lost"};
};

enum class WorkerState : std::uint32_t { kUnknown, kIdle, kProving };
template <>
struct WordList<WorkerState> {
  static constexpr std::string_view kWords[] = {"unknown", "idle", "proving"};
};

enum class IdleReason : std::uint32_t { kNone, kNoWork, kStarting, kPaused, kDraining };
template <>
struct WordList<IdleReason> {
  static constexpr std::string_view kWords[] = {"none", "no_work", "starting", "paused",
                                                "draining"};
};

// What an allocation keeps resident: a proving key's points, or its constraint matrices.
enum class AllocationKind : std::uint32_t { kUnknown, kSrs, kPce };
template <>
struct WordList<AllocationKind> {
  static constexpr std::string_view kWords[] = {"unknown", "srs", "pce"};
};

enum class AllocationState : std::uint32_t {
  kUnknown,
  kAbsent,
  kLoading,
  kReady,
  kEvicting,
  kCorrupt
};
template <>
struct WordList<AllocationState> {
  static constexpr std::string_view kWords[] = {"unknown", "absent",   "loading",
                                                "ready",   "evicting", "corrupt"};
};

enum class QueueName : std::uint32_t { kUnknown, kJobs, kSynthesis, kDevice };
template <>
struct WordList<QueueName> {
  static constexpr std::string_view kWords[] = {"unknown", "jobs", "synthesis", "device"};
};

enum class EventType : std::uint32_t {
  kUnknown,
  kSubmit,
  kAdmit,
  kWait,
  kSynthStart,
  kSynthEnd,
  kGpuQueue,
  kGpuPickup,
  kGpuStart,
  kGpuEnd,
  kPartitionDone,
  kPartitionFail,
  kPartitionCancel,
  kFinish,
  kFail,
  kCancel,
  kRefuse,
  kLoad,
  kLoaded,
  kEvict,
  kFallback,
  kDrain,
  kStart,
  kStop
};
template <>
struct WordList<EventType> {
  static constexpr std::string_view kWords[] = {
      "unknown",          "submit",     "admit",     "wait",    "synth_start",    "synth_end",
      "gpu_queue",        "gpu_pickup", "gpu_start", "gpu_end", "partition_done", "partition_fail",
      "partition_cancel", "finish",     "fail",      "cancel",  "refuse",         "load",
      "loaded",           "evict",      "fallback",  "drain",   "start",          "stop"};
};

constexpr bool is_final(JobState state) { return state >= JobState::kDone; }
constexpr bool is_waiting(JobState state) {
  return state >= JobState::kReceived && state <= JobState::kAdmitting;
}
constexpr bool is_active(JobState state) {
  return state == JobState::kRunning || state == JobState::kAssembling;
}
constexpr bool is_final(PartitionStage stage) { return stage >= PartitionStage::kDone; }
// True while a worker owns the partition (invariant I2).
constexpr bool is_on_device(PartitionStage stage) {
  return stage == PartitionStage::kGpuProving || stage == PartitionStage::kFinishing;
}

}  // namespace vitrine::shm
