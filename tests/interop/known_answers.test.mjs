// SPDX-License-Identifier: Apache-2.0
// The committed known answers are what the independent libraries say today.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stopPeers } from './ceremony.mjs';
import { knownAnswerCurves, knownAnswers, knownAnswersFolder } from './known_answers.mjs';

describe('the committed known answers', () => {
  after(stopPeers);
  for (const curve of knownAnswerCurves) {
    it(`are reproduced byte for byte, ${curve}`, async () => {
      const committed = await readFile(path.join(knownAnswersFolder, `${curve}.json`), 'utf8');
      assert.ok(committed === (await knownAnswers(curve)), 'run known_answers.mjs and compare');
    });
  }
});
