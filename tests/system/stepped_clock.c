// SPDX-License-Identifier: Apache-2.0
// To be loaded before a program: its time of day is that of the host plus as many nanoseconds as
// the file named by STEPPED_CLOCK says, eight bytes that a test may change at any moment.
//
// Why: the step must reach every clock that a real program asks, and no clock of the host.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* offset_ns;

__attribute__((constructor)) static void map_offset(void) {
  const char* path = getenv("STEPPED_CLOCK");
  const int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* bytes = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) offset_ns = bytes;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result != 0 || clock != CLOCK_REALTIME || offset_ns == NULL) return (int)result;
  const int64_t second = 1000000000;
  const int64_t now_ns = time->tv_sec * second + time->tv_nsec + *offset_ns;
  time->tv_sec = now_ns / second;
  time->tv_nsec = now_ns % second;
  return 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}
