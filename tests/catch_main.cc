// SPDX-License-Identifier: Apache-2.0
// The one compilation of Catch2's runner, linked into every test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
