// SPDX-License-Identifier: Apache-2.0
// The bar at the top: what the engine is doing, or why nobody can know.
import { element, show } from './elements.js';
import { duration } from './quantity_text.js';

const SILENT_AFTER_MS = 1000;
const GONE = new Set(['dead', 'exited', 'unreadable']);

// {word, reason, tone, old}: `old` when the numbers on the page are not of now.
export function verdictOf(poll) {
  if (poll.ageMs() > SILENT_AFTER_MS) {
    const since = poll.snapshot ? `; last answer ${duration(poll.ageMs() / 1000)} ago` : '';
    return {
      word: 'no exporter',
      reason: `${poll.fault || 'the exporter does not answer'}${since}`,
      tone: 'bad',
      old: true,
    };
  }
  const { verdict, reason } = poll.snapshot.engine;
  const age = poll.snapshot.snapshot_age_seconds;
  if (GONE.has(verdict)) {
    const known = age === null ? '' : `; last known state, ${duration(age)} old`;
    return { word: verdict, reason: `${reason}${known}`, tone: 'bad', old: true };
  }
  const tone = verdict === 'hung' ? 'bad' :
               verdict === 'degraded' || verdict === 'draining' ? 'warn' : 'good';
  return { word: verdict, reason, tone, old: verdict === 'hung' };
}

export function showVerdict(verdict) {
  show('verdict').className = `verdict ${verdict.tone}`;
  // Only a change is written, so that a screen reader speaks only changes.
  for (const [id, text] of [['verdict-word', verdict.word], ['verdict-reason', verdict.reason]]) {
    if (show(id).textContent !== text) show(id).textContent = text;
  }
  document.title = `${verdict.word} – Vitrine`;
}

export function showEngine(place, snapshot) {
  const engine = snapshot.engine;
  const facts = [
    ['instance', engine.instance],
    ['version', engine.engine_version],
    ['pid', engine.pid],
    ['uptime', duration(engine.started_age_seconds)],
    ['backend', engine.effective_backend],
    ['kernels', engine.kernel_path],
    ['snapshot', snapshot.seq],
  ];
  place.replaceChildren(...facts
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => element('span', {}, `${name} `, element('b', {}, String(value)))));
}
