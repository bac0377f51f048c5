/* SPDX-License-Identifier: MIT
 *
 * The C interface of Vitrine (libvitrine.so.0): publish the state of an engine of your own in a
 * shared-memory segment, and read any engine's. docs/c-api.md has the short tour.
 *
 * Units     bytes; nanoseconds; instants are on CLOCK_MONOTONIC of the engine's host. Texts are
 *           UTF-8, end in a zero byte and are cut at a character where they are too long.
 * Threads   every function of a writer may be called from any thread. A reader takes one call at a
 *           time and serialises them itself; a snapshot never changes, so any thread may read it.
 * Errors    a function returns VITRINE_OK or a negative vitrine_code. The last error of a handle as
 *           one line: vitrine_writer_error(), vitrine_reader_error(). A call that fails has
 *           published nothing. A handle that is NULL gives VITRINE_BAD_ARGUMENT, so an engine may
 *           go on calling whatever happened.
 * Crash     a writer killed at any instruction leaves its last complete state readable.
 * Cost      a writer's call publishes each touched row once: no system call, no allocation unless
 *           it says so, no wait for any reader. It looks at the partitions of all jobs in hand.
 * Fork      a child of fork() must not use the handles of its parent.
 * ABI       structs begin with `size`, to be set to sizeof: members are only appended, and what the
 *           caller does not have is zero. Zero always means the default.
 */
#ifndef VITRINE_H
#define VITRINE_H

#include <stddef.h>
#include <stdint.h>

#define VITRINE_VERSION_MAJOR 0
#define VITRINE_VERSION_MINOR 1
#define VITRINE_VERSION_PATCH 0

#if defined(__GNUC__)
#define VITRINE_API __attribute__((visibility("default")))
#else
#define VITRINE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitrine_writer vitrine_writer;
typedef struct vitrine_reader vitrine_reader;
typedef struct vitrine_snapshot vitrine_snapshot;

enum vitrine_code {
  VITRINE_OK = 0,
  VITRINE_BAD_ARGUMENT = -1,     /* a rule of the argument is broken */
  VITRINE_NO_SUCH_ITEM = -2,     /* no such job, partition, worker, table or field */
  VITRINE_EXISTS = -3,           /* the job's number is in use */
  VITRINE_WRONG_ORDER = -4,      /* the item is not in a state from which this can follow */
  VITRINE_FULL = -5,             /* no row is free: the item is not shown */
  VITRINE_OVER_BUDGET = -6,      /* more bytes than the memory budget has left */
  VITRINE_BUSY = -7,             /* the worker has another partition */
  VITRINE_IN_USE = -8,           /* another live engine has the instance */
  VITRINE_NO_SHARED_MEMORY = -9, /* the records go to private memory, which nobody sees */
  VITRINE_NO_MEMORY = -10,
  VITRINE_ABSENT = -11,      /* no such segment, or the value is not set */
  VITRINE_UNREADABLE = -12,  /* permission, owner, link or file system */
  VITRINE_CORRUPT = -13,     /* the bytes break a rule of the layout */
  VITRINE_UNSUPPORTED = -14, /* another major version, byte order or a required feature */
  VITRINE_SYSTEM = -15       /* the kernel refused */
};

/* A number that is not there: no worker, no partition, no job. */
#define VITRINE_NONE UINT32_MAX

/* The version of the library in use, as "0.1.0". Static storage. */
VITRINE_API const char* vitrine_version(void);
/* A short English sentence about a code. Static storage. */
VITRINE_API const char* vitrine_code_text(int code);

/* ---- Writer: what it is opened with ---- */

/* What the tools make of a stage. A partition that waits is `pending` until it was first in a cpu
 * or a device stage, and `gpu_queued` after that; cpu is `synthesizing`; device is `gpu_proving`;
 * finishing is `finishing`; final is `done`. */
enum vitrine_stage_class {
  VITRINE_STAGE_WAITING = 1,
  VITRINE_STAGE_CPU = 2,
  VITRINE_STAGE_DEVICE = 3,
  VITRINE_STAGE_FINISHING = 4,
  VITRINE_STAGE_FINAL = 5
};

/* A stage of the engine's own. Its number is its place in the array. */
typedef struct vitrine_stage {
  const char* name; /* 24 bytes are shown */
  uint32_t stage_class;
} vitrine_stage;

/* The numbers of the stages of an engine that is opened without any of its own. */
enum vitrine_standard_stage {
  VITRINE_PENDING = 0,
  VITRINE_SYNTHESIZING = 1,
  VITRINE_GPU_QUEUED = 2,
  VITRINE_GPU_PROVING = 3,
  VITRINE_FINISHING = 4
};

enum vitrine_field_type { VITRINE_FIELD_U64 = 1, VITRINE_FIELD_TEXT = 2 };

/* A field of the engine's own in one of the tables engine, devices, workers, memory, jobs and
 * partitions. It reaches every output. */
typedef struct vitrine_extra_field {
  const char* table;
  const char* name;    /* x_ and then lower-case letters, digits and _ ; 64 bytes at most */
  uint32_t type;       /* vitrine_field_type */
  uint32_t size_bytes; /* of a text: a multiple of 8; 256 for all fields of a table together */
  const char* help;
} vitrine_extra_field;

typedef struct vitrine_options {
  size_t size;                    /* sizeof(vitrine_options) */
  const char* instance;           /* [a-z0-9_][a-z0-9_-]{0,31}; NULL: "main" */
  const char* engine_version;     /* shown beside the instance */
  const char* path;               /* of the segment; NULL: where readers look for the instance */
  const char* api_socket_path;    /* shown; NULL: none */
  uint32_t mode;                  /* access rights of the segment; 0: 0640 */
  uint32_t remove_at_close;       /* 1: vitrine_close() removes the segment's name */
  uint64_t heartbeat_interval_ns; /* how often vitrine_beat() will be called; 0: 100 ms */
  uint32_t jobs, partitions, workers, devices, events; /* rows; 0: 512, 4096, 64, 16, 16384 */
  uint32_t stage_count;                                /* 64 at most */
  const vitrine_stage* stages;
  uint32_t extra_field_count; /* 64 at most */
  uint32_t reserved;
  const vitrine_extra_field* extra_fields;
} vitrine_options;

/* Opens a segment and says life `starting`. `*writer` is a handle also when the code is
 * VITRINE_IN_USE, VITRINE_NO_SHARED_MEMORY or VITRINE_UNREADABLE: the records then go to private
 * memory, and every call works. It is NULL after VITRINE_BAD_ARGUMENT and VITRINE_NO_MEMORY.
 * `error` (may be NULL) receives one line, also after VITRINE_OK when the segment is where readers
 * refuse it unless told otherwise: not in a tmpfs; it is worth a log line. Enters the kernel,
 * allocates. */
VITRINE_API int vitrine_open(const vitrine_options* options, vitrine_writer** writer, char* error,
                             size_t error_size);
/* Says `closed` with this exit code and frees the handle. Work that has not ended stays as it is.
 * No other thread may use the handle any more. */
VITRINE_API void vitrine_close(vitrine_writer* writer, uint32_t exit_code);

/* 1 when readers can see the segment, 0 when it is private memory. */
VITRINE_API int vitrine_is_shared(const vitrine_writer* writer);
/* Copies the segment's path, or the last error, at most size - 1 bytes. Returns its whole length.
 */
VITRINE_API size_t vitrine_writer_path(const vitrine_writer* writer, char* out, size_t size);
VITRINE_API size_t vitrine_writer_error(const vitrine_writer* writer, char* out, size_t size);

/* ---- Writer: life ---- */

/* One heartbeat. The library has no thread: call it at least as often as promised, from a thread
 * that shows that the engine lives. Once a second it also takes a sample of history, and looks
 * whether the segment still has its name and its content; one that was lost or damaged is published
 * again (enters the kernel,
 * allocates; an error is worth a log line, the next call tries again). */
VITRINE_API int vitrine_beat(vitrine_writer* writer);
/* The engine takes work; also the end of `degraded` and `draining`. */
VITRINE_API int vitrine_ready(vitrine_writer* writer);
/* It works, but not as it should, and this is why. */
VITRINE_API int vitrine_degraded(vitrine_writer* writer, const char* reason);
/* It ends what it has and takes no more. */
VITRINE_API int vitrine_draining(vitrine_writer* writer);

enum vitrine_device_kind { VITRINE_DEVICE_CPU = 2, VITRINE_DEVICE_CUDA = 3 };
enum vitrine_device_state {
  VITRINE_DEVICE_UP = 1,
  VITRINE_DEVICE_DEGRADED = 2,
  VITRINE_DEVICE_QUARANTINED = 3,
  VITRINE_DEVICE_LOST = 4
};

/* Adds a device, up; its number goes to `*device`. `threads`: CPU threads that it uses. */
VITRINE_API int vitrine_device_add(vitrine_writer* writer, uint32_t kind, const char* name,
                                   uint32_t threads, uint32_t* device);
VITRINE_API int vitrine_device_set_state(vitrine_writer* writer, uint32_t device, uint32_t state);
/* Adds an idle worker that feeds the device; its number goes to `*worker`. */
VITRINE_API int vitrine_worker_add(vitrine_writer* writer, uint32_t device, uint32_t* worker);

/* ---- Writer: jobs ---- */

enum vitrine_priority {
  VITRINE_PRIORITY_LOW = 1,
  VITRINE_PRIORITY_NORMAL = 2,
  VITRINE_PRIORITY_HIGH = 3,
  VITRINE_PRIORITY_CRITICAL = 4
};
enum vitrine_wait_reason {
  VITRINE_WAIT_MEMORY = 1,
  VITRINE_WAIT_SRS = 2,
  VITRINE_WAIT_BATCH = 3,
  VITRINE_WAIT_CPU = 4,
  VITRINE_WAIT_DEVICE = 5,
  VITRINE_WAIT_PAUSED = 6
};
enum vitrine_failure {
  VITRINE_BAD_INPUT = 1,
  VITRINE_OUT_OF_MEMORY = 2,
  VITRINE_DEVICE_ERROR = 3,
  VITRINE_VERIFY_FAILED = 4,
  VITRINE_CANCELLED = 5,
  VITRINE_TIMEOUT = 6,
  VITRINE_LOST = 7,
  VITRINE_INTERNAL = 8
};

typedef struct vitrine_job {
  size_t size;             /* sizeof(vitrine_job) */
  uint64_t job;            /* the engine's number for it; 0: the library takes one */
  const char* circuit;     /* 32 bytes are shown */
  const char* proof_kind;  /* what counters go by; 16 bytes; NULL: "proof" */
  const char* request;     /* the client's word for it; NULL: none */
  uint32_t partitions;     /* 1 at least */
  uint32_t priority;       /* vitrine_priority; 0: normal */
  uint64_t deadline_in_ns; /* from now; 0: none */
} vitrine_job;

/* A job has come and is queued; all its partitions are pending. `*number` (may be NULL) receives
 * its number. VITRINE_FULL: it is not shown and the engine's count of such jobs grows; later calls
 * about it give VITRINE_NO_SUCH_ITEM and change nothing. Allocates. */
VITRINE_API int vitrine_job_submit(vitrine_writer* writer, const vitrine_job* job,
                                   uint64_t* number);
/* A job that is not admitted yet waits for this; `needs_bytes` of memory, with `available_bytes`
 * free now, when the reason is memory, else 0. */
VITRINE_API int vitrine_job_wait(vitrine_writer* writer, uint64_t job, uint32_t reason,
                                 uint64_t needs_bytes, uint64_t available_bytes);
/* The job runs from now on; its partitions may be put to stages. */
VITRINE_API int vitrine_job_admit(vitrine_writer* writer, uint64_t job);

/* The partition enters the stage of this number. A device stage needs a worker that is idle or has
 * this very partition; a finishing stage too, VITRINE_NONE then means the one that it has. For
 * every other stage `worker` is VITRINE_NONE, and the worker that it had becomes idle. */
VITRINE_API int vitrine_partition_stage(vitrine_writer* writer, uint64_t job, uint32_t partition,
                                        uint32_t stage, uint32_t worker);
/* A partition in a waiting stage waits for this; as vitrine_job_wait(). */
VITRINE_API int vitrine_partition_wait(vitrine_writer* writer, uint64_t job, uint32_t partition,
                                       uint32_t reason, uint64_t needs_bytes);
/* Gives up the attempt: the partition is pending again, its attempt one higher. */
VITRINE_API int vitrine_partition_again(vitrine_writer* writer, uint64_t job, uint32_t partition);
/* It is done, or has failed: its worker is idle again and its bytes go back to the budget. */
VITRINE_API int vitrine_partition_done(vitrine_writer* writer, uint64_t job, uint32_t partition);
VITRINE_API int vitrine_partition_failed(vitrine_writer* writer, uint64_t job, uint32_t partition,
                                         uint32_t failure);

/* The ends of a job, once each. Done needs all its partitions done. In the others what has not
 * ended is cancelled with it. `text` says why in one line. A job can be refused until it is
 * admitted. */
VITRINE_API int vitrine_job_done(vitrine_writer* writer, uint64_t job);
VITRINE_API int vitrine_job_failed(vitrine_writer* writer, uint64_t job, uint32_t failure,
                                   const char* text);
VITRINE_API int vitrine_job_cancelled(vitrine_writer* writer, uint64_t job);
VITRINE_API int vitrine_job_refused(vitrine_writer* writer, uint64_t job, uint32_t failure,
                                    const char* text);
VITRINE_API int vitrine_job_lost(vitrine_writer* writer, uint64_t job, const char* text);

/* ---- Writer: memory ---- */

enum vitrine_consumer_kind {
  VITRINE_CONSUMER_POINTS = 1,   /* a proving key's points, by the circuit's name */
  VITRINE_CONSUMER_MATRICES = 2, /* its matrices, or any other cache, by its name */
  VITRINE_CONSUMER_PARTITION = 3 /* of a job that is not final */
};
typedef struct vitrine_consumer {
  uint32_t kind;
  uint32_t partition;
  uint64_t job;
  const char* name; /* 32 bytes are shown */
} vitrine_consumer;

/* The bytes that may be reserved, not fewer than are; 0 until it is called. */
VITRINE_API int vitrine_memory_budget(vitrine_writer* writer, uint64_t bytes);
/* A consumer takes bytes from the budget, or gives them back. What a partition still has when it
 * ends goes back by itself. VITRINE_OVER_BUDGET, or VITRINE_BAD_ARGUMENT when it gives back more
 * than it has, change nothing. */
VITRINE_API int vitrine_memory_reserve(vitrine_writer* writer, const vitrine_consumer* consumer,
                                       uint64_t bytes);
VITRINE_API int vitrine_memory_release(vitrine_writer* writer, const vitrine_consumer* consumer,
                                       uint64_t bytes);
/* Resident memory of the process, as the engine measured it. */
VITRINE_API int vitrine_memory_resident(vitrine_writer* writer, uint64_t bytes);

/* ---- Writer: threads, limiters, settings, errors, fields of its own ---- */

/* Adds a thread that is at no step; its number goes to `*thread`. */
VITRINE_API int vitrine_thread_add(vitrine_writer* writer, const char* name, uint32_t* thread);
/* The thread begins a step; one that takes longer than `limit_ns` (0: no limit) makes the verdict
 * `hung`. The job may be 0. */
VITRINE_API int vitrine_thread_step(vitrine_writer* writer, uint32_t thread, const char* step,
                                    uint64_t limit_ns, uint64_t job);
/* Takes the thread's row away. */
VITRINE_API int vitrine_thread_remove(vitrine_writer* writer, uint32_t thread);

/* Something of which only so many may be in use; adds it, or changes the one of this name. */
VITRINE_API int vitrine_limiter_set(vitrine_writer* writer, const char* name, uint64_t limit,
                                    uint64_t used, uint64_t waiting);
/* A setting in effect and where it came from; adds it, or changes the one of this name. */
VITRINE_API int vitrine_setting_set(vitrine_writer* writer, const char* name, const char* value,
                                    const char* origin);
/* One more error; those of the same class and text are counted together. Failed jobs note theirs
 * by themselves. The job may be 0. */
VITRINE_API int vitrine_error_note(vitrine_writer* writer, uint32_t failure, const char* text,
                                   uint64_t job);

/* The item whose row has an extra field. */
typedef struct vitrine_item {
  const char* table; /* as in vitrine_extra_field */
  uint64_t job;      /* of jobs and partitions */
  uint32_t number;   /* of a partition, worker or device */
  uint32_t reserved;
} vitrine_item;
VITRINE_API int vitrine_field_set_u64(vitrine_writer* writer, const vitrine_item* item,
                                      const char* field, uint64_t value);
VITRINE_API int vitrine_field_set_text(vitrine_writer* writer, const vitrine_item* item,
                                       const char* field, const char* value);

/* ---- Reader ---- */

/* Which engine. All zero: the instance `main`, or the one that VITRINE_SEGMENT leads to. */
typedef struct vitrine_target {
  size_t size;             /* sizeof(vitrine_target) */
  const char* instance;    /* NULL: "main" */
  const char* path;        /* a segment; then the instance is not looked up */
  const char* file;        /* a recording or a dead segment, read once */
  uint32_t any_filesystem; /* 1: also map a segment that is not in a tmpfs */
  uint32_t owner_plus_one; /* uid + 1 of a user to trust beside root and oneself; 0: none */
} vitrine_target;

/* In order of precedence. */
enum vitrine_verdict_word {
  VITRINE_VERDICT_UNREADABLE = 0, /* or there is no such segment: vitrine_exit_code() tells */
  VITRINE_VERDICT_EXITED = 1,
  VITRINE_VERDICT_DEAD = 2,
  VITRINE_VERDICT_HUNG = 3,
  VITRINE_VERDICT_STARTING = 4,
  VITRINE_VERDICT_DRAINING = 5,
  VITRINE_VERDICT_DEGRADED = 6,
  VITRINE_VERDICT_BUSY = 7,
  VITRINE_VERDICT_IDLE = 8
};

/* Makes a reader of the target; the engine need not be there yet. `error` (may be NULL) receives
 * one line. Live segments are copied through a guard against pages that vanish: the first look
 * installs a SIGBUS handler, which passes every other fault on to the handler before it. */
VITRINE_API int vitrine_attach(const vitrine_target* target, vitrine_reader** reader, char* error,
                               size_t error_size);
VITRINE_API void vitrine_detach(vitrine_reader* reader);
/* Copies the last error, at most size - 1 bytes. Returns its whole length. */
VITRINE_API size_t vitrine_reader_error(vitrine_reader* reader, char* out, size_t size);

/* One look, without waiting: the state at one commit, as a handle of its own, to be freed by
 * vitrine_snapshot_free(). It follows an engine that was started again. There is a handle also when
 * the code is VITRINE_ABSENT, VITRINE_UNREADABLE, VITRINE_CORRUPT or VITRINE_UNSUPPORTED: with the
 * verdict, and the last state that could be read, if there was one. A heart that stands shows
 * only after looks over three of its intervals. Allocates. */
VITRINE_API int vitrine_look(vitrine_reader* reader, vitrine_snapshot** snapshot);
VITRINE_API void vitrine_snapshot_free(vitrine_snapshot* snapshot);

VITRINE_API int vitrine_verdict(const vitrine_snapshot* snapshot); /* vitrine_verdict_word */
/* One line of evidence. Valid as long as the snapshot. */
VITRINE_API const char* vitrine_verdict_reason(const vitrine_snapshot* snapshot);
/* As of the status commands: 0 well, 1 degraded or draining, 3 absent, 4 gone, 5 unreadable, 6
 * hung. */
VITRINE_API int vitrine_exit_code(const vitrine_snapshot* snapshot);
/* Number of the transaction that this is the state after; 0 when nothing was read. */
VITRINE_API uint64_t vitrine_commit(const vitrine_snapshot* snapshot);
/* 1: one moment; 0: each row is its newest, of different commits. */
VITRINE_API int vitrine_is_consistent(const vitrine_snapshot* snapshot);
/* Which run of an engine, 32 hexadecimal digits. Valid as long as the snapshot. */
VITRINE_API const char* vitrine_incarnation(const vitrine_snapshot* snapshot);
/* Sequence of its newest event; 0: none. */
VITRINE_API uint64_t vitrine_last_event(const vitrine_snapshot* snapshot);

/* The tables there are, those too that only the segment's own schema knows, and their fields; NULL
 * behind the last. Valid as long as the snapshot. */
VITRINE_API const char* vitrine_table_name(const vitrine_snapshot* snapshot, uint32_t place);
VITRINE_API const char* vitrine_field_name(const vitrine_snapshot* snapshot, const char* table,
                                           uint32_t place);
/* Rows in use, or a negative code. */
VITRINE_API int64_t vitrine_rows(const vitrine_snapshot* snapshot, const char* table);
/* Which value: a field of a row of a table. `row` counts the rows in use. */
typedef struct vitrine_place {
  const char* table;
  const char* field;
  uint32_t row;
  uint32_t reserved;
} vitrine_place;
/* A number, word (as its number), id, index or instant (on the engine's monotonic clock).
 * VITRINE_ABSENT: an index or instant is not set. VITRINE_BAD_ARGUMENT: a text or a histogram. */
VITRINE_API int vitrine_get_u64(const vitrine_snapshot* snapshot, const vitrine_place* place,
                                uint64_t* value);
/* A text, or the word of a state; any number in digits. Returns the whole length, of which at most
 * size - 1 bytes were copied, or a negative code. */
VITRINE_API int64_t vitrine_get_text(const vitrine_snapshot* snapshot, const vitrine_place* place,
                                     char* out, size_t size);
/* Of an instant: its time in nanoseconds since 1970, and its age at the snapshot (negative: to
 * come). */
VITRINE_API int vitrine_get_time(const vitrine_snapshot* snapshot, const vitrine_place* place,
                                 int64_t* unix_ns);
VITRINE_API int vitrine_get_age(const vitrine_snapshot* snapshot, const vitrine_place* place,
                                int64_t* age_ns);
/* Everything as one JSON document, as `vitrine show --json`. Returns its whole length, of which at
 * most size - 1 bytes were copied, or a negative code. Allocates. */
VITRINE_API int64_t vitrine_json(const vitrine_snapshot* snapshot, char* out, size_t size);

typedef struct vitrine_event {
  uint64_t stamp;    /* commit that it belongs to */
  uint64_t sequence; /* from 1, without a gap */
  uint64_t time_ns;  /* on the engine's monotonic clock */
  uint64_t job;      /* 0: none */
  uint32_t type;     /* vitrine_event_word() */
  uint32_t attempt;
  uint32_t partition; /* VITRINE_NONE: none, as the next two */
  uint32_t worker;
  uint32_t device;
  uint32_t reserved;
  uint64_t argument; /* bytes, a failure or a count, by type */
} vitrine_event;

/* The events after `sequence` (0: the oldest kept) of the segment of the last look, at most
 * `capacity`. Returns how many, or a negative code. `*missed` (may be NULL) receives how many were
 * overwritten before the first of them. */
VITRINE_API int64_t vitrine_events_after(vitrine_reader* reader, uint64_t sequence,
                                         vitrine_event* events, size_t capacity, uint64_t* missed);
/* The word of an event's type; "unknown" for one without. Static storage. */
VITRINE_API const char* vitrine_event_word(uint32_t type);

/* The engine's main numbers once a second. */
typedef struct vitrine_sample {
  uint64_t stamp, sequence, time_ns;
  uint32_t jobs_waiting, jobs_active;
  uint32_t partitions_pending, partitions_synthesizing;
  uint32_t partitions_gpu_queued, partitions_on_device;
  uint32_t workers, memory_waiters;
  uint64_t reserved_bytes, resident_bytes;
  uint64_t busy_ns; /* of all workers */
  uint64_t jobs_done, jobs_failed, jobs_refused;
  uint64_t partitions_done, partitions_failed;
} vitrine_sample;

/* The newest samples of the segment of the last look, oldest first, at most `capacity`. Returns how
 * many, or a negative code. */
VITRINE_API int64_t vitrine_history(vitrine_reader* reader, vitrine_sample* samples,
                                    size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
