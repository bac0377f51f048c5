// SPDX-License-Identifier: Apache-2.0
// Writes tests/data/known_answers from independent libraries; tests/data/README.md says what the
// fields mean. The same run always gives the same bytes.
import { mkdir, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { buildBls12381, buildBn128 } from 'ffjavascript';
import { dataFolder } from './circuits.mjs';

export const knownAnswersFolder = path.join(dataFolder, 'known_answers');
export const knownAnswerCurves = ['bn254', 'bls12381'];

const libraries = {
  bn254: { noble: bn254, buildPeer: buildBn128 },
  bls12381: { noble: bls12_381, buildPeer: buildBls12381 },
};

// A number below `limit` that depends on `label` alone; 512 hashed bits make it nearly uniform.
function number(label, limit) {
  return BigInt('0x' + createHash('sha512').update(label).digest('hex')) % limit;
}

const text = (value) => value.toString();

// One description per group hides that coordinates of G2 are pairs.
const groups = {
  g1: { name: 'G1', coordinate: (c) => text(c) },
  g2: { name: 'G2', coordinate: (c) => [text(c.c0), text(c.c1)] },
};

function multiply(point, scalar) {
  return point.multiplyUnsafe(scalar);
}

function affine(group, point) {
  const { x, y } = point.toAffine();
  return { x: group.coordinate(x), y: group.coordinate(y) };
}

function scalars(curve, label, count) {
  const order = curve.fields.Fr.ORDER;
  const edges = [0n, 1n, 2n, order - 1n];
  return edges.concat(Array.from({ length: count }, (_, i) => number(`${label} ${i}`, order)));
}

function multiples(curve, group) {
  const generator = curve[group.name].Point.BASE;
  return scalars(curve, `multiple ${group.name}`, 5).map((scalar) => ({
    scalar: text(scalar),
    ...affine(group, multiply(generator, scalar)),
  }));
}

function products(field, label) {
  const edges = [0n, 1n, 2n, field.ORDER - 1n];
  const numbers = Array.from({ length: 8 }, (_, i) => number(`${label} ${i}`, field.ORDER));
  const pairs = edges.flatMap((a) => edges.map((b) => [a, b]));
  for (let i = 0; i < numbers.length; i++) {
    pairs.push([numbers[i], numbers[(i + 3) % numbers.length]]);
  }
  return pairs.map(([a, b]) => ({
    a: text(a),
    b: text(b),
    product: text(field.mul(a, b)),
    inverse_a: text(a === 0n ? 0n : field.inv(a)),
  }));
}

function pairings(curve) {
  const { Fr, Fp12 } = curve.fields;
  const g1 = curve.G1.Point.BASE;
  const g2 = curve.G2.Point.BASE;
  const generator = curve.pairing(g1, g2);
  const samples = Array.from({ length: 4 }, (_, i) => number(`pairing ${i}`, Fr.ORDER));
  const pairs = [
    [1n, 1n], [2n, 3n], [Fr.ORDER - 1n, 1n],
    [samples[0], samples[1]], [samples[2], samples[3]],
  ];
  return pairs.map(([a, b]) => {
    const power = Fr.mul(a, b);
    const paired = curve.pairing(multiply(g1, a), multiply(g2, b));
    if (!Fp12.eql(paired, Fp12.pow(generator, power))) {
      throw new Error('the library is not bilinear');
    }
    return { a: text(a), b: text(b), equals_generator_power: text(power) };
  });
}

function pairingOfGenerators(curve) {
  const value = curve.pairing(curve.G1.Point.BASE, curve.G2.Point.BASE);
  const coefficients = [value.c0, value.c1]
    .flatMap((sixth) => [sixth.c0, sixth.c1, sixth.c2])
    .flatMap((second) => [second.c0, second.c1]);
  return coefficients.map(text);
}

function msmCase(curve, group, points, factors) {
  const Point = curve[group.name].Point;
  const terms = points.map((point, i) => multiply(point, factors[i]));
  const result = affine(group, terms.reduce((sum, term) => sum.add(term), Point.ZERO));
  return {
    points: points.map((point) => Object.values(affine(group, point))),
    scalars: factors.map(text),
    result: [result.x, result.y],
  };
}

// Mixed scalars; bits only; the same point again and again, and its negative; a sum of infinity.
function msms(curve, group) {
  const { BASE, ZERO } = curve[group.name].Point;
  const order = curve.fields.Fr.ORDER;
  const label = `msm ${group.name}`;
  const point = (i) => multiply(BASE, number(`${label} point ${i}`, order));
  const points = Array.from({ length: 11 }, (_, i) => (i === 5 ? ZERO : point(i)));
  const mixed = scalars(curve, label, 7);
  const bits = points.map((_, i) => number(`${label} bit ${i}`, 2n));
  const repeated = [points[0], points[0], points[0].negate(), points[0]];
  return [
    msmCase(curve, group, points, mixed),
    msmCase(curve, group, points, bits),
    msmCase(curve, group, repeated, [mixed[6], mixed[6], mixed[7], mixed[8]]),
    msmCase(curve, group, [points[1], points[1]], [mixed[9], order - mixed[9]]),
  ];
}

async function transforms(curve, peer) {
  const order = curve.fields.Fr.ORDER;
  const cases = [];
  for (const size of [8, 16]) {
    const input = Array.from({ length: size }, (_, i) => number(`ntt ${size} ${i}`, order));
    const output = await peer.Fr.fft(input.map((value) => peer.Fr.e(value)));
    cases.push({ input: input.map(text), output: output.map((value) => peer.Fr.toString(value)) });
  }
  return cases;
}

// The text of one curve's file.
export async function knownAnswers(name) {
  const { noble: curve, buildPeer } = libraries[name];
  const peer = await buildPeer(true);
  const answers = {
    curve: name,
    g1_multiples: multiples(curve, groups.g1),
    g2_multiples: multiples(curve, groups.g2),
    fr_products: products(curve.fields.Fr, 'fr'),
    fq_products: products(curve.fields.Fp, 'fq'),
    pairing: pairings(curve),
    pairing_generators: pairingOfGenerators(curve),
    msm_g1: msms(curve, groups.g1),
    msm_g2: msms(curve, groups.g2),
    ntt: await transforms(curve, peer),
  };
  return JSON.stringify(answers, null, 1) + '\n';
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await mkdir(knownAnswersFolder, { recursive: true });
  for (const name of knownAnswerCurves) {
    await writeFile(path.join(knownAnswersFolder, `${name}.json`), await knownAnswers(name));
  }
}
