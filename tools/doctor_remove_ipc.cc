// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>

#include "tools/bounded_file.h"
#include "tools/doctor_checks.h"

namespace vitrine::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kConfigurationBytesMax = 65'536;
constexpr uid_t kSystemUidMax = 999;  // as Debian's systemd is built

// By rising precedence. Source: systemd's logind.conf(5).
constexpr std::array<const char*, 4> kFolders = {"/usr/lib/systemd", "/usr/local/lib/systemd",
                                                 "/run/systemd", "/etc/systemd"};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool is_no(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word == "no" || word == "n" || word == "false" || word == "f" || word == "off" ||
         word == "0";
}

// The main file of the highest folder, then the drop-ins of all by name; of two drop-ins with one
// name the higher folder's counts.
std::vector<std::string> logind_texts() {
  fs::path main_file;
  std::map<std::string, fs::path> drop_ins;
  for (const char* folder : kFolders) {
    std::error_code error;
    const fs::path file = fs::path(folder) / "logind.conf";
    if (fs::exists(file, error)) main_file = file;
    fs::directory_iterator entry(fs::path(folder) / "logind.conf.d", error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const fs::path& path = entry->path();
      if (path.extension() == ".conf") drop_ins[path.filename().string()] = path;
    }
  }
  std::vector<std::string> texts = {read_bounded(main_file, kConfigurationBytesMax).value_or("")};
  for (const auto& [name, path] : drop_ins) {
    texts.push_back(read_bounded(path, kConfigurationBytesMax).value_or(""));
  }
  return texts;
}

std::string user_name(uid_t user) {
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(user, &entry, room.data(), room.size(), &found);
  return found == nullptr ? "" : found->pw_name;
}

}  // namespace

bool removes_ipc(const std::vector<std::string>& configuration_texts) {
  bool removes = true;
  for (const std::string& text : configuration_texts) {
    std::istringstream lines(text);
    bool is_login = false;
    for (std::string line; std::getline(lines, line);) {
      line = trimmed(line);
      if (line.starts_with('[')) is_login = line == "[Login]";
      const std::size_t equals = line.find('=');
      if (!is_login || equals == std::string::npos) continue;
      if (trimmed(line.substr(0, equals)) != "RemoveIPC") continue;
      removes = !is_no(trimmed(line.substr(equals + 1)));
    }
  }
  return removes;
}

LoginFacts login_facts(uid_t user) {
  LoginFacts login;
  std::error_code error;
  login.has_systemd = fs::exists("/run/systemd/system", error);
  login.removes_ipc = removes_ipc(logind_texts());
  login.user = user;
  login.is_system_user = user <= kSystemUidMax;
  login.user_name = user_name(user);
  login.lingers = !login.user_name.empty() &&
                  fs::exists(fs::path("/var/lib/systemd/linger") / login.user_name, error);
  return login;
}

Findings check_remove_ipc(const std::string& about, const LoginFacts& login) {
  if (!login.has_systemd || login.is_system_user || !login.removes_ipc || login.lingers) return {};
  const std::string who = login.user_name.empty() ? std::to_string(login.user) : login.user_name;
  return {{Severity::kWarning, about,
           "systemd removes its segment when user " + who +
               " logs out of the last session (RemoveIPC=yes)",
           "loginctl enable-linger " + who}};
}

}  // namespace vitrine::tools
