import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  beginLine,
  epochLine,
  recordText,
  resultLine,
  runId,
  startLine,
} from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** What happens while somebody looks whether the process of a run is there. */
let meanwhile = () => {};

// No real process ends in this very moment each time. Other files share the modules of this worker.
vi.resetModules();
vi.doMock('../../../../src/files.ts', () => ({
  isAlive: () => {
    meanwhile();
    return false;
  },
}));
const { listRuns, readRun } = await import('../../../../src/reporting/records/store.ts');
vi.doUnmock('../../../../src/files.ts');
vi.resetModules();

function ending() {
  const folder = temporaryFolder();
  const id = runId();
  const path = join(folder, `${id}.jsonl`);
  writeFileSync(path, recordText([startLine({ id }), beginLine(), epochLine(1)]));
  meanwhile = () => {
    meanwhile = () => {};
    appendFileSync(path, recordText([epochLine(2), resultLine]));
  };
  return { folder, id };
}

test('a run that ends between the reading and the look for its process is not lost', () => {
  expect(listRuns(ending().folder)).toMatchObject([{ status: 'done', latest: epochLine(2) }]);
  const { folder, id } = ending();
  expect(readRun(folder, id)).toMatchObject({ epochs: 2, summary: { status: 'done' } });
});

test('one that has not written its last line by then is', () => {
  const { folder } = ending();
  meanwhile = () => {};
  expect(listRuns(folder)).toMatchObject([{ status: 'lost', latest: epochLine(1) }]);
});
