// SPDX-License-Identifier: Apache-2.0
// Names and places: where the segment and the socket of an instance are, for writer and readers.
//
// Layout   in /dev/shm      vitrine.INSTANCE    its lock vitrine.INSTANCE.lock
//          elsewhere        INSTANCE.segment    its lock INSTANCE.lock
//          dead segments    vitrine.INSTANCE.INCARNATION.dead, beside the live name
// Threads  any, as long as nobody changes the environment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shm/error.h"

namespace vitrine::shm {

// Where readers look, in order.
struct SegmentPlaces {
  std::vector<std::filesystem::path> directories = {"/run/vitrine", "/dev/shm"};
};

// True for [a-z0-9_][a-z0-9_-]{0,31}: one that begins with a dash would read as a flag.
bool is_instance_name(std::string_view name);

// The segment of `instance` in `directory`. Requires is_instance_name(instance).
std::filesystem::path segment_path_in(const std::filesystem::path& directory,
                                      std::string_view instance);

// The part of a live segment's name that tells its instance: `main` of both
// /dev/shm/vitrine.main and /run/vitrine/main.segment.
std::string instance_part(const std::filesystem::path& segment);

// The file beside a segment or a socket whose lock its engine holds for life.
std::filesystem::path lock_path_of(const std::filesystem::path& name);
// The name of a segment once it is dead, beside its name in life.
std::filesystem::path dead_path_of(const std::filesystem::path& segment,
                                   std::string_view incarnation);

// Where vitrined publishes: /run/vitrine when it is a service that owns that directory
// (RUNTIME_DIRECTORY names it), else POSIX shared memory.
std::filesystem::path default_segment_path(std::string_view instance);

// Where vitrined listens: $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/vitrine, /run/vitrine (root) or
// /tmp/vitrine-UID, in this order.
std::filesystem::path default_socket_path(std::string_view instance);

// Whose lock an engine holds for life: INSTANCE.lock in the directory where it listens by default.
std::filesystem::path instance_lock_path(std::string_view instance);

// The paths at which the segment of `instance` may be: `explicit_path` alone when given, else
// $VITRINE_SEGMENT alone when set, else its name in each of `places`.
std::vector<std::filesystem::path> segment_candidates(
    std::string_view instance, const std::optional<std::filesystem::path>& explicit_path,
    const SegmentPlaces& places = {});

// The first candidate that exists. Errors: kAbsent names every path that was looked at.
Result<std::filesystem::path> find_segment(
    std::string_view instance, const std::optional<std::filesystem::path>& explicit_path = {},
    const SegmentPlaces& places = {});

}  // namespace vitrine::shm
