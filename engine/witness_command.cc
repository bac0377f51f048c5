// SPDX-License-Identifier: Apache-2.0
#include "engine/witness_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "engine/toml_string.h"

namespace vitrine::engine {
namespace {

constexpr std::size_t kCommandWordsMax = 64;
constexpr std::size_t kCommandBytesMax = 4096;
constexpr std::string_view kInputPlace = "{input}";
constexpr std::string_view kWitnessPlace = "{witness}";

bool any_holds(std::span<const std::string> words, std::string_view place) {
  return std::ranges::any_of(
      words, [place](const std::string& word) { return word.find(place) != std::string::npos; });
}

void replace_all(std::string& word, std::string_view place, const std::string& with) {
  for (std::size_t at = word.find(place); at != std::string::npos;
       at = word.find(place, at + with.size())) {
    word.replace(at, place.size(), with);
  }
}

bool may_run(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> check_witness_command(std::span<const std::string> words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) {
    bytes += word.size() + 1;
    if (word.find('\0') != std::string::npos) return "a word holds a zero byte";
  }
  if (words.empty()) return std::nullopt;
  if (words.size() > kCommandWordsMax || bytes > kCommandBytesMax) {
    return "expected " + std::to_string(kCommandWordsMax) + " words of " +
           std::to_string(kCommandBytesMax) + " bytes at most together";
  }
  if (words[0].empty() || words[0].find('{') != std::string::npos) {
    return "the first word must name a program";
  }
  for (const std::string_view place : {kInputPlace, kWitnessPlace}) {
    if (!any_holds(words, place)) return "no word holds " + std::string(place);
  }
  return std::nullopt;
}

std::string witness_command_text(std::span<const std::string> words) {
  std::string text = "[";
  for (const std::string& word : words) text += (text.size() > 1 ? ", " : "") + toml_string(word);
  return text + "]";
}

std::string program_word(const std::string& word, const std::filesystem::path& base) {
  if (word.find('/') == std::string::npos) return word;
  std::error_code ignored;
  return std::filesystem::absolute(base / word, ignored).lexically_normal();
}

std::vector<std::string> command_words(std::span<const std::string> words,
                                       const WitnessFiles& files) {
  std::vector<std::string> line(words.begin(), words.end());
  for (std::string& word : line) {
    replace_all(word, kInputPlace, files.input);
    replace_all(word, kWitnessPlace, files.witness);
  }
  return line;
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr || *path == '\0' ? "/usr/local/bin:/usr/bin:/bin" : path;
}

Result<std::filesystem::path> find_program(const std::string& word) {
  if (word.find('/') != std::string::npos) {
    if (may_run(word)) return std::filesystem::path(word);
    return Error{ErrorClass::kInternal, word + ": is not a program that this user may run"};
  }
  std::istringstream folders(search_path());
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path path = std::filesystem::path(folder) / word;
    if (path.is_absolute() && may_run(path)) return path;
  }
  return Error{ErrorClass::kInternal, word + ": no such program in PATH"};
}

}  // namespace vitrine::engine
