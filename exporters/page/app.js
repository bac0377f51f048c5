// SPDX-License-Identifier: Apache-2.0
// The page: asks for a snapshot twice a second and shows it. Never shows an old number as new:
// whatever is not from a live engine within the last seconds is greyed and says so.
import { showCounters } from './counters_view.js';
import { show } from './elements.js';
import { showJobs, showLegend } from './jobs_view.js';
import { showMemory } from './memory_view.js';
import { SnapshotPoll } from './snapshot_poll.js';
import { showEngine, showVerdict, verdictOf } from './verdict_view.js';
import { showWorkers } from './workers_view.js';

const POLL_MS = 500;

function render(poll) {
  const verdict = verdictOf(poll);
  showVerdict(verdict);
  document.body.classList.toggle('old', verdict.old);
  const snapshot = poll.snapshot;
  if (!snapshot) return;
  showJobs(show('jobs'), snapshot);
  showWorkers(show('workers'), snapshot);
  showMemory(show('memory'), snapshot);
  showCounters(show('counters'), snapshot);
  showEngine(show('engine'), snapshot);
}

showLegend(show('legend'));
const poll = new SnapshotPoll(POLL_MS);
poll.onchange = () => render(poll);
poll.start();
