// SPDX-License-Identifier: Apache-2.0
// What the reader says about a segment's file, as JSON that is the same every day and everywhere.
//
// Layout   to_json() of the file without the two members that are the reader's own clock, and with
//          the file's name for its path; for one that is refused {"refused": the reason}.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <string>

#include "shm/attachment.h"
#include "shm/snapshot_json.h"

namespace vitrine::shm {

inline boost::json::object segment_json(const std::filesystem::path& path) {
  Attachment attachment(Target{.file = path});
  const Observation& look = attachment.observe_settled();
  if (!look.snapshot) {
    const std::size_t name_bytes = path.string().size() + 2;
    return {{"refused", look.verdict.reason.substr(name_bytes)}};
  }
  boost::json::object out = to_json(look);
  boost::json::object& engine = out.at("engine").as_object();
  engine.at("segment_path") = path.filename().string();
  engine.erase("heartbeat_age_seconds");
  out.erase("snapshot_age_seconds");
  return out;
}

// One line for each row, so that a difference shows which.
inline std::string lines_of(const boost::json::object& object) {
  std::string out = "{\n";
  for (auto member = object.begin(); member != object.end(); ++member) {
    out += boost::json::serialize(boost::json::string(member->key())) + ": ";
    if (member->value().is_array()) {
      out += "[";
      for (const auto& row : member->value().get_array()) {
        out += (out.back() == '[' ? "\n " : ",\n ") + boost::json::serialize(row);
      }
      out += "]";
    } else {
      out += boost::json::serialize(member->value());
    }
    out += member + 1 == object.end() ? "\n" : ",\n";
  }
  return out + "}\n";
}

}  // namespace vitrine::shm
