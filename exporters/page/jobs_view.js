// SPDX-License-Identifier: Apache-2.0
// Jobs, newest first, each with one square a partition, coloured by stage.
import { element } from './elements.js';
import { duration, words } from './quantity_text.js';

const STAGES = ['pending', 'witnessing', 'synthesizing', 'gpu_queued', 'gpu_proving', 'finishing',
  'done', 'failed', 'cancelled'];
const MAX_JOBS = 40;

export function showLegend(place) {
  place.replaceChildren(...STAGES.map((stage) =>
    element('li', {}, element('span', {class: `square ${stage}`}), words(stage))));
}

function partitionsByJob(partitions) {
  const byJob = new Map();
  for (const partition of partitions) {
    if (!byJob.has(partition.job)) byJob.set(partition.job, []);
    byJob.get(partition.job).push(partition);
  }
  for (const list of byJob.values()) list.sort((a, b) => a.partition - b.partition);
  return byJob;
}

function square(partition) {
  const worker = partition.worker === null ? '' : `, worker ${partition.worker}`;
  const wait = partition.wait_reason === 'none' ? '' : `, waits for ${partition.wait_reason}`;
  const stage = partition.stage_name ?? words(partition.stage);
  const title = `partition ${partition.partition}: ${stage}${worker}${wait}`;
  return element('span', {class: `square ${partition.stage}`, title});
}

function elapsed(job) {
  const from = job.started_age_seconds ?? job.submitted_age_seconds;
  return from === null ? null : from - (job.finished_age_seconds ?? 0);
}

function remark(job) {
  if (job.failure_class !== 'none') return `${words(job.failure_class)}: ${job.failure ?? ''}`;
  if (job.failure) return job.failure;
  if (job.wait_reason !== 'none') {
    return `waits for ${job.wait_reason}, ${duration(job.wait_since_age_seconds)}`;
  }
  return '';
}

// A circuit whose proof kind has no name of its own is not named twice.
function circuitText(job) {
  return job.proof_kind === job.circuit ? job.circuit ?? '' :
    `${job.circuit ?? ''} ${job.proof_kind ?? ''}`;
}

function card(job, partitions) {
  const state = element('span', {class: `state ${job.state}`}, words(job.state));
  const head = element('div', {class: 'job-head'},
    element('b', {}, `#${job.job}`), ' ', state, ' ',
    element('span', {}, circuitText(job)), ' ',
    element('span', {class: 'count'},
      `${job.partitions_done}/${job.partitions} in ${duration(elapsed(job))}`));
  const squares = element('div', {
    class: 'squares', role: 'img',
    'aria-label': `${job.partitions_done} of ${job.partitions} partitions done`,
  }, ...partitions.map(square));
  const made = element('article', {class: 'job'}, head, squares);
  const text = remark(job);
  if (text) made.append(element('div', {class: 'remark'}, text));
  return made;
}

export function showJobs(place, snapshot) {
  const byJob = partitionsByJob(snapshot.partitions);
  const byId = (a, b) => Number(BigInt(b.job) - BigInt(a.job));
  const jobs = [...snapshot.jobs].sort(byId);
  if (jobs.length === 0) {
    place.replaceChildren(element('p', {class: 'note'}, 'No job yet.'));
    return;
  }
  const cards = jobs.slice(0, MAX_JOBS).map((job) => card(job, byJob.get(job.job) ?? []));
  if (jobs.length > MAX_JOBS) {
    cards.push(element('p', {class: 'note'}, `and ${jobs.length - MAX_JOBS} older jobs`));
  }
  place.replaceChildren(...cards);
}
