/* SPDX-License-Identifier: MIT
 *
 * An engine of its own that every tool of Vitrine shows: jobs of four partitions, which go through
 * stages that have this engine's names, and a field that only this engine has.
 *
 *   cc publish_jobs.c -lvitrine -o publish_jobs
 *   ./publish_jobs INSTANCE [SEGMENT [ROUNDS]]      (ROUNDS 0, the default: until SIGTERM)
 *   vitrine show --instance INSTANCE
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vitrine/vitrine.h>

enum { PARTITIONS = 4, STEP_MS = 20 };
enum own_stage { IN_LINE, FOLDING, COMMITTING, WRAPPING };

static const vitrine_stage stages[] = {{"in_line", VITRINE_STAGE_WAITING},
                                       {"folding", VITRINE_STAGE_CPU},
                                       {"committing", VITRINE_STAGE_DEVICE},
                                       {"wrapping", VITRINE_STAGE_FINISHING}};
static const vitrine_extra_field fields[] = {
    {"jobs", "x_fee_cents", VITRINE_FIELD_U64, 0, "what the client pays for it"},
    {"partitions", "x_layer", VITRINE_FIELD_TEXT, 16, "layer of the tower"}};

static volatile sig_atomic_t is_stopped = 0;

static void stop(int signal_number) {
  (void)signal_number;
  is_stopped = 1;
}

static vitrine_writer* writer = NULL;

/* Says what went wrong and goes on: the status of an engine never stops the engine. */
static void check(int code, const char* what) {
  char text[256];
  if (code == VITRINE_OK) return;
  vitrine_writer_error(writer, text, sizeof(text));
  fprintf(stderr, "publish_jobs: %s: %s: %s\n", what, vitrine_code_text(code), text);
}

/* The work itself, for which an engine has threads of its own. The heart beats meanwhile. */
static void work(void) {
  const struct timespec step = {0, STEP_MS * 1000000L};
  nanosleep(&step, NULL);
  check(vitrine_beat(writer), "beat");
}

static void prove_partition(uint64_t job, uint32_t partition, uint32_t worker) {
  const vitrine_item item = {"partitions", job, partition, 0};
  const vitrine_consumer consumer = {VITRINE_CONSUMER_PARTITION, partition, job, NULL};
  const uint64_t bytes = 64 * 1024 * 1024;
  check(vitrine_field_set_text(writer, &item, "x_layer", partition % 2 ? "upper" : "lower"),
        "layer");
  check(vitrine_memory_reserve(writer, &consumer, bytes), "reserve");
  check(vitrine_partition_stage(writer, job, partition, FOLDING, VITRINE_NONE), "folding");
  work();
  check(vitrine_partition_stage(writer, job, partition, IN_LINE, VITRINE_NONE), "in_line");
  work();
  check(vitrine_partition_stage(writer, job, partition, COMMITTING, worker), "committing");
  work();
  check(vitrine_memory_release(writer, &consumer, bytes), "release");
  check(vitrine_partition_stage(writer, job, partition, WRAPPING, VITRINE_NONE), "wrapping");
  work();
  check(vitrine_partition_done(writer, job, partition), "partition done");
}

static void prove_job(uint32_t round, uint32_t worker) {
  vitrine_job ticket = {0};
  vitrine_item item = {"jobs", 0, 0, 0};
  uint64_t job = 0;
  uint32_t partition;
  ticket.size = sizeof(ticket);
  ticket.circuit = "tower";
  ticket.proof_kind = round % 2 ? "fold" : "base";
  ticket.request = "example";
  ticket.partitions = PARTITIONS;
  ticket.deadline_in_ns = 60ull * 1000 * 1000 * 1000;
  check(vitrine_job_submit(writer, &ticket, &job), "submit");
  item.job = job;
  check(vitrine_field_set_u64(writer, &item, "x_fee_cents", 250 + round), "fee");
  check(vitrine_job_wait(writer, job, VITRINE_WAIT_BATCH, 0, 0), "wait");
  work();
  check(vitrine_job_admit(writer, job), "admit");
  for (partition = 0; partition < PARTITIONS; ++partition) {
    prove_partition(job, partition, worker);
  }
  check(vitrine_job_done(writer, job), "done");
}

static int open_writer(const char* instance, const char* segment) {
  vitrine_options options = {0};
  char error[256];
  int code;
  options.size = sizeof(options);
  options.instance = instance;
  options.engine_version = "example 1.0";
  options.path = segment;
  options.heartbeat_interval_ns = 1000000000; /* work() beats far more often than promised */
  options.stages = stages;
  options.stage_count = sizeof(stages) / sizeof(stages[0]);
  options.extra_fields = fields;
  options.extra_field_count = sizeof(fields) / sizeof(fields[0]);
  code = vitrine_open(&options, &writer, error, sizeof(error));
  if (code != VITRINE_OK) fprintf(stderr, "publish_jobs: not shown: %s\n", error);
  return writer != NULL;
}

int main(int argument_count, char** arguments) {
  struct sigaction action = {0};
  const char* const segment = argument_count > 2 ? arguments[2] : NULL;
  const unsigned long rounds = argument_count > 3 ? strtoul(arguments[3], NULL, 10) : 0;
  const vitrine_consumer points = {VITRINE_CONSUMER_POINTS, 0, 0, "tower"};
  uint32_t device = 0;
  uint32_t worker = 0;
  uint32_t round;
  if (argument_count < 2) {
    fprintf(stderr, "usage: publish_jobs INSTANCE [SEGMENT [ROUNDS]]\n");
    return 2;
  }
  if (!open_writer(arguments[1], segment)) return 1;
  action.sa_handler = stop;
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  check(vitrine_device_add(writer, VITRINE_DEVICE_CPU, "example lathe", 1, &device), "device");
  check(vitrine_worker_add(writer, device, &worker), "worker");
  check(vitrine_memory_budget(writer, 1024ull * 1024 * 1024), "budget");
  check(vitrine_memory_reserve(writer, &points, 128ull * 1024 * 1024), "points");
  check(vitrine_setting_set(writer, "step_ms", "20", "built in"), "setting");
  check(vitrine_ready(writer), "ready");
  for (round = 0; !is_stopped && (rounds == 0 || round < rounds); ++round) {
    prove_job(round, worker);
  }
  check(vitrine_draining(writer), "draining");
  vitrine_close(writer, 0);
  return 0;
}
