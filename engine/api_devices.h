// SPDX-License-Identifier: Apache-2.0
// The resources `/v1/devices` and `/v1/devices/N/release` (docs/api.md).
//
// Threads: any.
#pragma once

#include <string_view>
#include <vector>

#include "engine/api_message.h"
#include "engine/engine.h"

namespace vitrine::engine {

// What may be done at the path; empty when it is none of these.
[[nodiscard]] std::vector<std::string_view> device_methods(std::string_view path);

// Requires: device_methods() has the request's method.
[[nodiscard]] ApiResponse answer_devices(Engine& engine, const ApiRequest& request);

}  // namespace vitrine::engine
