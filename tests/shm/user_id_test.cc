// SPDX-License-Identifier: Apache-2.0
#include "shm/user_id.h"

#include <catch2/catch.hpp>

namespace vitrine::shm {

TEST_CASE("A user is a name or a number, and nothing else is") {
  CHECK(find_user("root") == 0U);
  CHECK(find_user("0") == 0U);
  CHECK(find_user("4000000000") == 4'000'000'000U);
  for (const char* wrong :
       {"", "no-such-user-here", "-1", "4294967295", "4294967296", "1x", " 1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(find_user(wrong));
  }
}

}  // namespace vitrine::shm
