import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { writeReport } from '../../../../src/reporting/pages/comparison-files.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { madeUpComparison, madeUpEvents, madeUpRun } from '../../train/compare/support/made-up.ts';

test('where no PNG can be drawn the figures are SVG, and a notice says why', async () => {
  // What importing the package does on a platform that it has no binary for.
  vi.doMock('@resvg/resvg-js', () => {
    throw new Error('Failed to load native binding\nmore');
  });
  const folder = temporaryFolder();
  const notices: string[] = [];
  const comparison = madeUpComparison([madeUpRun('dso', madeUpEvents(3, 0.5))]);
  await writeReport(folder, comparison, { onNotice: (message) => notices.push(message) });
  const endings = readdirSync(join(folder, 'figures')).map((name) => name.slice(-4));
  expect(new Set(endings)).toEqual(new Set(['.svg']));
  expect(readdirSync(folder)).toContain('report.html');
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatch(/^figures are SVG only: PNG cannot be drawn here \(/);
});
