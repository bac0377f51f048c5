// SPDX-License-Identifier: Apache-2.0
// The resources `/v1/circuits`, `/v1/circuits/ID/VERB` and `/v1/reload` (docs/api.md).
//
// Threads: any; a verification holds the thread of its request.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "engine/api_message.h"
#include "engine/configuration_reload.h"
#include "engine/engine_control.h"
#include "engine/key_verification.h"

namespace vitrine::engine {

// What may be done at the path; empty when it is none of these.
[[nodiscard]] std::vector<std::string_view> circuit_methods(std::string_view path);

// Requires: circuit_methods() has the request's method.
[[nodiscard]] ApiResponse answer_circuits(EngineControl& control, KeyVerification& verification,
                                          const ApiRequest& request);

// What a reload answers.
[[nodiscard]] ApiResponse reload_response(const Result<ReloadReport>& report);

}  // namespace vitrine::engine
