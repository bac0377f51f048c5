// SPDX-License-Identifier: Apache-2.0
// Runs Vitrine's programs as a user would: by their command line, judged by exit code and files.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const kLimitMs = 60000;

const folder = process.env.VITRINE_BIN;
if (!folder) {
  throw new Error('VITRINE_BIN is not set: start the tests with run.sh BIN');
}

// Returns {status, stdout, stderr}. A program that a signal ended, or that did not end in time,
// is an error whatever the test expects.
export function run(program, argumentList) {
  const ended = spawnSync(path.join(folder, program), argumentList, {
    encoding: 'utf8',
    timeout: kLimitMs,
    killSignal: 'SIGKILL',
  });
  if (ended.error || ended.status === null) {
    const why = ended.error?.message ?? `signal ${ended.signal}`;
    throw new Error(`${program} ${argumentList.join(' ')}: ${why}\n${ended.stderr}`);
  }
  return ended;
}

export function runExpectingSuccess(program, argumentList) {
  const ended = run(program, argumentList);
  if (ended.status !== 0) {
    const command = `${program} ${argumentList.join(' ')}`;
    throw new Error(`${command}: exit ${ended.status}\n${ended.stderr}${ended.stdout}`);
  }
  return ended;
}

// Calls `body` with a fresh folder and removes the folder however the call ends.
export async function withScratchFolder(body) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'vitrine-interop-'));
  try {
    return await body(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
