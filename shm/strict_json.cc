// SPDX-License-Identifier: Apache-2.0
#include "shm/strict_json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "shm/printable_text.h"

namespace vitrine::shm {
namespace {

namespace json = boost::json;

constexpr std::size_t kFaultNameBytesMax = 64;  // of a name in a fault

// What the parser calls; it stops where an answer is false.
class TwiceFinder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  bool on_object_begin(json::error_code&) {
    open_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) {
    open_.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code& stop) {
    key_.append(part);
    if (!open_.back().insert(key_).second) {
      twice_ = key_;
      is_twice_ = true;
      stop = json::error::syntax;  // any would do
      return false;
    }
    key_.clear();
    return true;
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t, json::error_code&) { return true; }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

  bool is_twice() const { return is_twice_; }
  const std::string& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;  // the names of each object that is not over
  std::string key_;
  bool is_twice_ = false;
  std::string twice_;
};

}  // namespace

boost::system::result<json::value, JsonFault> parse_strict_json(std::string_view text,
                                                                std::size_t depth_max) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::error_code wrong;
  json::basic_parser<TwiceFinder> finder(options);
  finder.write_some(false, text.data(), text.size(), wrong);
  if (finder.handler().is_twice()) {
    return JsonFault{"member '" + printable_end(finder.handler().twice(), kFaultNameBytesMax) +
                     "' is given twice"};
  }
  json::value value = json::parse(text, wrong, {}, options);
  if (wrong) return JsonFault{"not JSON: " + wrong.message()};
  return value;
}

}  // namespace vitrine::shm
