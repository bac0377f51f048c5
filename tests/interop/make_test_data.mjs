// SPDX-License-Identifier: Apache-2.0
// Writes tests/data anew: compiled circuits, keys from real ceremonies, witnesses and snarkjs'
// proofs. Keys and proofs differ on every run, because ceremonies and proofs are random.
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as snarkjs from 'snarkjs';
import {
  compile, exportVerificationKey, phase2, powersOfTau, stopPeers, writeJson,
} from './ceremony.mjs';
import { circuits, curves, dataFolder } from './circuits.mjs';

// The circuit whose key is also kept without a contribution, which a prover must refuse.
const kUncontributedCircuit = 'multiplier';

async function makeCircuit(circuit, curve, ptau, scratch) {
  const folder = path.join(dataFolder, curve, circuit.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const inFolder = (name) => path.join(folder, name);

  const source = path.join(dataFolder, 'circuits', `${circuit.name}.circom`);
  const { r1cs, wasm } = compile(source, curve, scratch);
  await copyFile(r1cs, inFolder('circuit.r1cs'));
  const { uncontributed, key } = await phase2(r1cs, ptau, scratch);
  await copyFile(key, inFolder('circuit.zkey'));
  if (circuit.name === kUncontributedCircuit) {
    await copyFile(uncontributed, inFolder('circuit_0000.zkey'));
  }
  await exportVerificationKey(key, inFolder('verification_key.json'));

  for (let i = 0; i < circuit.witnesses; i++) {
    await snarkjs.wtns.calculate(circuit.input(i), wasm, inFolder(`witness.${i}.wtns`));
  }
  const made = await snarkjs.groth16.prove(key, inFolder('witness.1.wtns'));
  await writeJson(inFolder('proof.json'), made.proof);
  await writeJson(inFolder('public.json'), made.publicSignals);
}

async function makeCurve(curve) {
  const scratch = await mkdtemp(path.join(tmpdir(), 'vitrine-ceremony-'));
  try {
    const ptaus = new Map();
    for (const circuit of circuits) {
      if (!ptaus.has(circuit.power)) {
        ptaus.set(circuit.power, await powersOfTau(curve, circuit.power, scratch));
      }
      await makeCircuit(circuit, curve, ptaus.get(circuit.power), scratch);
      console.log(`made ${curve}/${circuit.name}`);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

for (const curve of curves) {
  await makeCurve(curve);
}
await stopPeers();
