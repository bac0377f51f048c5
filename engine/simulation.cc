// SPDX-License-Identifier: Apache-2.0
#include "engine/simulation.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <queue>

#include "engine/model.h"
#include "engine/scheduler.h"

namespace vitrine::engine {
namespace {

enum class Happening { kArrives, kLoaded, kSynthesized, kStarted, kFinished, kVerified, kWake };

struct Moment {
  std::uint64_t at_ns = 0;
  std::uint64_t number = 0;  // of equal times, the first scheduled first
  Happening happening{};
  std::uint32_t subject = 0;  // job, circuit or worker
  bool operator>(const Moment& other) const {
    return at_ns != other.at_ns ? at_ns > other.at_ns : number > other.number;
  }
};

struct CircuitState {
  KeyPresence key = KeyPresence::kAbsent;
  std::uint32_t references = 0;
  std::uint64_t idle_since_ns = 0;
  bool is_kept = false;
  bool is_wanted = false;
};

struct JobProgress {
  std::uint32_t pending = 0, unfinished = 0;
  std::uint64_t waiting_since_ns = 0;
  std::uint64_t batch = 0;
  bool has_started = false;
};

// A synthesized partition before or in a worker.
struct Queued {
  std::uint32_t job = 0;
  std::uint64_t since_ns = 0;
};

struct SimulatedWorker {
  std::uint32_t device = 0;
  std::optional<Queued> held;
  bool has_kernels = false, has_had_kernels = false;
};

std::uint32_t room(std::uint64_t capacity, std::uint64_t used) {
  return capacity > used ? static_cast<std::uint32_t>(capacity - used) : 0;
}

class Simulator {
 public:
  explicit Simulator(const SimulatedLoad& load)
      : load_(load),
        settings_(load.configuration),
        total_bytes_(*settings_.memory_budget_bytes),
        available_bytes_(total_bytes_),
        circuits_(load.circuits.size()),
        jobs_(load.jobs.size()),
        workers_(load.devices * settings_.workers_per_device),
        has_kernels_(load.devices, false) {
    result_.jobs.resize(load.jobs.size());
    for (std::uint32_t i = 0; i < workers_.size(); ++i) workers_[i].device = i % load.devices;
    for (std::uint32_t i = 0; i < load.jobs.size(); ++i) {
      schedule(load.jobs[i].at_ns, Happening::kArrives, i);
    }
    choose_resident_keys();
  }

  SimulationResult run() {
    settle();
    while (!moments_.empty()) {
      const Moment moment = moments_.top();
      moments_.pop();
      now_ns_ = moment.at_ns;
      happen(moment);
      settle();  // as the engine makes a plan after every change
    }
    return std::move(result_);
  }

 private:
  void schedule(std::uint64_t at_ns, Happening happening, std::uint32_t subject) {
    moments_.push({at_ns, ++last_number_, happening, subject});
  }

  void choose_resident_keys() {
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < circuits_.size(); ++i) {
      const SimulatedCircuit& circuit = load_.circuits[i];
      const std::uint64_t largest_now = std::max(largest, circuit.partition_bytes);
      const bool fits = kept_bytes_ + circuit.key_bytes + largest_now <= total_bytes_;
      if (!circuit.keep_resident || !fits) continue;
      circuits_[i].is_kept = circuits_[i].is_wanted = true;
      kept_bytes_ += circuit.key_bytes;
      largest = largest_now;
    }
  }

  void happen(const Moment& moment) {
    switch (moment.happening) {
      case Happening::kArrives:
        return arrive(moment.subject);
      case Happening::kLoaded:
        circuits_[moment.subject].key = KeyPresence::kReady;
        circuits_[moment.subject].idle_since_ns = now_ns_;
        --loading_;
        return;
      case Happening::kSynthesized:
        --synthesizing_;
        queue_.push_back({moment.subject, now_ns_});
        return;
      case Happening::kStarted:
        return end_start(workers_[moment.subject], moment.subject);
      case Happening::kFinished:
        return end_kernels(workers_[moment.subject], moment.subject);
      case Happening::kVerified:
        return end_partition(workers_[moment.subject]);
      case Happening::kWake:
        return;
    }
  }

  const SimulatedCircuit& circuit_of(std::uint32_t job) const {
    return load_.circuits[load_.jobs[job].circuit];
  }

  void arrive(std::uint32_t number) {
    const SimulatedJob& job = load_.jobs[number];
    const SimulatedCircuit& circuit = circuit_of(number);
    const std::uint64_t kept =
        kept_bytes_ - (circuits_[job.circuit].is_kept ? circuit.key_bytes : 0);
    const bool is_impossible = circuit.key_bytes + circuit.partition_bytes + kept > total_bytes_;
    if (is_impossible || unstarted_ >= settings_.job_queue_capacity) {
      ++(is_impossible ? result_.refused_impossible : result_.refused_queue_full);
      result_.jobs[number].state = SimulatedEnd::State::kRefused;
      return;
    }
    jobs_[number] = {job.partitions, job.partitions, now_ns_, 0, false};
    ++unstarted_;
    waiting_.push_back(number);
  }

  // Until nothing more can happen at this moment.
  void settle() {
    for (bool goes_on = true; goes_on;) {
      make_plan(view(), plan_);
      goes_on = carry_out();
      goes_on |= serve_workers();
    }
    const std::uint64_t wake_ns = plan_.wake_at_ns;
    if (wake_ns > now_ns_ && wake_ns != wake_scheduled_ns_) {
      wake_scheduled_ns_ = wake_ns;
      schedule(wake_ns, Happening::kWake, 0);
    }
  }

  SchedulerView view() {
    demands_.clear();
    for (const std::uint32_t number : waiting_) {
      const SimulatedJob& job = load_.jobs[number];
      demands_.push_back({job.circuit, jobs_[number].pending,
                          urgency_facts(number, jobs_[number].waiting_since_ns),
                          jobs_[number].batch});
    }
    circuit_demands_.clear();
    for (std::size_t i = 0; i < circuits_.size(); ++i) {
      const CircuitState& state = circuits_[i];
      circuit_demands_.push_back({state.key, load_.circuits[i].key_bytes,
                                  load_.circuits[i].partition_bytes, state.references,
                                  state.idle_since_ns, state.is_kept, state.is_wanted});
    }
    SchedulerView view;
    view.circuits = circuit_demands_;
    view.jobs = demands_;
    view.total_bytes = total_bytes_;
    view.available_bytes = available_bytes_;
    fill_room(view);
    view.now_ns = now_ns_;
    view.last_batch = last_batch_;
    view.rules = {settings_.starvation_limit_ns, settings_.eviction_min_idle_ns,
                  settings_.max_batch_size, settings_.max_batch_wait_ns};
    return view;
  }

  void fill_room(SchedulerView& view) const {
    const std::uint64_t before_devices = synthesizing_ + queue_.size();
    const std::uint64_t capacity = settings_.device_queue_capacity;
    view.synthesis_slots = room(settings_.synthesis_concurrency, synthesizing_);
    view.device_room = room(capacity, before_devices);
    view.critical_room = room(capacity + kCriticalPlaces, std::max(capacity, before_devices));
    const std::uint64_t loaders = settings_.key_loaders;
    view.loaders = room(loaders, loading_);
    view.critical_loaders =
        room(loaders + kCriticalLoaders, std::max<std::uint64_t>(loaders, loading_));
  }

  UrgencyFacts urgency_facts(std::uint32_t number, std::uint64_t since_ns) const {
    const SimulatedJob& job = load_.jobs[number];
    return {job.priority, job.deadline_ns == 0 ? 0 : job.at_ns + job.deadline_ns, job.at_ns,
            since_ns};
  }

  // True when it changed something that another plan could use.
  bool carry_out() {
    last_batch_ = plan_.last_batch;
    for (const std::uint32_t number : plan_.evictions) {
      circuits_[number].key = KeyPresence::kAbsent;
      available_bytes_ += load_.circuits[number].key_bytes;
      ++result_.evictions;
    }
    for (const Plan::Load& load : plan_.loads) begin_load(load.circuit);
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      jobs_[waiting_[i]].batch = plan_.jobs[i].batch;
    for (const Plan::Start& start : plan_.starts) {
      for (std::uint32_t i = 0; i < start.partitions; ++i) begin_partition(waiting_[start.job]);
    }
    std::erase_if(waiting_, [&](std::uint32_t number) { return jobs_[number].pending == 0; });
    result_.peak_bytes = std::max(result_.peak_bytes, total_bytes_ - available_bytes_);
    return !plan_.evictions.empty();
  }

  void begin_load(std::uint32_t number) {
    const SimulatedCircuit& circuit = load_.circuits[number];
    circuits_[number].key = KeyPresence::kLoading;
    circuits_[number].is_wanted = false;
    available_bytes_ -= circuit.key_bytes;
    ++loading_;
    ++result_.loads;
    result_.loader_busy_ns += circuit.load_ns;
    schedule(now_ns_ + circuit.load_ns, Happening::kLoaded, number);
  }

  void begin_partition(std::uint32_t number) {
    const SimulatedCircuit& circuit = circuit_of(number);
    JobProgress& job = jobs_[number];
    if (!job.has_started) {
      job.has_started = true;
      --unstarted_;
      result_.jobs[number].started_ns = now_ns_;
    }
    --job.pending;
    job.waiting_since_ns = now_ns_;
    available_bytes_ -= circuit.partition_bytes;
    ++circuits_[load_.jobs[number].circuit].references;
    ++synthesizing_;
    result_.synthesis_busy_ns += circuit.synthesize_ns;
    schedule(now_ns_ + circuit.synthesize_ns, Happening::kSynthesized, number);
  }

  // As device_choice.h: workers take the most urgent, put it back for critical work, and the most
  // urgent gets the kernels.
  bool serve_workers() {
    bool has_changed = false;
    for (SimulatedWorker& worker : workers_) has_changed |= put_back_for_critical(worker);
    for (SimulatedWorker& worker : workers_) {
      if (worker.held || queue_.empty()) continue;
      const auto next = std::ranges::min_element(queue_, [&](const Queued& a, const Queued& b) {
        return urgency(a).comes_before(urgency(b));
      });
      worker.held = *next;
      queue_.erase(next);
      has_changed = true;
    }
    for (std::uint32_t device = 0; device < has_kernels_.size(); ++device) {
      if (!has_kernels_[device]) give_kernels(device);
    }
    return has_changed;
  }

  Urgency urgency(const Queued& queued) const {
    return urgency_of(urgency_facts(queued.job, queued.since_ns),
                      {now_ns_, settings_.starvation_limit_ns});
  }

  bool is_critical(const Queued& queued) const {
    return load_.jobs[queued.job].priority == shm::Priority::kCritical;
  }

  bool put_back_for_critical(SimulatedWorker& worker) {
    const bool waits = worker.held && !worker.has_kernels && !worker.has_had_kernels;
    if (!waits || is_critical(*worker.held)) return false;
    const auto next =
        std::ranges::find_if(queue_, [&](const Queued& queued) { return is_critical(queued); });
    if (next == queue_.end()) return false;
    const Queued critical = *next;
    queue_.erase(next);
    queue_.push_front(*worker.held);
    worker.held = critical;
    ++result_.put_back;
    return true;
  }

  void give_kernels(std::uint32_t device) {
    SimulatedWorker* next = nullptr;
    for (SimulatedWorker& worker : workers_) {
      if (worker.device != device || !worker.held || worker.has_had_kernels) continue;
      if (next == nullptr || urgency(*worker.held).comes_before(urgency(*next->held))) {
        next = &worker;
      }
    }
    if (next == nullptr) return;
    next->has_kernels = has_kernels_[device] = true;
    const SimulatedCircuit& circuit = circuit_of(next->held->job);
    result_.device_busy_ns += circuit.start_ns + circuit.finish_ns;
    schedule(now_ns_ + circuit.start_ns, Happening::kStarted, number_of(*next));
  }

  std::uint32_t number_of(const SimulatedWorker& worker) const {
    return static_cast<std::uint32_t>(&worker - workers_.data());
  }

  void end_start(SimulatedWorker& worker, std::uint32_t number) {
    const SimulatedCircuit& circuit = circuit_of(worker.held->job);
    available_bytes_ += circuit.freed_bytes;
    schedule(now_ns_ + circuit.finish_ns, Happening::kFinished, number);
  }

  void end_kernels(SimulatedWorker& worker, std::uint32_t number) {
    worker.has_kernels = false;
    worker.has_had_kernels = true;
    has_kernels_[worker.device] = false;
    schedule(now_ns_ + circuit_of(worker.held->job).verify_ns, Happening::kVerified, number);
  }

  void end_partition(SimulatedWorker& worker) {
    const std::uint32_t number = worker.held->job;
    const SimulatedCircuit& circuit = circuit_of(number);
    CircuitState& state = circuits_[load_.jobs[number].circuit];
    available_bytes_ += circuit.partition_bytes - circuit.freed_bytes;
    --state.references;
    state.idle_since_ns = now_ns_;
    worker = {worker.device, std::nullopt, false, false};
    if (--jobs_[number].unfinished > 0) return;
    result_.jobs[number].finished_ns = now_ns_;
    result_.end_ns = now_ns_;
  }

  const SimulatedLoad& load_;
  const Configuration& settings_;
  SimulationResult result_;
  std::uint64_t now_ns_ = 0;
  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::uint64_t last_number_ = 0, wake_scheduled_ns_ = 0;

  std::uint64_t total_bytes_, available_bytes_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<CircuitState> circuits_;
  std::vector<JobProgress> jobs_;
  std::vector<std::uint32_t> waiting_;  // jobs with partitions to start, by arrival
  std::uint32_t unstarted_ = 0, synthesizing_ = 0, loading_ = 0;
  std::deque<Queued> queue_;  // before the devices
  std::vector<SimulatedWorker> workers_;
  std::vector<bool> has_kernels_;

  std::vector<CircuitDemand> circuit_demands_;
  std::vector<JobDemand> demands_;
  std::uint64_t last_batch_ = 0;
  Plan plan_;
};

}  // namespace

SimulationResult simulate(const SimulatedLoad& load) { return Simulator(load).run(); }

}  // namespace vitrine::engine
