// SPDX-License-Identifier: Apache-2.0
// The engine makes witnesses with the programs that circom compiles a circuit to, and with snarkjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { after, describe, it } from 'node:test';
import path from 'node:path';
import { compile, readJson, stopPeers, writeJson } from './ceremony.mjs';
import { circuits, curves, dataFolder } from './circuits.mjs';
import { withDaemon } from './daemon.mjs';
import { withScratchFolder } from './programs.mjs';
import { bothAccept, readStatement, verdicts } from './verdicts.mjs';

const require = createRequire(import.meta.url);
const snarkjsProgram = path.join(path.dirname(require.resolve('snarkjs')), 'cli.cjs');
const demo = circuits.find(({ name }) => name === 'demo');

function hasProgram(...command) {
  try {
    execFileSync(command[0], command.slice(1), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

// What circom's C++ needs besides a compiler: an assembler, GMP and a JSON library.
function lacksCppTools() {
  const header = '#include <gmp.h>\n#include <nlohmann/json.hpp>\n';
  const compiles = () =>
    execFileSync('g++', ['-fsyntax-only', '-xc++', '-'], { input: header, stdio: 'pipe' });
  try {
    compiles();
  } catch {
    return 'g++, libgmp-dev and nlohmann-json3-dev are not all here';
  }
  return hasProgram('nasm', '-v') && hasProgram('make', '-v') ? false : 'no nasm or make here';
}

function configuration(curve, command) {
  const key = path.join(dataFolder, curve, 'demo', 'circuit.zkey');
  return `[circuit.demo]\nzkey = "${key}"\nwitness_command = ${JSON.stringify(command)}\n`;
}

async function proveInput(vitrine, input, scratch) {
  const file = path.join(scratch, 'in.json');
  await writeJson(file, input);
  const submitted = vitrine(['submit', '--circuit', 'demo', '--input', file]);
  assert.equal(submitted.status, 0, submitted.stderr);
  return vitrine(['wait', submitted.stdout.trim(), '--out', scratch]);
}

// Jobs of inputs are proved as snarkjs would prove them; an input that is not whole is refused
// with the generator's own words.
async function checkCommand(curve, command, said) {
  const { name } = demo;
  const folder = path.join(dataFolder, curve, name);
  await withScratchFolder((scratch) =>
    withDaemon(configuration(curve, command), scratch, async (vitrine) => {
      const done = await proveInput(vitrine, demo.input(1), scratch);
      assert.equal(done.status, 0, done.stderr);
      const statement = await readStatement(
        path.join(folder, 'verification_key.json'),
        path.join(scratch, 'public.json'),
        path.join(scratch, 'proof.json'),
      );
      assert.deepEqual(await verdicts(statement, scratch), bothAccept);
      assert.deepEqual(statement.publicValues, await readJson(path.join(folder, 'public.json')));
      const failed = await proveInput(vitrine, { preimage: '1' }, scratch);
      assert.equal(failed.status, 1);
      assert.match(failed.stderr, said);
    }),
  );
}

async function withCompiled(curve, more, body) {
  await withScratchFolder((scratch) =>
    body(compile(path.join(dataFolder, 'circuits', 'demo.circom'), curve, scratch, more), scratch));
}

describe('witness_command', () => {
  after(stopPeers);
  for (const curve of curves) {
    it(`may be circom's program for node, ${curve}`, () =>
      withCompiled(curve, [], ({ wasm }) => {
        const program = path.join(path.dirname(wasm), 'generate_witness.js');
        const command = [process.execPath, program, wasm, '{input}', '{witness}'];
        return checkCommand(curve, command, /exited with 1: Error: Not all inputs have been set/);
      }));
    it(`may be snarkjs, ${curve}`, () =>
      withCompiled(curve, [], ({ wasm }) => {
        const command = [process.execPath, snarkjsProgram, 'wtns', 'calculate', wasm];
        return checkCommand(curve, [...command, '{input}', '{witness}'], /exited with 1/);
      }));
    it(`may be circom's C++ program, ${curve}`, { skip: lacksCppTools() }, () =>
      withCompiled(curve, ['--c'], (_, scratch) => {
        const folder = path.join(scratch, 'demo_cpp');
        execFileSync('make', ['-C', folder, 'CFLAGS=-std=c++11 -O1 -I.'], { stdio: 'pipe' });
        const command = [path.join(folder, 'demo'), '{input}', '{witness}'];
        return checkCommand(curve, command, /was ended by signal 6/);
      }));
  }
});
