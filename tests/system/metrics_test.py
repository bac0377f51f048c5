#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/metrics of vitrine-http before those who judge it: promtool, a real Prometheus, and the strict
OpenMetrics parser of prometheus_client. Engines are real ones, which prove and are killed, and one
with names that a text could break on.

Usage: metrics_test.py BUILD SOURCE [German]. With the word only that test, which prints
`not tested: WHY` when the locale is not to be had. VITRINE_TEST_ENGINE_KILLS is how often an engine
is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
import urllib.parse
import urllib.request

from engine_case import BUILD, PATIENCE_S, SOURCE, EngineCase, free_port, until

sys.path.append("/usr/lib/python3/dist-packages")  # also under a python3 that is not Debian's
try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
    from prometheus_client.parser import text_string_to_metric_families as read_text
except ImportError:
    read_open = None

SERIES_MAX = 1500
HEARTBEAT_LIMIT_S = 0.3  # three intervals
REATTACH_LIMIT_S = 1
OPEN = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
# Of an engine that is gone there is nothing else.
WITHOUT_ENGINE = ("vitrine_up", "vitrine_exporter_", "vitrine_http_", "process_")


def get(url, accept="*/*"):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return answer.headers["Content-Type"], answer.read().decode("utf-8")


def series_of(families):
    """{(name, labels): value}; fails when a series is there twice."""
    found = {}
    for family in families:
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            if key in found:
                raise AssertionError(f"twice: {key}")
            found[key] = sample.value
    return found


def is_own(name):
    return name.startswith(WITHOUT_ENGINE)


class Served(EngineCase):
    def start_http(self, **more_environment):
        http = self.start(BUILD / "bin/vitrine-http", "--segment", self.segment, "--listen",
                          "127.0.0.1:0", env={**self.environment, **more_environment})
        self.url = http.stdout.readline().split()[-1].rstrip("/") + "/metrics"

    def start_crowded(self):
        crowded = self.start(BUILD / "bin/system_crowded_engine", self.segment)
        self.assertEqual(crowded.stdout.readline(), "published\n")

    def judged(self):
        """What both formats have, after every judge has had its say."""
        content_type, text = get(self.url)
        self.assertEqual(content_type, "text/plain; version=0.0.4; charset=utf-8")
        done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(),
                              capture_output=True, timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        by_text = series_of(read_text(text))
        content_type, text = get(self.url, OPEN)
        self.assertEqual(content_type,
                         "application/openmetrics-text; version=1.0.0; charset=utf-8")
        by_open = series_of(read_open(text))
        self.assertLess(len(by_text), SERIES_MAX)
        return by_text, by_open

    def scrape(self):
        return series_of(read_text(get(self.url)[1]))

    def value(self, series, name, **labels):
        return series.get((name, tuple(sorted(labels.items()))))


class Format(Served):
    def test_hostile_names_pass_every_judge(self):
        """X1"""
        self.start_crowded()
        self.start_http()
        by_text, by_open = self.judged()
        self.assertEqual(set(by_text), set(by_open))
        for key in by_text:
            if not is_own(key[0]) and not key[0].endswith("_timestamp_seconds"):  # it beats
                self.assertEqual(by_text[key], by_open[key], key)
        kinds = {dict(labels)["proof_kind"] for name, labels in by_open
                 if name == "vitrine_jobs_submitted_total"}
        self.assertEqual(kinds, {'quo"te', "line\nfeed", "bad\ufffd", "\ufffd\ufffd\ufffd",
                                 "\U0001f525", "</script>", "back\\slash", "tab\ufffdcr\ufffdend",
                                 "other"})


class German(Served):
    def test_a_locale_changes_no_number(self):
        """X1"""
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8",
                               self.path / "de_DE.UTF-8"], capture_output=True, check=False)
        german = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(self.path)}
        point = subprocess.run(["locale", "decimal_point"], capture_output=True, text=True,
                               check=False, env={**os.environ, **german}).stdout
        if point != ",\n":
            print("not tested: no German locale can be made here:", made.stderr)
            return
        self.start_crowded()
        self.start_http(**german)
        by_text, _ = self.judged()
        self.assertEqual(self.value(by_text, "vitrine_worker_busy_seconds_total", worker="0"), 1.25)


class Engine(Served):
    def test_an_engine_passes_every_judge_while_it_proves(self):
        """X1"""
        self.start_engine()
        self.start_http()
        until(lambda: self.value(self.scrape(), "vitrine_ready") == 1)
        self.submit()
        done = {"proof_kind": "demo", "result": "done"}
        last = {}

        def is_done():
            by_text, _ = self.judged()
            for key, value in by_text.items():
                if key[0].endswith(("_total", "_count", "_bucket", "_sum")):
                    self.assertGreaterEqual(value, last.get(key, 0), key)
            last.update(by_text)
            return self.value(by_text, "vitrine_jobs_finished_total", **done)

        until(is_done)
        series = self.scrape()
        self.assertEqual(self.value(series, "vitrine_partitions_finished_total", **done), 10)
        phase = {"proof_kind": "demo", "phase": "gpu_proving"}
        name = "vitrine_partition_phase_duration_seconds_count"
        self.assertEqual(self.value(series, name, **phase), 10)
        counters = json.loads(get(self.url.replace("/metrics", "/status"))[1])["counters"]
        self.assertEqual(counters["completed_by_kind"], {"demo": 1})

    def test_an_engine_that_was_killed_is_not_up_and_has_no_series(self):
        """X3"""
        self.start_http()
        self.assertEqual(self.value(self.scrape(), "vitrine_up"), 0)
        descriptors = None
        for number in range(int(os.environ.get("VITRINE_TEST_ENGINE_KILLS", "10"))):
            last_inode = self.segment.stat().st_ino if self.segment.exists() else 0
            engine = self.start_engine()
            until(lambda: self.segment.exists() and self.segment.stat().st_ino != last_inode)
            self.within(REATTACH_LIMIT_S, 1)
            series = self.scrape()
            self.assertEqual(self.value(series, "vitrine_exporter_reattaches_total"), number)
            self.assertGreater(len(series), 100)
            self.processes.remove(engine)
            engine.kill()
            engine.communicate()
            self.within(HEARTBEAT_LIMIT_S, 0)
            series = self.scrape()
            self.assertEqual([name for name, _ in series if not is_own(name)], [])
            now_open = self.value(series, "process_open_fds")
            descriptors = descriptors or now_open
            self.assertEqual(now_open, descriptors)

    def within(self, limit_s, up):
        """No scrape that begins later than the limit tells another story than `up`."""
        limit = time.monotonic() + limit_s
        while True:
            began = time.monotonic()
            if self.value(self.scrape(), "vitrine_up") == up:
                return
            self.assertLess(began, limit)


class Prometheus(Served):
    def start_prometheus(self):
        port = free_port()
        target = urllib.parse.urlsplit(self.url).netloc
        configuration = self.path / "prometheus.yml"
        configuration.write_text(json.dumps({"scrape_configs": [
            {"job_name": "vitrine", "scrape_interval": "1s", "scrape_timeout": "1s",
             "static_configs": [{"targets": [target]}]}]}), encoding="utf-8")
        self.start("prometheus", f"--config.file={configuration}",
                   f"--storage.tsdb.path={self.path / 'store'}",
                   f"--web.listen-address=127.0.0.1:{port}")
        self.prometheus = f"http://127.0.0.1:{port}"

    def query(self, expression):
        """[(labels, value)]; nothing while Prometheus is starting."""
        try:
            answer = get(f"{self.prometheus}/api/v1/query?"
                         + urllib.parse.urlencode({"query": expression}))[1]
        except OSError:
            return []
        return [(row["metric"], float(row["value"][1]))
                for row in json.loads(answer)["data"]["result"]]

    def test_the_example_configuration_is_one(self):
        example = SOURCE / "docs/monitoring/prometheus.yml"
        done = subprocess.run(["promtool", "check", "config", example], capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_prometheus_stores_every_series(self):
        """X1"""
        self.start_crowded()
        self.start_http()
        self.start_prometheus()
        until(lambda: [value for _, value in self.query('up{job="vitrine"}')] == [1])
        scraped = until(lambda: self.query("scrape_samples_scraped"))[0][1]
        self.assertEqual(scraped, len(self.scrape()))
        until(lambda: len(self.query('{job="vitrine",__name__!~"up|scrape_.*"}')) == scraped)
        self.assertEqual(self.query("vitrine_up")[0][1], 1)
        kinds = {labels["proof_kind"] for labels, _ in self.query("vitrine_jobs_submitted_total")}
        self.assertLessEqual({'quo"te', "line\nfeed", "\U0001f525", "</script>"}, kinds)
        self.assert_nothing_was_dropped()

    def test_prometheus_follows_an_engine_that_proves_and_is_killed(self):
        """X1 X3"""
        engine = self.start_engine()
        self.start_http()
        self.start_prometheus()
        until(lambda: [value for _, value in self.query("vitrine_ready")] == [1])
        self.submit()
        done = 'vitrine_partitions_finished_total{proof_kind="demo",result="done"}'
        until(lambda: [value for _, value in self.query(done)] == [10])
        engine.kill()
        until(lambda: [value for _, value in self.query("vitrine_up")] == [0])
        until(lambda: self.query(done) == [])
        self.assertEqual(self.query('up{job="vitrine"}')[0][1], 1)
        self.assert_nothing_was_dropped()

    def assert_nothing_was_dropped(self):
        own = get(self.prometheus + "/metrics")[1]
        for bad in ("sample_duplicate_timestamp", "sample_out_of_order", "exceeded_sample_limit"):
            self.assertIn(f"prometheus_target_scrapes_{bad}_total 0\n", own)


if __name__ == "__main__":
    if read_open is None or shutil.which("promtool") is None:
        print("not tested: needs Debian's prometheus and python3-prometheus-client")
        sys.exit(0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    unittest.main(argv=sys.argv[:1], verbosity=2,
                  defaultTest=sys.argv[3:] or ["Format", "Engine", "Prometheus"])
