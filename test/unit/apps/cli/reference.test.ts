import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands } from '../../../../src/apps/cli/commands/index.ts';
import { longFlag, type Option } from '../../../../src/train/options/option.ts';
import { withOptionTables } from '../../../support/option-tables.ts';

const path = new URL('../../../../docs/cli.md', import.meta.url);

test('docs/cli.md has the options of the table (DSO_UPDATE_DOCS=1 rewrites them)', () => {
  const page = readFileSync(path, 'utf8');
  const current = withOptionTables(page);
  if (process.env.DSO_UPDATE_DOCS) writeFileSync(path, current);
  else expect(page).toBe(current);
});

test.each(Object.keys(commands))('docs/cli.md has a section on dso %s with its options', (name) => {
  const page = readFileSync(path, 'utf8');
  expect(page).toContain(`\n## dso ${name}\n`);
  for (const entry of Object.values<Option>(commands[name].options ?? {})) {
    expect(page).toContain(longFlag(entry));
  }
});
