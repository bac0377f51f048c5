// SPDX-License-Identifier: Apache-2.0
#include "engine/key_verification.h"

#include <stdexcept>

#include "engine/exception_guard.h"
#include "engine/proving_key.h"
#include "kernels/thread_pool.h"
#include "shm/clock.h"

namespace vitrine::engine {
namespace {

// What ends a verification before it is done.
class VerificationWatch {
 public:
  explicit VerificationWatch(const std::function<bool()>& is_unwanted)
      : is_unwanted_(is_unwanted) {}

  void look() {
    const std::uint64_t now_ns = shm::monotonic_ns();
    if (now_ns < next_look_ns_) return;
    next_look_ns_ = now_ns + kIntervalNs;
    if (is_unwanted_()) {
      end_ = cancelled_error();
    } else if (now_ns - began_ns_ > KeyVerification::kLimitNs) {
      end_ = Error{ErrorClass::kTimeout, "the verification takes too long"};
    } else {
      return;
    }
    throw std::runtime_error(end_->text);  // guard_all makes it a value
  }
  [[nodiscard]] const std::optional<Error>& end() const { return end_; }

 private:
  static constexpr std::uint64_t kIntervalNs = 100'000'000;

  const std::function<bool()>& is_unwanted_;
  const std::uint64_t began_ns_ = shm::monotonic_ns();
  std::uint64_t next_look_ns_ = 0;
  std::optional<Error> end_;
};

class BusyMark {
 public:
  explicit BusyMark(std::atomic<bool>& is_busy)
      : is_busy_(is_busy), is_mine_(!is_busy.exchange(true)) {}
  ~BusyMark() {
    if (is_mine_) is_busy_.store(false);
  }
  BusyMark(const BusyMark&) = delete;
  BusyMark& operator=(const BusyMark&) = delete;
  [[nodiscard]] bool is_mine() const { return is_mine_; }

 private:
  std::atomic<bool>& is_busy_;
  const bool is_mine_;
};

}  // namespace

Result<std::string> KeyVerification::perform(const CircuitConfiguration& circuit,
                                             const std::function<bool()>& is_unwanted) {
  const BusyMark mark(is_busy_);
  if (!mark.is_mine()) return Error{ErrorClass::kRefused, "another key is being verified"};
  VerificationWatch watch(is_unwanted);
  ProvingKeyOptions options;
  options.insecure = circuit.insecure;
  options.digest = circuit.digest;
  options.progress = [&watch](const LoadedBytes&) { watch.look(); };
  kernels::ThreadPool alone(1);
  std::uint64_t exceptions = 0;
  auto verified = guard_all("key verification", exceptions,
                            [&] { return verify_proving_key(circuit.zkey, options, alone); });
  if (watch.end()) return *watch.end();
  return verified;
}

}  // namespace vitrine::engine
