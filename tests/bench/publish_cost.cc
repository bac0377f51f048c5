// SPDX-License-Identifier: Apache-2.0
// One record: what it costs to publish and to read it, our way and under the usual locks.
//
//   vitrine-bench-publish ROUNDS
//
// Prints one JSON object per measurement. All contenders lie in one shared mapping, each on its
// own lines; the reader (or, for reads, the writer) beside is a thread on the other core.
#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "shm/protocol.h"
#include "tests/bench/measured_cost.h"

namespace vitrine::bench {
namespace {

constexpr std::uint64_t kWriterPaceNs = 12'500;  // 80,000 publishes a second

// Keeps the compiler from leaving out, moving or joining copies.
inline void keep(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

template <std::size_t kWords>
using Payload = std::array<std::uint64_t, kWords>;

template <std::size_t kWords>
class PrivateCopy {
 public:
  static constexpr const char* kName = "memcpy";
  void write(const Payload<kWords>& payload) {
    std::memcpy(&record_, &payload, sizeof(record_));
    keep(&record_);
  }
  void read(Payload<kWords>& out) const {
    std::memcpy(&out, &record_, sizeof(out));
    keep(&out);
  }

 private:
  alignas(128) Payload<kWords> record_{};
};

template <std::size_t kWords>
class Published {
 public:
  static constexpr const char* kName = "vitrine";
  void write(const Payload<kWords>& payload) {
    shm::publish<shm::MappedMemory>({&head_, slots_, kSlotWords}, payload);
    keep(slots_);
  }
  void read(Payload<kWords>& out) const {
    (void)shm::read_at<shm::MappedMemory>({&head_, slots_, kSlotWords}, shm::kAnyCommit, out);
    keep(&out);
  }

 private:
  static constexpr std::size_t kSlotWords = shm::slot_bytes(kWords * 8) / 8;
  alignas(128) std::uint64_t head_ = 0;
  alignas(128) std::uint64_t slots_[shm::kSlots * kSlotWords] = {};
};

class ProcessMutex {
 public:
  static constexpr const char* kName = "pthread mutex";
  ProcessMutex() {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_mutex_init(&mutex_, &attributes);
  }
  void lock() { ::pthread_mutex_lock(&mutex_); }
  void unlock() { ::pthread_mutex_unlock(&mutex_); }
  void lock_shared() { lock(); }
  void unlock_shared() { unlock(); }

 private:
  pthread_mutex_t mutex_;
};

class ProcessReadWriteLock {
 public:
  static constexpr const char* kName = "pthread rwlock";
  ProcessReadWriteLock() {
    pthread_rwlockattr_t attributes;
    ::pthread_rwlockattr_init(&attributes);
    ::pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_rwlock_init(&lock_, &attributes);
  }
  void lock() { ::pthread_rwlock_wrlock(&lock_); }
  void unlock() { ::pthread_rwlock_unlock(&lock_); }
  void lock_shared() { ::pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { ::pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

class SharedMutex : public std::shared_mutex {
 public:
  static constexpr const char* kName = "std::shared_mutex";
};

template <class Lock, std::size_t kWords>
class Locked {
 public:
  static constexpr const char* kName = Lock::kName;
  void write(const Payload<kWords>& payload) {
    const std::lock_guard lock(lock_);
    copy_.write(payload);
  }
  void read(Payload<kWords>& out) {
    const std::shared_lock lock(lock_);
    copy_.read(out);
  }

 private:
  alignas(128) Lock lock_;
  PrivateCopy<kWords> copy_;
};

// A contender in shared memory, gone with this.
template <class Contender>
class Mapped {
 public:
  Mapped()
      : pages_(::mmap(nullptr, sizeof(Contender), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    if (pages_ == MAP_FAILED) throw std::bad_alloc();
    contender_ = new (pages_) Contender;
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { ::munmap(pages_, sizeof(Contender)); }
  Contender& operator*() const { return *contender_; }

 private:
  void* pages_;
  Contender* contender_;
};

class PublishBench {
 public:
  explicit PublishBench(int round) : round_(round) {}

  template <std::size_t kBytes>
  void run_size() {
    constexpr std::size_t kWords = kBytes / 8;
    run<PrivateCopy<kWords>, kWords>();
    run<Published<kWords>, kWords>();
    run<Locked<ProcessMutex, kWords>, kWords>();
    run<Locked<ProcessReadWriteLock, kWords>, kWords>();
    run<Locked<SharedMutex, kWords>, kWords>();
  }

 private:
  template <class Contender, std::size_t kWords>
  void run() {
    const Mapped<Contender> mapped;
    Contender& contender = *mapped;
    Payload<kWords> payload;
    payload.fill(1);
    Payload<kWords> copy{};
    const auto write = [&] { contender.write(payload); };
    const auto read = [&] { contender.read(copy); };
    report<Contender>("publish", kWords, 0, measure(clock_, {}, write));
    report<Contender>("read", kWords, 0, measure(clock_, {}, read));
    if constexpr (!std::is_same_v<Contender, PrivateCopy<kWords>>) {
      {
        const Companion reader(
            [&contender, out = Payload<kWords>{}]() mutable { contender.read(out); });
        report<Contender>("publish", kWords, 1, measure(clock_, {}, write, &reader));
      }
      const Companion writer([&, due_ns = std::uint64_t{0}]() mutable {
        const std::uint64_t now_ns = shm::monotonic_ns();
        if (now_ns < due_ns) return;
        due_ns = now_ns + kWriterPaceNs;
        contender.write(payload);
      });
      report<Contender>("read", kWords, 1, measure(clock_, {}, read, &writer));
    }
  }

  template <class Contender>
  void report(const char* group, std::size_t words, int beside, const Cost& cost) {
    boost::json::object line{{"group", group},     {"contender", Contender::kName},
                             {"bytes", words * 8}, {"beside", beside},
                             {"round", round_},    {"cost", cost.to_json()}};
    std::puts(boost::json::serialize(line).c_str());
  }

  TickClock clock_;
  int round_;
};

}  // namespace
}  // namespace vitrine::bench

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
  if (rounds <= 0) {
    std::fprintf(stderr, "usage: vitrine-bench-publish ROUNDS\n");
    return 2;
  }
  for (int round = 0; round < rounds; ++round) {
    vitrine::bench::PublishBench bench(round);
    bench.run_size<64>();
    bench.run_size<128>();
    bench.run_size<256>();
    bench.run_size<512>();
  }
  return 0;
}
