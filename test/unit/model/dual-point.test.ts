import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DataError } from '../../../src/errors.ts';
import {
  type DualPoint,
  dualPath,
  readDualPoint,
  writeDualPoint,
} from '../../../src/model/dual-point.ts';
import { sampleModel } from '../../support/models.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const model = { ...sampleModel({ weights: Float64Array.of(1, 2) }), rows: 4 };
const dual: DualPoint = { alpha: Float64Array.of(0, -0, 1e-310, -0.7), scales: [0.25] };

async function written(point: DualPoint = dual): Promise<string> {
  const path = dualPath(join(temporaryFolder(), 'm'));
  await writeDualPoint(path, model, point);
  return path;
}

test('what is written is read, bit for bit', async () => {
  const read = await readDualPoint(await written(), model);
  expect(read).toEqual(dual);
  expect(Object.is(read.alpha[1], -0)).toBe(true);
});

test('the first line is JSON, the rest 8 bytes a row', async () => {
  const path = await written();
  const [line] = readFileSync(path, 'latin1').split('\n', 1);
  expect(JSON.parse(line)).toMatchObject({ format: 'dso-dual', version: 1, numbers: 4 });
  expect(statSync(path).size).toBe(line.length + 1 + 4 * 8);
});

describe('refused', () => {
  const change = async (edit: (bytes: Buffer) => Buffer) => {
    const path = await written();
    writeFileSync(path, edit(readFileSync(path)));
    return readDualPoint(path, model);
  };
  const inHeader = (from: string | RegExp, to: string) => (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');

  test.each<[string, (bytes: Buffer) => Buffer, string]>([
    ['an empty file', () => Buffer.alloc(0), 'not a dual point'],
    ['another kind of file', () => Buffer.from('1 1:1\n'), 'not a dual point'],
    ['a newer version', inHeader('"version":1', '"version":2'), 'version 2; this dso reads 1'],
    ['a changed number', (bytes) => bytes.fill(1, bytes.length - 3), 'checksum'],
    ['half of the numbers', (bytes) => bytes.subarray(0, -16), '16 bytes of numbers; expected 32'],
    ['more numbers', (bytes) => Buffer.concat([bytes, Buffer.alloc(8)]), '40 bytes of numbers'],
    ['more rows', inHeader('"numbers":4', '"numbers":5'), '32 bytes of numbers; expected 40'],
    ['a scale above 1', inHeader('[0.25]', '[1.25]'), 'not a dual point'],
    ['a scale that is no number', inHeader('[0.25]', '["x"]'), 'not a dual point'],
    ['two scales', inHeader('[0.25]', '[0.25,1]'), 'of another model'],
  ])('%s', async (_, edit, message) => {
    const attempt = change(edit);
    await expect(attempt).rejects.toThrow(message);
    await expect(attempt).rejects.toBeInstanceOf(DataError);
  });

  test('that of another model', async () => {
    const other = { ...model, weights: Float64Array.of(1, 3) };
    await expect(readDualPoint(await written(), other)).rejects.toThrow('of another model');
  });

  test('numbers that are not finite', async () => {
    const path = await written({ ...dual, alpha: Float64Array.of(1, 2, Number.NaN, 4) });
    await expect(readDualPoint(path, model)).rejects.toThrow('not finite');
  });
});
