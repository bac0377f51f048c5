// SPDX-License-Identifier: Apache-2.0
// Proofs of the committed circuits cross between snarkjs and Vitrine, in both directions.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import path from 'node:path';
import * as snarkjs from 'snarkjs';
import { readJson, stopPeers } from './ceremony.mjs';
import { circuits, curves, dataFolder } from './circuits.mjs';
import { runExpectingSuccess, withScratchFolder } from './programs.mjs';
import { bothAccept, readStatement, verdicts } from './verdicts.mjs';

async function checkAllWitnesses(circuit, folder, scratch) {
  const witnesses = Array.from({ length: circuit.witnesses }, (_, i) => [
    '--wtns', path.join(folder, `witness.${i}.wtns`),
  ]).flat();
  const key = path.join(folder, 'circuit.zkey');
  runExpectingSuccess('vitrine-prove', ['--zkey', key, ...witnesses, '--out', scratch]);
  for (let i = 0; i < circuit.witnesses; i++) {
    const statement = await readStatement(
      path.join(folder, 'verification_key.json'),
      path.join(scratch, `public.${i}.json`),
      path.join(scratch, `proof.${i}.json`),
    );
    assert.deepEqual(await verdicts(statement, scratch), bothAccept, `witness ${i}`);
  }
  const committed = await readJson(path.join(folder, 'public.json'));
  assert.deepEqual(await readJson(path.join(scratch, 'public.1.json')), committed);
}

async function checkPeersHabit(folder, scratch) {
  const [key, witness, vkey] = ['circuit.zkey', 'witness.1.wtns', 'verification_key.json'].map(
    (name) => path.join(folder, name),
  );
  const proof = path.join(scratch, 'made_proof.json');
  const publicValues = path.join(scratch, 'made_public.json');
  runExpectingSuccess('vitrine-prove', [key, witness, proof, publicValues]);
  assert.deepEqual(
    await verdicts(await readStatement(vkey, publicValues, proof), scratch),
    bothAccept,
  );
  runExpectingSuccess('vitrine-verify', [vkey, publicValues, proof]);
}

async function checkSnarkjsProof(folder, scratch) {
  const made = await snarkjs.groth16.prove(
    path.join(folder, 'circuit.zkey'),
    path.join(folder, 'witness.0.wtns'),
  );
  const key = await readJson(path.join(folder, 'verification_key.json'));
  const statement = { key, publicValues: made.publicSignals, proof: made.proof };
  assert.deepEqual(await verdicts(statement, scratch), bothAccept);
}

describe('proofs of the committed circuits', () => {
  after(stopPeers);
  for (const curve of curves) {
    for (const circuit of circuits) {
      const name = `${curve}/${circuit.name}`;
      const folder = path.join(dataFolder, name);
      it(`of ${name}, made by vitrine-prove, are accepted for every witness`, () =>
        withScratchFolder((scratch) => checkAllWitnesses(circuit, folder, scratch)));
      it(`of ${name}, made with positional arguments, are accepted`, () =>
        withScratchFolder((scratch) => checkPeersHabit(folder, scratch)));
      it(`of ${name}, made by snarkjs now, are accepted`, () =>
        withScratchFolder((scratch) => checkSnarkjsProof(folder, scratch)));
      it(`of ${name}, made by snarkjs and committed, are accepted`, () =>
        withScratchFolder(async (scratch) => {
          const files = ['verification_key.json', 'public.json', 'proof.json'];
          const statement = await readStatement(...files.map((file) => path.join(folder, file)));
          assert.deepEqual(await verdicts(statement, scratch), bothAccept);
        }));
    }
  }
});
