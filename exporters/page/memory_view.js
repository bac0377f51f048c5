// SPDX-License-Identifier: Apache-2.0
// The byte budget by consumer, against what the process really holds, and the resident keys.
import { bar, element, table } from './elements.js';
import { bytes, duration } from './quantity_text.js';

export function showMemory(place, snapshot) {
  const memory = snapshot.memory;
  if (memory === null || memory.budget_bytes === null) {
    place.replaceChildren(element('p', {class: 'note'}, 'Nothing reported.'));
    return;
  }
  const parts = [
    { amount: memory.srs_bytes, name: `SRS ${bytes(memory.srs_bytes)}`, class: 'srs' },
    { amount: memory.pce_bytes, name: `PCE ${bytes(memory.pce_bytes)}`, class: 'pce' },
    { amount: memory.working_bytes, name: `partitions ${bytes(memory.working_bytes)}`,
      class: 'working' },
  ];
  const budget = bytes(memory.budget_bytes);
  const label = `${bytes(memory.reserved_bytes)} of ${budget} reserved`;
  const waiters = memory.waiters === 0 ? '' :
    `; ${memory.waiters} waiting for ${bytes(memory.waiting_bytes)}`;
  place.replaceChildren(
    bar(parts, memory.budget_bytes, label),
    element('p', {},
      `${label} (peak ${bytes(memory.reserved_peak_bytes)}), ` +
      `${bytes(memory.resident_bytes)} resident${waiters}`),
    element('ul', {class: 'legend'}, ...parts.map((part) =>
      element('li', {}, element('span', {class: `square ${part.class}`}), part.name))),
    allocations(snapshot.allocations));
}

function allocations(rows) {
  if (rows.length === 0) return element('p', {class: 'note'}, 'No key is resident.');
  return table(['circuit', 'kind', 'state', 'size', 'in use', 'last used'], rows.map((row) => [
    row.circuit ?? '–', row.kind, row.state, bytes(row.reserved_bytes), String(row.references),
    row.last_used_age_seconds === null ? 'never' : `${duration(row.last_used_age_seconds)} ago`,
  ]));
}
