// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.h"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace vitrine::tools {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The first of the three that is set decides, as POSIX says. Source: POSIX.1-2017, 8.2.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    const std::size_t dot = value.find('.');
    if (dot == std::string_view::npos) return false;
    const std::string codeset(value.substr(dot + 1, value.find('@') - dot - 1));
    return strcasecmp(codeset.c_str(), "UTF-8") == 0 || strcasecmp(codeset.c_str(), "utf8") == 0;
  }
  return false;
}

}  // namespace

TextStyle text_style_of(int descriptor) {
  TextStyle style;
  if (locale_is_utf8()) style.charset = Charset::kUtf8;
  if (can_redraw(descriptor) && environment("NO_COLOR").empty()) style.colour = Colour::kAnsi;
  return style;
}

bool can_redraw(int descriptor) { return isatty(descriptor) == 1 && environment("TERM") != "dumb"; }

std::size_t unbroken_columns(int descriptor) {
  return isatty(descriptor) == 1 ? terminal_columns(descriptor)
                                 : std::numeric_limits<std::size_t>::max();
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace vitrine::tools
