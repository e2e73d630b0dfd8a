import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { defaultFolder } from '../../../../src/reporting/records/folder.ts';
import { parseLine } from '../../../../src/reporting/records/lines.ts';
import { codeBlocks } from '../../../support/markdown.ts';

const path = fileURLToPath(new URL('../../../../docs/runs.md', import.meta.url));
const document = readFileSync(path, 'utf8');

test('the examples of the document are lines that a reader knows', () => {
  const examples = codeBlocks(path).filter(({ language }) => language === 'json');
  const events = examples.map(({ text }) => {
    const bytes = Buffer.from(text);
    return parseLine(bytes, 0, bytes.length)?.event;
  });
  expect(events).toEqual(['start', 'begin', 'epoch', 'sample', 'report', 'failure']);
});

test('the document names the folder that records go to', () => {
  expect(document).toContain(`Records are in \`${defaultFolder}\``);
});
