#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""See into a Vitrine engine, with nothing but Python's standard library.

Commands     ls, show, events, history, schema; each with --json.
As a module  with vitrine.Segment(path) as segment: segment.snapshot().rows["jobs"][0]["state"];
             vitrine.observe(segment) adds the verdict, .to_json() says what `vitrine show --json`
             says, field by field.
Why          a second reader, made from shm/LAYOUT.md alone, shows that the format is what that
             document says (vitrine_segment.py), and people can change it where it stands.
"""
import argparse
import datetime
import json
import os
import pwd
import re
import sys
import time

from vitrine_layout import EVENTS, HISTORY, SegmentError
from vitrine_segment import Record, Segment, Snapshot, boot_id, signed

EXIT_CODES = {"unreadable": 5, "exited": 4, "dead": 4, "hung": 6, "draining": 1, "degraded": 1,
              "starting": 0, "busy": 0, "idle": 0}
DIRECTORIES = ("/run/vitrine", "/dev/shm")
DEAD_NAME = re.compile(r"(?:vitrine\.)?([a-z0-9_][a-z0-9_-]{0,31})\.[0-9a-f]{32}\.dead")
LIVE_NAME = {True: re.compile(r"vitrine\.([a-z0-9_][a-z0-9_-]{0,31})"),
             False: re.compile(r"([a-z0-9_][a-z0-9_-]{0,31})\.segment")}


def rfc3339(unix_ns):
    if unix_ns < 0:
        return None
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=unix_ns // 10**9)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{unix_ns % 10**9 // 10**6:03d}Z"


def seconds(duration_ns):  # to the microsecond, cut towards zero
    return (abs(duration_ns) // 1000 * (1 if duration_ns >= 0 else -1)) / 1e6


def duration_text(duration_ns):
    whole = duration_ns // 10**9
    if whole < 1:
        return f"{duration_ns // 10**6}ms"
    if whole < 10:
        return f"{whole}.{duration_ns // 10**8 % 10}s"
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    hours = whole // 3600
    return f"{hours}h{whole // 60 % 60:02d}m" if hours < 48 else f"{hours // 24}d{hours % 24:02d}h"


def record_json(record, clock):
    """The forms of every output: ids as strings, times as text and age, what is absent as None."""
    out = {}
    for name, field in record.fields.items():
        value = record[name]
        if field.type == "instant":
            prefix = "" if name == "time" else name + "_"
            out[prefix + "time"] = rfc3339(clock.unix_ns_of(value)) if value else None
            out[prefix + "age_seconds"] = seconds(clock.age_ns(value)) if value else None
        elif field.type == "histogram":
            bounds = [seconds(bound) for bound in field.bounds] + [None]
            out[name] = [{"le_seconds": bound, "count": count}
                         for bound, count in zip(bounds, value)]
        elif field.type == "id":
            out[name] = str(value) if value else None
        else:
            out[name] = value if value != "" else None
    return out


def event_json(event, clock):
    out = record_json(event, clock)
    return {**out, "sequence": str(event["sequence"]), "stamp": str(event["stamp"])}


class Look:
    """A snapshot, what the kernel says about its engine, and the verdict on both."""

    def __init__(self, segment, snapshot, stood_ns):
        self.segment, self.snapshot = segment, snapshot
        self.lock_held, self.name_linked = segment.liveness()
        self.observed_ns = time.monotonic_ns()
        self.verdict, self.reason = self._verdict(stood_ns)

    def _verdict(self, stood_ns):
        engine = (self.snapshot.rows.get("engine") or [Record({}, b"")])[0]
        process = f"process {self.segment.pid}{self._elsewhere()} on {self.segment.host}"
        after = f", after signal {self.snapshot.last_signal}" if self.snapshot.last_signal else ""
        if self.snapshot.life_word() == "closed" or not self.lock_held:
            return self._gone(process, after)
        if stood_ns > 3 * self.snapshot.credible_interval_ns():
            return "hung", (
                f"{process} is there, but its heartbeat has stood at {self.snapshot.heartbeat} for "
                f"{duration_text(max(stood_ns, self.snapshot.heartbeat_age_ns))}, promised every "
                f"{self.snapshot.heartbeat_interval_ns // 10**6} ms{self._longest_step()}")
        threads = self.snapshot.rows.get("threads", [])
        overdue = [thread for thread in threads if self._overrun_ns(thread) > 0]
        if overdue:
            return "hung", self._overdue_text(max(overdue, key=self._overrun_ns))
        if self.snapshot.life_word() == "starting" or self.snapshot.life == 0:
            return "starting", f"{process} is not ready yet"
        if self.snapshot.life_word() == "draining":
            return "draining", ("finishes what it has, takes no more: "
                                f"{self._activity()[1]}{after}")
        if not self.name_linked:
            return "degraded", (f"{self.segment.path} no longer leads to it; new readers cannot "
                                "find it")
        if self.snapshot.life_word() == "degraded" or engine.text("degraded_reason"):
            return "degraded", engine.text("degraded_reason") or "gives no reason"
        is_busy, activity = self._activity()
        if is_busy:
            return "busy", activity
        return "idle", "paused" if engine.number("paused") else "no work"

    def _elsewhere(self):
        """Whether the number means another process here, or none: as of one in a container."""
        if boot_id() != self.segment.boot_id:
            return ""
        is_here = os.stat("/proc/self/ns/pid").st_ino == self.segment.pid_namespace
        return "" if is_here else " (of another PID namespace)"

    def _gone(self, process, after):
        life = self.snapshot.life_word()
        when = duration_text(self.snapshot.last_sign_age_ns()) + " ago"
        if life == "closed":
            return "exited", f"{process} exited with code {self.snapshot.exit_code}, {when}{after}"
        words, struck = self.snapshot.last_words, after
        if words:
            struck = f", struck by signal {words.number('signal')} in thread {words.text('thread')}"
            if words.number("job"):
                struck += f" at {words.text('stage')} of job {words['job']}"
                if words.index("partition") is not None:
                    struck += f" partition {words['partition']}"
        step = self._longest_step(self.snapshot.last_sign_age_ns())
        return "dead", (f"{process} ended without saying so; last sign of life {when}, then {life}"
                        f"{struck}, {self._activity()[1]}{step}")

    def _activity(self):
        active = sum(job.text("state") in ("running", "assembling")
                     for job in self.snapshot.rows.get("jobs", []))
        workers = self.snapshot.rows.get("workers", [])
        proving = sum(worker.text("state") == "proving" for worker in workers)
        return active + proving > 0, (
            f"{active} active job{'s' * (active != 1)}, {proving} of {len(workers)} "
            f"worker{'s' * (len(workers) != 1)} proving")

    def _longest_step(self, until_age_ns=0):
        proving = [worker for worker in self.snapshot.rows.get("workers", [])
                   if worker.text("state") == "proving" and worker.number("since")]
        if not proving:
            return ""
        oldest = min(proving, key=lambda worker: worker["since"])
        age_ns = max(0, self.snapshot.age_ns(oldest["since"]) - until_age_ns)
        return (f"; worker {oldest.row} in {oldest.text('stage')} of job {oldest.number('job')} "
                f"for {duration_text(age_ns)}")

    def _overrun_ns(self, thread):
        limit_ns, since_ns = thread.number("limit_ns"), thread.number("since")
        return self.snapshot.age_ns(since_ns) - limit_ns if limit_ns and since_ns else 0

    def _overdue_text(self, thread):
        text = (f"thread {thread.text('name')} has been in step {thread.text('step')} for "
                f"{duration_text(self.snapshot.age_ns(thread['since']))}, its limit is "
                f"{duration_text(thread['limit_ns'])}")
        text += f"; job {thread['job']}" if thread.number("job") else ""
        partition = thread.index("partition")
        return text + (f" partition {partition}" if partition is not None else "")

    def _engine_json(self):
        segment, snapshot = self.segment, self.snapshot
        beat_age_ns = snapshot.heartbeat_age_ns + self.observed_ns - snapshot.taken_ns
        words = snapshot.last_words and record_json(snapshot.last_words, snapshot)
        if words:
            words.pop("written", None)
        is_closed = snapshot.life_word() == "closed"
        return {
            "verdict": self.verdict, "reason": self.reason or None,
            "heartbeat_age_seconds": seconds(signed(beat_age_ns)),
            "heartbeat": snapshot.heartbeat,
            "heartbeat_interval_ns": snapshot.heartbeat_interval_ns,
            "life": snapshot.life_word(), "exit_code": snapshot.exit_code if is_closed else None,
            "last_signal": snapshot.last_signal or None, "lock_held": self.lock_held,
            "name_linked": self.name_linked, "instance": segment.instance or None,
            "host": segment.host or None, "engine_version": segment.engine_version or None,
            "api_socket_path": segment.api_socket_path or None, "segment_path": segment.path,
            "layout_version": "{}.{}".format(*segment.version), "pid": segment.pid,
            "uid": segment.uid, "created_time": rfc3339(signed(segment.created_unix_ns)),
            "last_words": words, **self._table_json(segment.sections.get(2))}

    def _table_json(self, section):
        if section is None:
            return {}
        rows = [record_json(row, self.snapshot) for row in self.snapshot.rows[section.name]]
        if section.shape != "object":
            return rows
        nothing = dict.fromkeys(record_json(Record(section.fields, b""), self.snapshot))
        return rows[0] if rows else nothing

    def to_json(self, wanted=None):
        """What `vitrine show --json` says. `wanted`: names of the tables to show, else all."""
        snapshot, is_gone = self.snapshot, self.verdict in ("dead", "exited")
        age_ns = self.observed_ns - snapshot.taken_ns + snapshot.heartbeat_age_ns * is_gone
        taken_unix_ns = snapshot.unix_ns_of(snapshot.heartbeat_ns + snapshot.heartbeat_age_ns)
        out = {"schema": "vitrine.snapshot.1", "incarnation": self.segment.incarnation,
               "seq": str(snapshot.commit), "consistent": snapshot.consistent,
               "time": rfc3339(taken_unix_ns), "snapshot_age_seconds": seconds(age_ns),
               "last_event_sequence": str(snapshot.last_event_sequence),
               "engine": self._engine_json()}
        for section in self.segment.sections.values():
            is_wanted = wanted is None or section.name in wanted
            if section.kind == "table" and section.id != 2 and is_wanted:
                out.setdefault(section.name, self._table_json(section))
        return out


def observe(segment, stood_ns=0):
    """One look. `stood_ns`: for how long the heartbeat was seen to stand."""
    look = Look(segment, segment.snapshot(), stood_ns)
    if not look.lock_held:  # it may have said goodbye after it was copied
        look = Look(segment, segment.snapshot(), stood_ns)
    return look


def observe_settled(segment):
    """Looks again when the heartbeat seems to stand: one look cannot tell."""
    look = observe(segment)
    first_ns, beats = look.observed_ns, look.snapshot.heartbeat
    interval_ns = look.snapshot.credible_interval_ns()
    if look.snapshot.heartbeat_age_ns <= 3 * interval_ns:
        return look
    stood_ns = 0
    while look.lock_held and stood_ns <= 3 * interval_ns and look.snapshot.heartbeat == beats:
        if time.monotonic_ns() > first_ns + 4 * interval_ns:
            break
        time.sleep(interval_ns / 2e9)
        stood_ns = max(0, time.monotonic_ns() - first_ns)
        look = observe(segment, stood_ns)
        if look.snapshot.heartbeat != beats:  # it lives: a great age is a difference of clocks
            look = Look(segment, look.snapshot, 0)
            look.snapshot.heartbeat_age_ns = min(look.snapshot.heartbeat_age_ns, interval_ns)
    return look


def candidates(instance, path):
    if path:
        return [path]
    return [os.path.join(folder, f"vitrine.{instance}" if folder == "/dev/shm"
                         else f"{instance}.segment") for folder in DIRECTORIES]


def find(arguments):
    """The segment that the arguments name: a live engine's, else a dead one's."""
    schema = read_schema_file(arguments.schema) if arguments.schema else None
    if arguments.file:
        return Segment(arguments.file, file=True, schema=schema)
    instance = arguments.instance or "main"
    paths, dead, first_error = candidates(instance, arguments.segment), None, None
    for path in paths:
        try:
            segment = Segment(path, owner=arguments.owner, schema=schema)
        except SegmentError as error:
            if error.kind != "absent":
                first_error = first_error or error
            continue
        if segment.is_locked():
            return segment
        dead = dead or segment
    if dead:
        return dead
    if first_error is None and len(paths) > 1:
        first_error = SegmentError("absent", f"no engine '{instance}'",
                                   "no segment at " + ", ".join(paths))
    raise first_error or SegmentError("absent", paths[0], "no such segment")


def read_schema_file(path):
    """A schema text: a file of its own, or that of another segment."""
    with open(path, "rb") as file:
        if file.read(8) != b"VITRINE\0":
            file.seek(0)
            return file.read(1 << 20).decode("utf-8", "replace")
    with Segment(path, file=True) as segment:
        return segment.schema_text


def printable(text):
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


def line_of(values):
    """What is there, as key=value."""
    return "  ".join(f"{key}={printable(value)}" for key, value in values.items()
                     if value is not None and not isinstance(value, list) and value != "none"
                     and not key.endswith("age_seconds"))


def write_json(value):
    print(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def run_show(arguments):
    with find(arguments) as segment:
        if segment.sections is None and not arguments.json:
            print("segment {}.{} of instance {}: process {} on {}, engine {}, created {}".format(
                *segment.version, printable(segment.instance), segment.pid,
                printable(segment.host), printable(segment.engine_version),
                rfc3339(signed(segment.created_unix_ns))))
        look = observe_settled(segment)
        if arguments.json:
            write_json(look.to_json())
            return EXIT_CODES[look.verdict]
        print(f"{printable(segment.instance)}: {look.verdict}: {printable(look.reason)}")
        for name, table in look.to_json().items():
            for row in table if isinstance(table, list) else [table]:
                line = line_of(row) if isinstance(row, dict) else printable(row)
                print(f"{name:12} {line}")
        return EXIT_CODES[look.verdict]


def run_entries(arguments):
    """The events, or the samples of the history, one a line."""
    with find(arguments) as segment:
        look = observe_settled(segment)
        is_events = arguments.command == "events"
        entries, missed = segment.entries(EVENTS if is_events else HISTORY)
        if is_events and missed and arguments.json:
            write_json({"type": "missed", "count": missed})
        elif missed and not arguments.json:
            print(f"-- {missed} of these were overwritten or lost")
        for entry in entries:
            form = event_json if is_events else record_json
            values = form(entry, look.snapshot)
            if arguments.json:
                write_json(values)
            else:
                values.pop("stamp", None)
                print(f"{values.pop('time', None)}  {line_of(values)}")
        return EXIT_CODES[look.verdict]


def run_schema(arguments):
    with find(arguments) as segment:
        if segment.schema_text is None:
            raise segment.no_schema("its format cannot be shown")
        print(segment.schema_text)
        return 0


def list_segments():
    """(named dead, instance, path) of every segment of this machine, current names first."""
    found = []
    for folder in DIRECTORIES:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            dead = DEAD_NAME.fullmatch(name)
            match = dead or LIVE_NAME[folder == "/dev/shm"].fullmatch(name)
            if match:
                found.append((dead is not None, match.group(1), os.path.join(folder, name)))
    return sorted(found, key=lambda one: one[:2])


def listed_instance(name, owner):
    """(instance, verdict, what is shown of it); None when the name has gone."""
    named_dead, instance, path = name
    try:
        with Segment(path, owner=owner) as segment:
            look = observe_settled(segment)
            out = {**look.to_json(["engine"]), "instance": segment.instance, "segment_path": path}
            return segment.instance, look.verdict, out
    except SegmentError as error:
        if error.kind == "absent":
            return None
        engine = {"verdict": "unreadable", "reason": str(error)}
        return instance, "unreadable", {"schema": "vitrine.snapshot.1", "engine": engine,
                                        "instance": instance, "segment_path": path}


def run_ls(arguments):
    only = arguments.instance
    names = [name for name in list_segments() if only in (None, name[1])]
    if arguments.segment:
        names = [(False, None, arguments.segment)]
    listed = [(name, one) for name in names if (one := listed_instance(name, arguments.owner))]
    if not listed and arguments.segment:
        raise SegmentError("absent", arguments.segment, "no such segment")
    if not listed and only:
        raise SegmentError("absent", f"no engine '{only}'", "no segment of that name")
    current = {name[1] for name, _ in listed if not name[0]}
    served = {instance for _, (instance, verdict, _) in listed
              if verdict not in ("dead", "exited", "unreadable")}
    worst, instances = 0, []
    for name, (instance, verdict, out) in listed:
        is_gone = verdict in ("dead", "exited")
        out["replaced"] = (name[0] and name[1] in current) or (is_gone and instance in served)
        worst = max(worst, 0 if out["replaced"] else EXIT_CODES[verdict])
        instances.append(out)
        if not arguments.json:
            reason = printable(out["engine"]["reason"])
            print(f"{printable(instance or '-'):16} {verdict:10} {out['segment_path']}  {reason}")
    if arguments.json:
        write_json({"instances": instances})
    elif not instances:
        print("no instances")
    return worst


def instance_name(text):
    if not re.fullmatch("[a-z0-9_][a-z0-9_-]{0,31}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not an instance name: 1 to 32 of a-z, 0-9, "
                                         "_ and -, not first a -")
    return text


def path_name(text):
    if not text:
        raise argparse.ArgumentTypeError("'' is not a path: it is empty")
    return text


def user(text):
    try:
        return int(text) if text.isdigit() else pwd.getpwnam(text).pw_uid
    except KeyError:
        raise argparse.ArgumentTypeError(f"'{text}' is no user here") from None


class OneLineParser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"vitrine.py: {message}\n")


def parser():
    top = OneLineParser(prog="vitrine.py", description="See into a Vitrine engine.", epilog=(
        "Exit codes: 0 alive and well, 1 degraded or draining, 2 usage, 3 no such instance, 4 dead "
        "or exited, 5 not readable, 6 hung; ls gives the highest of its instances."))
    commands = top.add_subparsers(dest="command", required=True, parser_class=OneLineParser)
    for name, run, text in (("ls", run_ls, "Every engine of this machine, one line each"),
                            ("show", run_show, "Everything about one engine"),
                            ("events", run_entries, "What happened, one event a line"),
                            ("history", run_entries, "The samples of the last minutes"),
                            ("schema", run_schema, "What the segment says about its own format")):
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(run=run)
        one.add_argument("--json", action="store_true", help="JSON and nothing else")
        one.add_argument("--instance", type=instance_name, help="Name of the instance (main)",
                         default=os.environ.get("VITRINE_INSTANCE") or None)
        one.add_argument("--segment", type=path_name, help="Path of the engine's segment",
                         default=os.environ.get("VITRINE_SEGMENT") or None)
        one.add_argument("--file", type=path_name,
                         help="A dead segment, instead of an instance; not a recording")
        one.add_argument("--owner", type=user, help="Also trust segments of this user")
        one.add_argument("--schema", help="How to read a segment that has no schema text: that "
                         "text, or a segment that has one")
    return top


def main(words=None):
    arguments = parser().parse_args(words)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SegmentError as error:
        print(f"vitrine.py: {error}", file=sys.stderr)
        return 3 if error.kind == "absent" else 5
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"vitrine.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
