// SPDX-License-Identifier: Apache-2.0
#include "shm/user_id.h"

#include <pwd.h>

#include <charconv>

namespace vitrine::shm {

std::optional<uid_t> find_user(const std::string& name_or_number) {
  if (const passwd* known = ::getpwnam(name_or_number.c_str())) return known->pw_uid;
  uid_t number = 0;
  const char* const end = name_or_number.data() + name_or_number.size();
  const auto [rest, problem] = std::from_chars(name_or_number.data(), end, number);
  const bool is_number = problem == std::errc() && rest == end;
  // The last number means "no user" to the kernel.
  if (!is_number || number == static_cast<uid_t>(-1)) return std::nullopt;
  return number;
}

}  // namespace vitrine::shm
