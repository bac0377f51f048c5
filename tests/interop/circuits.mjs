// SPDX-License-Identifier: Apache-2.0
// The committed circuits: what they are called, how large their ceremonies are, and their inputs.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';

export const dataFolder = fileURLToPath(new URL('../data', import.meta.url));

// Curves as snarkjs, circom and the key files name them.
export const curves = ['bn128', 'bls12381'];

// A field element that depends on `label` alone, so that inputs are the same on every run. 248 bits
// lie below both scalar fields.
function element(label) {
  return BigInt('0x' + createHash('sha256').update(label).digest('hex').slice(0, 62)).toString();
}

function word(label) {
  return String(createHash('sha256').update(label).digest().readUInt32LE(0));
}

function sha256RoundInput(index) {
  const input = {};
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'schedule']) {
    input[name] = index === 0 ? '0' : word(`sha256_round ${index} ${name}`);
  }
  return input;
}

// `power`: log2 of the ceremony's size. `witnesses`: how many are committed. `input(i)`: the inputs
// of witness i; index 0 is the extreme one, where most of the witness is zero.
export const circuits = [
  {
    name: 'multiplier',
    power: 8,
    witnesses: 3,
    input: (i) => ({
      a: i === 0 ? '0' : String(i + 2),
      b: i === 0 ? '0' : element(`multiplier ${i}`),
    }),
  },
  {
    name: 'demo',
    power: 8,
    witnesses: 10,
    input: (i) => ({ preimage: i === 0 ? '0' : element(`demo ${i}`), salt: String(1000 + i) }),
  },
  { name: 'sha256_round', power: 9, witnesses: 3, input: sha256RoundInput },
];
