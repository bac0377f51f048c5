// SPDX-License-Identifier: Apache-2.0
// An API server with a real engine behind it, for tests that talk to its socket.
#pragma once

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>

#include "engine/api_server.h"
#include "tests/engine/api_client.h"
#include "tests/engine/container_bytes.h"
#include "tests/engine/engine_fixture.h"

namespace vitrine::engine::testing {

namespace json = boost::json;

class ApiFixture {
 public:
  explicit ApiFixture(ScriptedBackend::Script script = {},
                      const std::function<void(EngineOptions&)>& adjust = {})
      : spool_(Spool::open(scratch_ / "spool", std::uint64_t{1} << 20).value()),
        engine_(std::move(script), [&](EngineOptions& options) {
          options.spool = spool_.get();
          if (adjust) adjust(options);
        }) {
    configuration_.witness_directories = {circuit_folder("bn128", "demo"), scratch_ / "inputs"};
    routes_.emplace(engine_.engine(), configuration_, [this] { has_drained_ = true; });
    server_ = serve(socket(), {});
  }

  // Tests bound uploads more than the engine does.
  std::unique_ptr<ApiServer> serve(const std::filesystem::path& path, ApiServer::Limits limits) {
    limits.upload_bytes = std::uint64_t{256} << 10;
    return ApiServer::start(ApiSocket::listen(path, "").value(), *routes_, *spool_, limits,
                            [this](const std::string& line) {
                              const std::lock_guard lock(warnings_mutex_);
                              warnings_.push_back(line);
                            })
        .value();
  }
  // What the servers had to say.
  std::vector<std::string> warnings() {
    const std::lock_guard lock(warnings_mutex_);
    return warnings_;
  }
  std::filesystem::path socket() const { return scratch_ / "api.sock"; }
  ApiClient client() const { return ApiClient(socket()); }
  EngineFixture& engine() { return engine_; }
  // Makes a file that clients may name.
  std::filesystem::path write_input(const std::string& name, const std::string& text) const {
    std::filesystem::create_directory(scratch_ / "inputs");
    std::ofstream(scratch_ / "inputs" / name) << text;
    return scratch_ / "inputs" / name;
  }
  bool has_drained() const { return has_drained_; }
  // Files go a moment after their job's end is shown: input and output wait for no state.
  void await_empty_spool() const {
    engine_.await([this] { return spooled_files() == 0; });
  }
  // The job's document once it is final.
  json::object final_job(const std::string& id) const {
    const ApiAnswer answer = client().get("/v1/jobs/" + id + "?wait=60s");
    REQUIRE(answer.status == 200);
    return json::parse(answer.body).as_object();
  }

 private:
  std::size_t spooled_files() const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_ / "spool")) {
      files += entry.path().filename() != "lock";
    }
    return files;
  }

  ScratchFolder scratch_;
  Configuration configuration_;
  std::atomic<bool> has_drained_{false};
  std::unique_ptr<Spool> spool_;  // outlives the witnesses that the engine holds
  EngineFixture engine_;
  std::optional<ApiRoutes> routes_;
  std::mutex warnings_mutex_;
  std::vector<std::string> warnings_;
  std::unique_ptr<ApiServer> server_;
};

inline std::string witness(unsigned number) {
  return read_file(circuit_folder("bn128", "demo") /
                   ("witness." + std::to_string(number) + ".wtns"));
}

inline std::string text_of(const json::object& object, const char* name) {
  return std::string(object.at(name).as_string());
}

// A problem document says the same as the status, and why.
inline std::string detail_of(const ApiAnswer& answer) {
  CHECK(answer.header("Content-Type") == "application/problem+json");
  const json::object document = json::parse(answer.body).as_object();
  CHECK(document.at("status").as_int64() == answer.status);
  CHECK_FALSE(text_of(document, "title").empty());
  return text_of(document, "detail");
}

}  // namespace vitrine::engine::testing
