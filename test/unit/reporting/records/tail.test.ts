import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { RunTail } from '../../../../src/reporting/records/record-file.ts';
import { beginLine, epochLine, recordText, runId, startLine } from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { recording } from './support/recording.ts';

function emptyRecord() {
  const folder = temporaryFolder();
  const id = runId();
  const path = join(folder, `${id}.jsonl`);
  return { folder, id, path, add: (text: string) => appendFileSync(path, text) };
}

describe('following a record', () => {
  test('gives each line once, when it is whole', () => {
    const { folder, id, add } = emptyRecord();
    const tail = new RunTail(folder, id);
    expect(tail.read()).toEqual([]);
    const start = startLine({ id });
    add(recordText([start]));
    expect(tail.read()).toEqual([start]);
    expect(tail.read()).toEqual([]);
    const text = recordText([beginLine(), epochLine(1)]);
    add(text.slice(0, -10));
    expect(tail.read()).toEqual([beginLine()]);
    expect(tail.read()).toEqual([]);
    add(text.slice(-10));
    expect(tail.read()).toEqual([epochLine(1)]);
    expect(tail.read()).toEqual([]);
  });

  test('cuts no character in two', () => {
    const { folder, id, path } = emptyRecord();
    const tail = new RunTail(folder, id);
    const message = 'λ → ∞ 𝄞';
    const bytes = Buffer.from(recordText([{ event: 'notice', message }]));
    for (const byte of bytes.subarray(0, -1)) {
      appendFileSync(path, Buffer.of(byte));
      expect(tail.read()).toEqual([]);
    }
    appendFileSync(path, '\n');
    expect(tail.read()).toEqual([{ event: 'notice', message }]);
  });

  test('takes a long record in parts', () => {
    const { folder, id, add } = emptyRecord();
    const lines = Array.from({ length: 20_000 }, (_, index) => epochLine(index + 1));
    add(recordText(lines));
    const tail = new RunTail(folder, id);
    const parts = [];
    for (let part = tail.read(); part.length > 0; part = tail.read()) parts.push(part);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flat()).toEqual(lines);
  });

  test('passes over junk and over lines without an end', () => {
    const { folder, id, add } = emptyRecord();
    const tail = new RunTail(folder, id);
    add('junk\n{"event":"later"}\n');
    expect(tail.read()).toEqual([]);
    add('x'.repeat(3_000_000));
    for (let call = 0; call < 5; call++) expect(tail.read()).toEqual([]);
    add(`x\n${recordText([epochLine(1)])}`);
    expect(tail.read()).toEqual([epochLine(1)]);
  });

  test('from the end that the record has, and from a line that is being written', () => {
    const { folder, id, add } = emptyRecord();
    const none = new RunTail(folder, id, 'end');
    const text = recordText([epochLine(2)]);
    add(recordText([startLine({ id }), epochLine(1)]));
    const whole = new RunTail(folder, id, 'end');
    add(text.slice(0, 20));
    const half = new RunTail(folder, id, 'end');
    expect([whole.read(), half.read()]).toEqual([[], []]);
    add(text.slice(20));
    expect([whole.read(), half.read()]).toEqual([[epochLine(2)], [epochLine(2)]]);
    expect(none.read()).toHaveLength(3);
  });

  test('begins again with a file that has replaced it, and is silent without one', () => {
    const { folder, id, path, add } = emptyRecord();
    add(recordText([startLine({ id }), epochLine(1), epochLine(2)]));
    const tail = new RunTail(folder, id);
    expect(tail.read()).toHaveLength(3);
    writeFileSync(path, recordText([epochLine(7)]));
    expect(tail.read()).toEqual([epochLine(7)]);
    rmSync(path);
    expect(tail.read()).toEqual([]);
  });

  test('refuses a name that is none', () => {
    expect(() => new RunTail(temporaryFolder(), '../x')).toThrow('not the name of a run');
  });

  test('misses no line of a process that appends', async () => {
    const folder = temporaryFolder();
    const { id } = await recording(folder, 'append');
    const tail = new RunTail(folder, id);
    const seen: number[] = [];
    await vi.waitFor(
      () => {
        for (const line of tail.read()) if (line.event === 'epoch') seen.push(line.epoch);
        expect(seen.length).toBeGreaterThan(5000);
      },
      { timeout: 100_000, interval: 5 },
    );
    const complete = seen.slice(0, 5000);
    expect(complete).toEqual(Array.from({ length: 5000 }, (_, index) => index + 1));
  });
});
