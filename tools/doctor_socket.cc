// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include "tools/doctor_checks.h"
#include "tools/engine_client.h"

namespace vitrine::tools {

// A socket named by somebody else's segment may lead anywhere, so only one's own is asked.
SocketFacts socket_facts(const shm::SegmentIdentity& identity) {
  constexpr std::uint64_t kPatienceNs = 2'000'000'000;
  SocketFacts socket;
  socket.path = identity.api_socket_path;
  socket.is_ours_to_ask = identity.uid == 0 || identity.uid == ::geteuid();
  if (socket.path.empty() || !socket.is_ours_to_ask) return socket;
  struct stat folder {};
  if (::stat(socket.path.parent_path().c_str(), &folder) == 0) socket.folder_mode = folder.st_mode;
  EngineRequest request;
  request.target = "/v1/circuits";
  request.answer_within_ns = kPatienceNs;
  const Result<EngineReply> reply = EngineClient(socket.path).send(request);
  if (!reply) {
    socket.problem = reply.error().text;
  } else if (!reply->is_success()) {
    socket.problem = reply->problem();
  }
  return socket;
}

Findings check_socket(const std::string& about, const SocketFacts& socket) {
  if (socket.path.empty()) return {{Severity::kNote, about, "takes no work: it has no socket", ""}};
  const std::string path = socket.path.string();
  if (!socket.is_ours_to_ask) {
    return {{Severity::kNote, about, "its API was not asked: it is another user's", ""}};
  }
  Findings found;
  if (!socket.problem.empty()) {
    found.push_back({Severity::kProblem, about, "its API does not answer: " + socket.problem,
                     "vitrine show --instance " + about});
  }
  const std::string folder = socket.path.parent_path().string();
  if ((socket.folder_mode & S_IWOTH) != 0 && (socket.folder_mode & S_ISVTX) == 0) {
    found.push_back({Severity::kProblem, folder,
                     "anybody may replace the socket in this runtime folder",
                     "chmod o-w " + folder});
  }
  if (found.empty()) found.push_back({Severity::kOk, about, "its API answers at " + path, ""});
  return found;
}

}  // namespace vitrine::tools
