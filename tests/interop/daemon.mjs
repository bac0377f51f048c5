// SPDX-License-Identifier: Apache-2.0
// A vitrined of a test's own, with everything it has in one folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './programs.mjs';

// Calls `body` with a function that runs `vitrine`, as run() does, against a vitrined that was
// started with the configuration; the daemon is gone however the call ends.
export async function withDaemon(configuration, folder, body) {
  const at = (name) => path.join(folder, name);
  await writeFile(at('vitrined.toml'), configuration);
  const daemon = spawn(
    path.join(process.env.VITRINE_BIN, 'vitrined'),
    ['--config', at('vitrined.toml'), '--instance', `interop-${process.pid}`,
      '--segment', at('segment'), '--socket', at('api.sock'),
      '--spool-directory', at('spool'), '--job-store', at('jobs.db')],
    { stdio: 'ignore', env: { ...process.env, XDG_RUNTIME_DIR: folder } },
  );
  const ended = once(daemon, 'exit');
  try {
    const place = ['--segment', at('segment'), '--any-filesystem'];
    return await body((argumentList) => run('vitrine', [...argumentList, ...place]));
  } finally {
    daemon.kill('SIGKILL');
    await ended;
  }
}
