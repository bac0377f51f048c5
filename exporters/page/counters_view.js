// SPDX-License-Identifier: Apache-2.0
// Jobs by how they ended, for each proof kind, and the queues.
import { element, table } from './elements.js';
import { duration } from './quantity_text.js';

export function showCounters(place, snapshot) {
  const kinds = snapshot.counters.map((row) => [
    row.proof_kind, String(row.submitted), String(row.done), String(row.failed),
    String(row.cancelled), String(row.refused), String(row.partitions_done),
  ]);
  const queues = snapshot.queues.map((row) => [
    row.name, row.capacity === 0 ? String(row.depth) : `${row.depth}/${row.capacity}`,
    String(row.depth_peak),
    duration(row.oldest_age_seconds),
  ]);
  place.replaceChildren(
    kinds.length === 0 ? element('p', {class: 'note'}, 'Nothing counted yet.') :
      table(['proof kind', 'submitted', 'done', 'failed', 'cancelled', 'refused', 'partitions'],
        kinds),
    queues.length === 0 ? '' : table(['queue', 'depth', 'peak', 'oldest'], queues));
}
