// SPDX-License-Identifier: Apache-2.0
// Tells the service manager about the engine: one datagram to $NOTIFY_SOCKET, when there is one.
//
// Source: sd_notify(3).
#pragma once

#include <string_view>

namespace vitrine::engine {

// `state` as sd_notify takes it: "READY=1". Best effort: a manager that does not listen changes
// nothing.
void notify_service(std::string_view state);

}  // namespace vitrine::engine
