// SPDX-License-Identifier: Apache-2.0
// What every worker has in hand, or why it is idle.
import { element, table } from './elements.js';
import { duration, words } from './quantity_text.js';

function inHand(worker) {
  if (worker.state !== 'proving') {
    return worker.idle_reason === 'none' ? '' : words(worker.idle_reason);
  }
  return `job ${worker.job}, partition ${worker.partition}, ${words(worker.stage)}`;
}

export function showWorkers(place, snapshot) {
  if (snapshot.workers.length === 0) {
    place.replaceChildren(element('p', {class: 'note'}, 'No worker.'));
    return;
  }
  place.replaceChildren(table(
    ['worker', 'device', 'state', 'what', 'for', 'done', 'failed'],
    snapshot.workers.map((worker) => [
      String(worker.row),
      worker.device === null ? '–' : String(worker.device),
      element('span', {class: `state ${worker.state}`}, worker.state),
      inHand(worker),
      duration(worker.since_age_seconds),
      String(worker.partitions_done),
      String(worker.partitions_failed),
    ])));
}
