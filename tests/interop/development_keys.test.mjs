// SPDX-License-Identifier: Apache-2.0
// Keys that vitrine-genkey makes are keys to snarkjs too.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import path from 'node:path';
import * as snarkjs from 'snarkjs';
import { readJson, stopPeers } from './ceremony.mjs';
import { circuits, curves, dataFolder } from './circuits.mjs';
import { run, runExpectingSuccess, withScratchFolder } from './programs.mjs';
import { bothAccept, readStatement, verdicts } from './verdicts.mjs';

// Both provers prove with the key in `folder`; both verifiers accept both proofs, with the
// verifying key in the folder and with the one snarkjs derives from the proving key.
async function checkKey(folder, witness) {
  const key = path.join(folder, 'circuit.zkey');
  const vkey = await readJson(path.join(folder, 'verification_key.json'));
  const derived = await snarkjs.zKey.exportVerificationKey(key);

  const made = await snarkjs.groth16.prove(key, witness);
  runExpectingSuccess('vitrine-prove', ['--zkey', key, '--wtns', witness, '--out', folder]);
  const ours = await readStatement(
    path.join(folder, 'verification_key.json'),
    path.join(folder, 'public.json'),
    path.join(folder, 'proof.json'),
  );
  assert.deepEqual(ours.publicValues, made.publicSignals);
  for (const verifyingKey of [vkey, derived]) {
    for (const proof of [made.proof, ours.proof]) {
      const statement = { key: verifyingKey, publicValues: ours.publicValues, proof };
      assert.deepEqual(await verdicts(statement, folder), bothAccept);
    }
  }
}

describe('development keys', () => {
  after(stopPeers);
  for (const curve of curves) {
    for (const { name } of circuits) {
      const committed = path.join(dataFolder, curve, name);
      const r1cs = path.join(committed, 'circuit.r1cs');
      it(`from the constraints of ${curve}/${name} work in both provers`, () =>
        withScratchFolder(async (scratch) => {
          runExpectingSuccess('vitrine-genkey', ['--r1cs', r1cs, '--insecure', '--out', scratch]);
          await checkKey(scratch, path.join(committed, 'witness.1.wtns'));
        }));
    }
  }

  for (const curve of curves) {
    for (const circuit of ['chain', 'sha256', 'poseidon-like']) {
      it(`of the synthetic circuit ${circuit} work in both provers, ${curve}`, () =>
        withScratchFolder(async (scratch) => {
          runExpectingSuccess('vitrine-genkey', [
            '--circuit', circuit, '--log2', '10', '--curve', curve, '--insecure', '--out', scratch,
          ]);
          await checkKey(scratch, path.join(scratch, 'witness.wtns'));
        }));
    }
  }

  it('are made only when asked for by --insecure', () =>
    withScratchFolder((scratch) => {
      const r1cs = path.join(dataFolder, 'bn128', 'multiplier', 'circuit.r1cs');
      const { status, stderr } = run('vitrine-genkey', ['--r1cs', r1cs, '--out', scratch]);
      assert.equal(status, 2);
      assert.match(stderr, /insecure/);
    }));
});
