// SPDX-License-Identifier: Apache-2.0
// Devices that now and then flip a bit in a proof: none of those leaves the engine, each is
// counted.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <mutex>
#include <random>

#include "engine/proof_json.h"
#include "engine/text_file.h"
#include "tests/engine/device_scripts.h"

namespace vitrine::engine::testing {
namespace {

using shm::DeviceState;
using shm::JobState;

constexpr double kShare = 0.05;
constexpr unsigned kRounds = 60;

// The real stages; the seed decides which proofs are damaged, and where.
class FlippingBackend final : public Backend {
 public:
  explicit FlippingBackend(unsigned seed) : random_(seed) {}

  std::string_view name() const override { return "flipping"; }
  Result<ConstraintValues> synthesize(const ProvingKey& key, const Witness& witness,
                                      const StageContext& context) override {
    return real_.synthesize(key, witness, context);
  }
  Result<StartedProof> prove_start(const ProvingKey& key, Witness&& witness,
                                   ConstraintValues&& values,
                                   const StageContext& context) override {
    return real_.prove_start(key, std::move(witness), std::move(values), context);
  }
  Result<Proof> prove_finish(const ProvingKey& key, StartedProof&& started,
                             const StageContext& context) override {
    auto proof = real_.prove_finish(key, std::move(started), context);
    const std::lock_guard lock(mutex_);
    if (proof && std::bernoulli_distribution(kShare)(random_)) flip(*proof);
    return proof;
  }
  Result<void> verify(const VerifyingKey& key, const Proof& proof,
                      const PublicInputs& inputs) override {
    return real_.verify(key, proof, inputs);
  }
  unsigned flipped() const { return flipped_; }

 private:
  // In the low limbs of the first coordinate of one of the points.
  void flip(Proof& proof) {
    std::visit(
        [this](auto& points) {
          void* const points_of_g1[] = {&points.a, &points.c};
          auto* bytes = static_cast<unsigned char*>(points_of_g1[random_() % 2]);
          bytes[random_() % 16] ^= static_cast<unsigned char>(1U << random_() % 8);
        },
        proof);
    ++flipped_;
  }

  CpuBackend real_;
  std::mutex mutex_;
  std::mt19937 random_;
  std::atomic<unsigned> flipped_{0};
};

VerifyingKey verifying_key(const std::string& circuit) {
  const auto path = circuit_folder("bn128", circuit) / "verification_key.json";
  return parse_verifying_key(*read_text_file(path, kMaxJsonBytes)).value();
}

unsigned rounds() {
  const char* given = std::getenv("VITRINE_TEST_ROUNDS");
  return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : kRounds;
}

// An operator who takes back whatever is quarantined.
void release_all(Engine& engine) {
  for (const DeviceStatus& device : engine.devices()) {
    if (device.record.state == DeviceState::kQuarantined) {
      CHECK(engine.release_device(device.number) == DeviceRelease::kDone);
    }
  }
}

TEST_CASE("every proof that leaves verifies, and exactly the flipped ones are invalid", "[E18]") {
  const std::shared_ptr<FlippingBackend> backends[] = {std::make_shared<FlippingBackend>(18),
                                                       std::make_shared<FlippingBackend>(81)};
  EngineFixture fixture({}, [&](EngineOptions& options) {
    for (const auto& backend : backends) {
      options.devices.push_back({backend, shm::Backend::kCpu, "flipping", 1, {}});
    }
  });
  const std::map<std::string, VerifyingKey> keys = {{"demo", verifying_key("demo")},
                                                    {"multiplier", verifying_key("multiplier")}};
  unsigned left = 0, failed = 0;
  for (unsigned round = 0; round < rounds(); ++round) {
    const std::string circuit = round % 2 == 0 ? "demo" : "multiplier";
    const JobId id = fixture.submitted(circuit, 1);
    const JobStatus status = fixture.final_status(id);
    if (status.record.state == JobState::kDone) {
      const auto proof = fixture.engine().proof(id, 0);
      REQUIRE(proof);
      CHECK(verify(keys.at(circuit), *parse_proof(proof->proof), *parse_public(proof->inputs))
                .has_value());
      ++left;
    } else {
      CHECK(status.record.failure_class == shm::FailureClass::kVerifyFailed);
      ++failed;
    }
    release_all(fixture.engine());
  }
  std::uint64_t invalid = 0, retried = 0;
  const shm::Snapshot seen = fixture.snapshot();
  for (const auto& device : seen.rows<shm::DeviceRecord>()) invalid += device.proofs_invalid;
  for (const auto& kind : seen.rows<shm::CountersRecord>()) retried += kind.partitions_retried;
  CHECK(left + failed == rounds());
  CHECK(invalid == backends[0]->flipped() + backends[1]->flipped());
  CHECK(invalid > 0);
  CHECK(invalid == retried + failed);
  // Nothing of one circuit's size is left for the other.
  std::uint64_t key_bytes = 0;
  for (const auto& row : seen.rows<shm::AllocationRecord>()) key_bytes += row.reserved_bytes;
  CHECK(seen.memory().working_bytes == 0);
  CHECK(seen.memory().reserved_bytes == key_bytes);
  fixture.check_quiet();
}

}  // namespace
}  // namespace vitrine::engine::testing
