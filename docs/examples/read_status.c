/* SPDX-License-Identifier: MIT
 *
 * Looks at any engine: its verdict, its jobs and its last events.
 *
 *   cc read_status.c -lvitrine -o read_status
 *   ./read_status INSTANCE [SEGMENT]
 */
#include <stdio.h>
#include <vitrine/vitrine.h>

static void print_jobs(const vitrine_snapshot* snapshot) {
  const int64_t rows = vitrine_rows(snapshot, "jobs");
  int64_t row;
  for (row = 0; row < rows; ++row) {
    const vitrine_place state = {"jobs", "state", (uint32_t)row, 0};
    const vitrine_place circuit = {"jobs", "circuit", (uint32_t)row, 0};
    const vitrine_place number = {"jobs", "job", (uint32_t)row, 0};
    char state_text[32] = "";
    char circuit_text[64] = "";
    uint64_t job = 0;
    vitrine_get_u64(snapshot, &number, &job);
    vitrine_get_text(snapshot, &state, state_text, sizeof(state_text));
    vitrine_get_text(snapshot, &circuit, circuit_text, sizeof(circuit_text));
    printf("job %llu %s %s\n", (unsigned long long)job, circuit_text, state_text);
  }
}

static void print_events(vitrine_reader* reader, uint64_t newest) {
  enum { SHOWN = 5 };
  vitrine_event events[SHOWN];
  const uint64_t after = newest > SHOWN ? newest - SHOWN : 0;
  const int64_t count = vitrine_events_after(reader, after, events, SHOWN, NULL);
  int64_t i;
  for (i = 0; i < count; ++i) {
    printf("event %llu %s\n", (unsigned long long)events[i].sequence,
           vitrine_event_word(events[i].type));
  }
}

int main(int argument_count, char** arguments) {
  vitrine_target target = {0};
  vitrine_reader* reader = NULL;
  vitrine_snapshot* snapshot = NULL;
  char error[256];
  int exit_code;
  target.size = sizeof(target);
  target.instance = argument_count > 1 ? arguments[1] : NULL;
  target.path = argument_count > 2 ? arguments[2] : NULL;
  if (vitrine_attach(&target, &reader, error, sizeof(error)) != VITRINE_OK) {
    fprintf(stderr, "read_status: %s\n", error);
    return 2;
  }
  vitrine_look(reader, &snapshot);
  exit_code = vitrine_exit_code(snapshot);
  printf("exit code %d: %s\n", exit_code, vitrine_verdict_reason(snapshot));
  print_jobs(snapshot);
  print_events(reader, vitrine_last_event(snapshot));
  vitrine_snapshot_free(snapshot);
  vitrine_detach(reader);
  return exit_code;
}
