// SPDX-License-Identifier: Apache-2.0
#include "engine/command_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/witness_command.h"

namespace vitrine::engine {
namespace {

constexpr int kFirstOther = 3;  // descriptors below are the standard ones

struct Pipe {
  shm::FileDescriptor out, in;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorClass::kInternal, std::string("a pipe: ") + std::strerror(errno)};
  }
  return Pipe{shm::FileDescriptor(ends[0]), shm::FileDescriptor(ends[1])};
}

// The texts as exec takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// All that the new process needs, made before it is there: it shares our memory until it is the
// program, so it may neither allocate nor lock.
struct Transformation {
  const char* program;
  char* const* words;
  char* const* environment;
  const char* folder;
  int nothing, errors, fault;  // /dev/null; for standard error; for the number of what went wrong
  pid_t engine;
  rlimit file_bytes;
  int descriptors_end;
};

void take_descriptors(const Transformation& to) {
  ::dup2(to.nothing, STDIN_FILENO);
  ::dup2(to.nothing, STDOUT_FILENO);
  ::dup2(to.errors, STDERR_FILENO);
  if (::close_range(kFirstOther, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (int number = kFirstOther; number < to.descriptors_end; ++number) {
    ::fcntl(number, F_SETFD, FD_CLOEXEC);
  }
}

// Handlers are ours, so they go before signals may arrive again.
void take_signals() {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &plain, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The number of what went wrong; does not come back when nothing did.
int become_program(const Transformation& to) {
  ::setsid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (::getppid() != to.engine) return ESRCH;  // it was killed before the line above
  ::umask(077);
  if (::chdir(to.folder) != 0) return errno;
  // Secrets are not to be in a core file; 0 would still hand them to a collector.
  const rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (::setrlimit(RLIMIT_FSIZE, &to.file_bytes) != 0) return errno;
  take_descriptors(to);
  take_signals();
  ::execve(to.program, to.words, to.environment);
  return errno;
}

// With all signals blocked: a handler in the new process would run on our memory.
pid_t split_off(const Transformation& to) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t process = ::vfork();
  if (process == 0) {
    const int fault = become_program(to);
    [[maybe_unused]] const ssize_t told = ::write(to.fault, &fault, sizeof(fault));
    ::_exit(127);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return process;
}

int descriptors_end() {
  rlimit limit{};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  constexpr rlim_t kMost = 65536;
  return static_cast<int>(is_known && limit.rlim_cur < kMost ? limit.rlim_cur : kMost);
}

// Nobody may raise a limit that is lower already.
rlimit limit_of_files(std::uint64_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  if (bytes < limit.rlim_max) limit.rlim_max = bytes;
  limit.rlim_cur = limit.rlim_max;
  return limit;
}

Error cannot_start(const std::filesystem::path& program, int fault) {
  return {ErrorClass::kInternal, program.string() + ": " + std::strerror(fault)};
}

}  // namespace

Result<StartedCommand> start_command(const Command& command) {
  auto errors = make_pipe();
  if (!errors) return errors.error();
  auto fault = make_pipe();
  if (!fault) return fault.error();
  const shm::FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.is_open()) return cannot_start("/dev/null", errno);
  ::fcntl(errors->out.number(), F_SETFL, O_NONBLOCK);
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = {"PATH=" + search_path(),
                                          "HOME=" + command.folder.string(),
                                          "TMPDIR=" + command.folder.string(), "LANG=C"};
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const pid_t process =
      split_off({command.program.c_str(), word_pointers.data(), environment_pointers.data(),
                 command.folder.c_str(), nothing.number(), errors->in.number(), fault->in.number(),
                 ::getpid(), limit_of_files(command.file_bytes_max), descriptors_end()});
  if (process < 0) return cannot_start(command.program, errno);
  fault->in = {};
  int number = 0;
  ssize_t told = 0;
  do {
    told = ::read(fault->out.number(), &number, sizeof(number));
  } while (told < 0 && errno == EINTR);
  if (told == sizeof(number)) {
    ::waitpid(process, nullptr, 0);
    return cannot_start(command.program, number);
  }
  return StartedCommand{process, std::move(errors->out)};
}

}  // namespace vitrine::engine
