// SPDX-License-Identifier: Apache-2.0
// Clients that go away while they wait for a proof: only those that asked for it end their job.
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "shm/file_descriptor.h"
#include "tests/engine/api_fixture.h"

namespace vitrine::engine::testing {
namespace {

using shm::JobState;

// Sends a request and does not wait for what is answered.
class LeavingClient {
 public:
  LeavingClient(const std::filesystem::path& path, const std::string& target)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(::connect(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
            0);
    const std::string body = witness(1);
    const std::string request = "POST " + target +
                                " HTTP/1.1\r\nHost: v\r\nContent-Type: application/octet-stream"
                                "\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
    REQUIRE(::send(socket_.number(), request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size()));
  }
  void leave() { socket_ = shm::FileDescriptor(); }

 private:
  shm::FileDescriptor socket_;
};

TEST_CASE("of two clients that leave only the one that asked for it ends its job", "[E14]") {
  Gate gate;
  ApiFixture api([&](ScriptedStage stage, unsigned call) -> Result<void> {
    if (stage == ScriptedStage::kStart && call == 0) gate.pass();
    return {};
  });
  LeavingClient patient(api.socket(), "/v1/prove?circuit=demo");
  gate.await_arrivals(1);
  const JobId goes_on = api.engine().engine().jobs().at(0).job.value;
  LeavingClient asking(api.socket(), "/v1/prove?circuit=demo&cancel_on_disconnect=true");
  api.engine().await([&] { return api.engine().engine().jobs().size() == 2; });
  const JobId ends = api.engine().engine().jobs().at(1).job.value;
  patient.leave();
  asking.leave();
  api.engine().snapshot_when([&](const shm::Snapshot& now) {
    return job_row(now, ends).failure_class == shm::FailureClass::kCancelled;
  });
  CHECK(job_row(api.engine().snapshot(), goes_on).failure_class == shm::FailureClass::kNone);
  gate.open();
  CHECK(api.engine().final_status(ends).record.state == JobState::kCancelled);
  CHECK(api.engine().final_status(goes_on).record.state == JobState::kDone);
  api.await_empty_spool();
  api.engine().check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
