import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { describeCommand } from '../../../../src/apps/cli/commands/convert.ts';
import { type DescribeFlags, describeOptions } from '../../../../src/apps/cli/options.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import { UsageError } from '../../../../src/errors.ts';
import { defaultValues } from '../../../../src/train/options/option.ts';
import { memoryIo } from '../../../support/memory-io.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

function people(): string {
  const path = join(temporaryFolder(), 'people.csv');
  writeFileSync(path, 'label,age,site\n1,30,7\n0,41,7\n1,41,7\n');
  return path;
}

async function report(data: string | undefined, given: Partial<DescribeFlags>) {
  const flags = { ...defaultValues(describeOptions), ...given };
  const io = memoryIo();
  const words = data === undefined ? [] : [data];
  const terminal = new Terminal(io);
  await describeCommand({ flags, terminal, words, program: new Command() }, ...words);
  return { output: io.stdout.text, notes: io.stderr.text };
}

test('prints the report, and notes how the data was read', async () => {
  const { output, notes } = await report(people(), {});
  expect(output).toContain('constant features  1: site (7)\n');
  expect(notes).toContain('read as CSV: label column "label"');
});

test('--json prints the object, --quiet no notes', async () => {
  const { output, notes } = await report(people(), { json: true, quiet: true });
  expect(JSON.parse(output)).toMatchObject({
    rows: 3,
    constantColumns: { count: 1, first: [{ column: 1, name: 'site', value: 7 }] },
  });
  expect(notes).toBe('');
});

test('--sql takes the rows of a query', async () => {
  const sql = `select * exclude site from '${people()}'`;
  const { output } = await report(undefined, { sql, quiet: true });
  expect(output).toContain('data       query\nrows       3\nfeatures   1\n');
});

test('needs a file or a query', async () => {
  await expect(report('x.csv', { sql: 'select 1' })).rejects.toThrow(UsageError);
  await expect(report(undefined, {})).rejects.toThrow("missing required argument 'data', or --sql");
});
