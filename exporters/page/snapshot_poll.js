// SPDX-License-Identifier: Apache-2.0
// Fetches /api/v1/snapshot over and over and knows how long ago the last answer came. Every request
// has a deadline, so that an exporter which hangs is noticed as fast as one that is gone.

const DEADLINE_MS = 1200;

export class SnapshotPoll {
  constructor(intervalMs) {
    this.intervalMs = intervalMs;
    this.snapshot = null; // the last answer, however old
    this.answeredMs = 0; // when it came, on the page's own clock
    this.fault = ''; // why the last request failed
    this.onchange = () => {};
  }

  start() {
    this.turn();
  }

  // How old the newest answer is.
  ageMs() {
    return this.snapshot ? performance.now() - this.answeredMs : Infinity;
  }

  async turn() {
    const began = performance.now();
    await this.fetchOnce();
    this.onchange();
    const rest = this.intervalMs - (performance.now() - began);
    setTimeout(() => this.turn(), Math.max(rest, 50));
  }

  async fetchOnce() {
    try {
      const answer = await fetch('/api/v1/snapshot', {
        cache: 'no-store',
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      if (!answer.ok) throw new Error(`the exporter answered ${answer.status}`);
      this.snapshot = await answer.json();
      this.answeredMs = performance.now();
      this.fault = '';
    } catch (error) {
      this.fault = error.name === 'TimeoutError' ? 'the exporter does not answer' :
                   error instanceof TypeError ? 'the exporter cannot be reached' : error.message;
    }
  }
}
