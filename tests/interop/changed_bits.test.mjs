// SPDX-License-Identifier: Apache-2.0
// One changed bit, wherever it is, is refused by snarkjs and by Vitrine.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as snarkjs from 'snarkjs';
import { stopPeers } from './ceremony.mjs';
import { curves, dataFolder } from './circuits.mjs';
import { run, withScratchFolder } from './programs.mjs';
import { bothRefuse, numberPaths, readStatement, verdicts, withChangedBit } from './verdicts.mjs';

const kCircuit = 'demo';

function statementOf(folder) {
  const files = ['verification_key.json', 'public.json', 'proof.json'];
  return readStatement(...files.map((file) => path.join(folder, file)));
}

// `vk_alphabeta_12` is a pairing that the file carries along; both verifiers compute it themselves.
function isRead(steps) {
  return steps[0] !== 'vk_alphabeta_12';
}

async function checkEveryNumber(statement, part, scratch) {
  const places = numberPaths(statement[part]).filter(isRead);
  assert.ok(places.length > 0);
  for (const steps of places) {
    const changed = { ...statement, [part]: withChangedBit(statement[part], steps) };
    assert.deepEqual(await verdicts(changed, scratch), bothRefuse, `${part} ${steps.join('.')}`);
  }
}

// Where each section's bytes lie in a zkey: type -> {start, length}.
function sectionsOf(file) {
  const sections = new Map();
  let position = 12;
  for (let left = file.readUInt32LE(8); left > 0; left--) {
    const length = Number(file.readBigUInt64LE(position + 4));
    sections.set(file.readUInt32LE(position), { start: position + 12, length });
    position += 12 + length;
  }
  return sections;
}

const kZkeyPlaces = [
  { section: 2, what: 'the header points' },
  { section: 3, what: 'IC' },
  { section: 4, what: 'a coefficient' },
  { section: 5, what: 'A' },
  { section: 6, what: 'B1' },
  { section: 7, what: 'B2' },
  { section: 8, what: 'L' },
  { section: 9, what: 'H' },
];

const kCoefficientBytes = 44;

// The offset of a byte in the middle of the section that holds a value, not an index.
function placeIn(sections, section) {
  const { start, length } = sections.get(section);
  if (section !== 4) {
    return start + Math.floor(length / 2);
  }
  const middle = Math.floor((length - 4) / kCoefficientBytes / 2);
  return start + 4 + middle * kCoefficientBytes + 12;
}

// The verifying key is the damaged key's own, because IC serves verifiers only.
async function provedBySnarkjs(key, witness) {
  const made = await snarkjs.groth16.prove(key, witness);
  const verifyingKey = await snarkjs.zKey.exportVerificationKey(key);
  return { key: verifyingKey, publicValues: made.publicSignals, proof: made.proof };
}

// Either no proof comes out, or one that nobody accepts.
async function checkChangedKey(folder, section, scratch) {
  const file = await readFile(path.join(folder, 'circuit.zkey'));
  file[placeIn(sectionsOf(file), section)] ^= 1;
  const key = path.join(scratch, 'changed.zkey');
  await writeFile(key, file);
  const witness = path.join(folder, 'witness.1.wtns');

  const { status, stderr } = run('vitrine-prove', [
    '--zkey', key, '--wtns', witness, '--out', scratch,
  ]);
  assert.notEqual(status, 0, 'vitrine-prove made a proof with a damaged key');
  assert.notEqual(stderr.trim(), '', 'vitrine-prove did not say why');

  const statement = await provedBySnarkjs(key, witness).catch(() => null);
  if (statement !== null) {
    assert.deepEqual(await verdicts(statement, scratch), bothRefuse);
  }
}

describe('one changed bit', () => {
  after(stopPeers);
  for (const curve of curves) {
    const folder = path.join(dataFolder, curve, kCircuit);
    for (const part of ['proof', 'publicValues', 'key']) {
      it(`in any number of the ${part} is refused by both verifiers, ${curve}`, () =>
        withScratchFolder(async (scratch) =>
          checkEveryNumber(await statementOf(folder), part, scratch)));
    }
    for (const { section, what } of kZkeyPlaces) {
      it(`in ${what} of the proving key gives no proof, ${curve}`, () =>
        withScratchFolder((scratch) => checkChangedKey(folder, section, scratch)));
    }
  }
});

describe('a proving key without a contribution', () => {
  for (const curve of curves) {
    it(`is refused, ${curve}`, () =>
      withScratchFolder((scratch) => {
        const folder = path.join(dataFolder, curve, 'multiplier');
        const { status, stderr } = run('vitrine-prove', [
          '--zkey', path.join(folder, 'circuit_0000.zkey'),
          '--wtns', path.join(folder, 'witness.1.wtns'),
          '--out', scratch,
        ]);
        assert.notEqual(status, 0);
        assert.match(stderr, /contribution/);
      }));
  }
});
