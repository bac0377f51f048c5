// SPDX-License-Identifier: Apache-2.0
// From a circom source to a proving key, with the peers' own programs: circom compiles, snarkjs
// runs both phases of the ceremony. Nothing of Vitrine takes part.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import * as snarkjs from 'snarkjs';

const require = createRequire(import.meta.url);
const circomProgram = path.join(path.dirname(require.resolve('circom2/package.json')), 'cli.js');

// Compiles `source` into `folder`, with `more` flags. Returns the paths of the constraints and of
// the program that computes witnesses.
export function compile(source, curve, folder, more = []) {
  const name = path.basename(source, '.circom');
  const argumentList = [source, '--r1cs', '--wasm', '--prime', curve, '-o', folder, ...more];
  execFileSync(process.execPath, [circomProgram, ...argumentList], { stdio: 'pipe' });
  return {
    r1cs: path.join(folder, `${name}.r1cs`),
    wasm: path.join(folder, `${name}_js`, `${name}.wasm`),
  };
}

function entropy() {
  return randomBytes(32).toString('hex');
}

// Phase 1 for up to 2^power constraints, with one contribution. Returns the file's path.
export async function powersOfTau(curve, power, folder) {
  const step = (name) => path.join(folder, `${curve}_${power}_${name}.ptau`);
  const snarkjsCurve = await snarkjs.curves.getCurveFromName(curve);
  await snarkjs.powersOfTau.newAccumulator(snarkjsCurve, power, step('new'));
  await snarkjs.powersOfTau.contribute(step('new'), step('contributed'), 'first', entropy());
  await snarkjs.powersOfTau.preparePhase2(step('contributed'), step('prepared'));
  return step('prepared');
}

// Phase 2: `uncontributed` is the key before any contribution, `key` the one after it.
export async function phase2(r1cs, ptau, folder) {
  const uncontributed = path.join(folder, 'circuit_0000.zkey');
  const key = path.join(folder, 'circuit.zkey');
  await snarkjs.zKey.newZKey(r1cs, ptau, uncontributed);
  await snarkjs.zKey.contribute(uncontributed, key, 'first', entropy());
  return { uncontributed, key };
}

export async function exportVerificationKey(key, file) {
  await writeJson(file, await snarkjs.zKey.exportVerificationKey(key));
}

// snarkjs keeps worker threads per curve, which keep the process alive until they are stopped.
export async function stopPeers() {
  await globalThis.curve_bn128?.terminate();
  await globalThis.curve_bls12381?.terminate();
}

export async function writeJson(file, value) {
  await writeFile(file, JSON.stringify(value, null, 1));
}

export async function readJson(file) {
  return JSON.parse(await readFile(file, 'utf8'));
}
