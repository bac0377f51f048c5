// SPDX-License-Identifier: Apache-2.0
#include "engine/service_reports.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "engine/service_notification.h"
#include "shm/clock.h"
#include "shm/printable_text.h"

namespace vitrine::engine {
namespace {

constexpr auto kStatusInterval = std::chrono::seconds(1);

std::optional<std::uint64_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = fault == std::errc() && end == digits.data() + digits.size();
  return is_number ? std::optional(number) : std::nullopt;
}

std::optional<std::chrono::steady_clock::duration> watchdog_of_environment() {
  const auto limit_us = number_in_environment("WATCHDOG_USEC");
  const auto pid = number_in_environment("WATCHDOG_PID");
  const bool is_ours = !pid || *pid == static_cast<std::uint64_t>(::getpid());
  if (!limit_us || *limit_us == 0 || !is_ours) return std::nullopt;
  return std::chrono::microseconds(*limit_us);
}

constexpr std::string_view kDraining = "draining";

// A line: reasons may name files, whatever those are called.
std::string verdict_of(const JobCounts& counts) {
  return counts.degraded.empty() ? "ready" : "degraded: " + shm::printable_text(counts.degraded);
}

std::string status_of(std::string_view verdict, const JobCounts& counts) {
  return std::string(verdict) + "; " + std::to_string(counts.running) + " running, " +
         std::to_string(counts.waiting) + " waiting, " + std::to_string(counts.done) + " done, " +
         std::to_string(counts.failed) + " failed" + (counts.is_paused ? "; paused" : "");
}

}  // namespace

ServiceReports::ServiceReports() : watchdog_(watchdog_of_environment()) {}

void ServiceReports::ready() {
  if (!is_stopping_) notify_service("READY=1");
}

void ServiceReports::reloading() {
  if (is_stopping_) return;
  notify_service("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(shm::monotonic_ns() / 1000));
}

void ServiceReports::stopping(std::uint64_t patience_us) {
  is_stopping_ = true;
  status_ = kDraining;
  notify_service("STOPPING=1\nSTATUS=" + status_ +
                 "\nEXTEND_TIMEOUT_USEC=" + std::to_string(patience_us));
}

void ServiceReports::renew(Engine& engine, Clock::time_point now) {
  const std::uint64_t beats = engine.beats();
  if (watchdog_ && beats != fed_for_ && now - fed_ >= *watchdog_ / 2) {
    notify_service("WATCHDOG=1");
    fed_for_ = beats;
    fed_ = now;
  }
  if (now - told_ < kStatusInterval) return;
  told_ = now;
  const auto counts = engine.job_counts();
  if (!counts) return;
  std::string status =
      status_of(is_stopping_ ? std::string(kDraining) : verdict_of(*counts), *counts);
  if (status == status_) return;
  status_ = std::move(status);
  notify_service("STATUS=" + status_);
}

}  // namespace vitrine::engine
