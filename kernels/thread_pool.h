// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads that share the loops of the kernels.
//
// Threads: every function may be called from several threads at once and from inside a body.
// Why: a caller always works on its own loop and only waits for ranges that other threads are
//   already executing; those were begun after the loop was, so waits cannot form a circle.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace vitrine::kernels {

class ThreadPool {
 public:
  // `threads` counts the caller of parallel_for: one thread starts none. At least 1.
  explicit ThreadPool(unsigned threads);
  // No loop may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Calls body(begin, end) over disjoint ranges that cover [0, n), none shorter than `min_chunk`
  // but the last, and returns when all are done. The first exception of a body is thrown here;
  // ranges not yet begun are then skipped.
  template <class Body>
  void parallel_for(std::size_t n, std::size_t min_chunk, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    const auto call = [](const void* object, std::size_t begin, std::size_t end) {
      (*static_cast<Plain*>(const_cast<void*>(object)))(begin, end);
    };
    run(n, min_chunk, {std::addressof(body), call});
  }

 private:
  struct BodyRef {
    const void* object;
    void (*call)(const void* object, std::size_t begin, std::size_t end);
  };
  struct Loop;

  void run(std::size_t n, std::size_t min_chunk, BodyRef body);
  void work_on(Loop& loop, std::unique_lock<std::mutex>& lock);
  void worker_main();

  std::mutex mutex_;
  std::condition_variable work_offered_;
  std::condition_variable loop_done_;
  std::list<Loop*> open_loops_;  // with ranges not yet begun; newest first, so inner loops end soon
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace vitrine::kernels
