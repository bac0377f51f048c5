// SPDX-License-Identifier: Apache-2.0
// Asks both verifiers about one proof, so that a test cannot forget one of them.
import path from 'node:path';
import * as snarkjs from 'snarkjs';
import { readJson, writeJson } from './ceremony.mjs';
import { run } from './programs.mjs';

// `statement` is {key, publicValues, proof}, each parsed JSON. Returns each verifier's word:
// 'accepted', 'refused', or for Vitrine the exit code where it is neither 0 nor 1.
export async function verdicts(statement, folder) {
  return {
    snarkjs: await snarkjsVerdict(statement),
    vitrine: await vitrineVerdict(statement, folder),
  };
}

export const bothAccept = { snarkjs: 'accepted', vitrine: 'accepted' };
export const bothRefuse = { snarkjs: 'refused', vitrine: 'refused' };

async function snarkjsVerdict({ key, publicValues, proof }) {
  try {
    return (await snarkjs.groth16.verify(key, publicValues, proof)) ? 'accepted' : 'refused';
  } catch {
    // snarkjs throws where a point cannot be decoded.
    return 'refused';
  }
}

async function vitrineVerdict({ key, publicValues, proof }, folder) {
  const files = ['vkey.json', 'public.json', 'proof.json'].map((name) => path.join(folder, name));
  const values = [key, publicValues, proof];
  await Promise.all(files.map((file, i) => writeJson(file, values[i])));
  const [vkey, publicFile, proofFile] = files;
  const { status } = run('vitrine-verify', [
    '--vkey', vkey, '--proof', proofFile, '--public', publicFile,
  ]);
  return { 0: 'accepted', 1: 'refused' }[status] ?? `exit ${status}`;
}

export async function readStatement(key, publicValues, proof) {
  return {
    key: await readJson(key),
    publicValues: await readJson(publicValues),
    proof: await readJson(proof),
  };
}

// Every number inside `value`, as the list of keys that leads to it.
export function numberPaths(value, prefix = []) {
  if (typeof value === 'string') {
    return /^[0-9]+$/.test(value) ? [prefix] : [];
  }
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]) => numberPaths(inner, [...prefix, key]));
}

// A copy of `value` in which the lowest bit of the number at `steps` is flipped.
export function withChangedBit(value, steps) {
  const copy = structuredClone(value);
  const last = steps[steps.length - 1];
  const holder = steps.slice(0, -1).reduce((inner, key) => inner[key], copy);
  holder[last] = (BigInt(holder[last]) ^ 1n).toString();
  return copy;
}
