// SPDX-License-Identifier: Apache-2.0
#include "engine/api_devices.h"

#include <boost/json.hpp>
#include <charconv>
#include <optional>
#include <string>

#include "engine/api_json.h"

namespace vitrine::engine {
namespace {

namespace json = boost::json;

constexpr std::string_view kDevices = "/v1/devices";
constexpr std::string_view kRelease = "/release";

// Of `/v1/devices/N/release`.
std::optional<std::uint32_t> device_to_release(std::string_view path) {
  if (!path.starts_with(kDevices) || !path.ends_with(kRelease)) return std::nullopt;
  path.remove_prefix(kDevices.size());
  if (path.size() < 2 + kRelease.size() || !path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  path.remove_suffix(kRelease.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
  const bool is_number = error == std::errc() && end == path.data() + path.size();
  return is_number ? std::optional(number) : std::nullopt;
}

ApiResponse shown(const json::value& value) {
  return {200, json::serialize(value) + "\n", "application/json", {}};
}

ApiResponse list(Engine& engine) {
  json::array devices;
  for (const DeviceStatus& device : engine.devices()) devices.push_back(device_to_json(device));
  return shown(json::object{{"devices", std::move(devices)}});
}

ApiResponse release(Engine& engine, std::uint32_t number) {
  const std::string name = "device " + std::to_string(number);
  switch (engine.release_device(number)) {
    case DeviceRelease::kUnknown:
      return problem(404, "no " + name);
    case DeviceRelease::kStuck:
      return problem(409, name + " has not answered yet: a worker of it is still at what it had " +
                              "when it was lost");
    case DeviceRelease::kDone:
      break;
  }
  return shown(device_to_json(engine.devices().at(number)));
}

}  // namespace

std::vector<std::string_view> device_methods(std::string_view path) {
  if (path == kDevices) return {"GET"};
  if (device_to_release(path)) return {"POST"};
  return {};
}

ApiResponse answer_devices(Engine& engine, const ApiRequest& request) {
  if (!request.query.empty()) {
    return problem(400, "unknown parameter '" + request.query.begin()->first + "'");
  }
  const auto number = device_to_release(request.path);
  return number ? release(engine, *number) : list(engine);
}

}  // namespace vitrine::engine
