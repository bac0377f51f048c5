// SPDX-License-Identifier: Apache-2.0
// From circom source to accepted proof in one go, with a ceremony held during the test.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import path from 'node:path';
import * as snarkjs from 'snarkjs';
import {
  compile, exportVerificationKey, phase2, powersOfTau, stopPeers,
} from './ceremony.mjs';
import { circuits, dataFolder } from './circuits.mjs';
import { runExpectingSuccess, withScratchFolder } from './programs.mjs';
import { bothAccept, readStatement, verdicts } from './verdicts.mjs';

const kCurve = 'bn128';
const kPower = 8;
const kInput = { preimage: '31415926535897932384626433832795', salt: '2718281828' };

async function checkCeremony(scratch) {
  const circuit = circuits.find(({ name }) => name === 'demo');
  const source = path.join(dataFolder, 'circuits', `${circuit.name}.circom`);
  const { r1cs, wasm } = compile(source, kCurve, scratch);
  const ptau = await powersOfTau(kCurve, kPower, scratch);
  const { key } = await phase2(r1cs, ptau, scratch);
  assert.equal(await snarkjs.zKey.verifyFromR1cs(r1cs, ptau, key), true);
  const vkey = path.join(scratch, 'verification_key.json');
  await exportVerificationKey(key, vkey);
  const witness = path.join(scratch, 'witness.wtns');
  await snarkjs.wtns.calculate(kInput, wasm, witness);

  const out = path.join(scratch, 'proof.json');
  runExpectingSuccess('vitrine-prove', ['--zkey', key, '--wtns', witness, '--out', scratch]);
  const statement = await readStatement(vkey, path.join(scratch, 'public.json'), out);
  assert.equal(statement.publicValues[1], kInput.salt);
  assert.deepEqual(await verdicts(statement, scratch), bothAccept);
}

describe('a live ceremony', () => {
  after(stopPeers);
  it('gives a key whose proofs are accepted', () => withScratchFolder(checkCeremony));
});
