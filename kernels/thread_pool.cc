// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace vitrine::kernels {
namespace {

// Ranges a thread gets on average: enough to even out ranges of unequal cost.
constexpr std::size_t kRangesPerThread = 8;

}  // namespace

// Lives on the stack of the thread that called parallel_for; guarded by the pool's mutex.
struct ThreadPool::Loop {
  BodyRef body;
  std::size_t n;
  std::size_t chunk;
  std::size_t next = 0;
  std::size_t running = 0;
  std::exception_ptr failure = nullptr;
};

ThreadPool::ThreadPool(unsigned threads) {
  assert(threads >= 1);
  workers_.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i) {
    workers_.emplace_back([this] { worker_main(); });
    ::pthread_setname_np(workers_.back().native_handle(),
                         "kernels");  // for who looks at the process
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    assert(open_loops_.empty());
    stopping_ = true;
  }
  work_offered_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::size_t n, std::size_t min_chunk, BodyRef body) {
  if (n == 0) return;
  const std::size_t ranges = size() * kRangesPerThread;
  const std::size_t chunk = std::max({min_chunk, (n + ranges - 1) / ranges, std::size_t{1}});
  if (workers_.empty() || chunk >= n) {
    body.call(body.object, 0, n);
    return;
  }
  Loop loop{.body = body, .n = n, .chunk = chunk};
  std::unique_lock lock(mutex_);
  open_loops_.push_front(&loop);
  work_offered_.notify_all();
  work_on(loop, lock);
  loop_done_.wait(lock, [&loop] { return loop.running == 0; });
  if (loop.failure) std::rethrow_exception(std::exchange(loop.failure, nullptr));
}

// Takes ranges of `loop` until none is left to begin. The lock is held on entry and on return.
void ThreadPool::work_on(Loop& loop, std::unique_lock<std::mutex>& lock) {
  while (loop.next < loop.n) {
    const std::size_t begin = loop.next;
    const std::size_t end = begin + std::min(loop.chunk, loop.n - begin);
    loop.next = end;
    if (end == loop.n) open_loops_.remove(&loop);
    ++loop.running;
    lock.unlock();
    std::exception_ptr failure;
    try {
      loop.body.call(loop.body.object, begin, end);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --loop.running;
    if (!failure) continue;
    if (!loop.failure) loop.failure = failure;
    loop.next = loop.n;
    open_loops_.remove(&loop);
  }
  if (loop.running == 0) loop_done_.notify_all();
}

void ThreadPool::worker_main() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_offered_.wait(lock, [this] { return stopping_ || !open_loops_.empty(); });
    if (stopping_) return;
    work_on(*open_loops_.front(), lock);
  }
}

}  // namespace vitrine::kernels
