/** The worked examples of CONTRIBUTING.md: compiled by the project's settings, then run. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Model } from '../../src/model/model.ts';
import { type LossEntry, lossNames, makeLoss } from '../../src/problem/losses/index.ts';
import type { LossFunctions } from '../../src/problem/losses/loss.ts';
import {
  type PenaltyEntry,
  penaltyIncompatibility,
  penaltyNames,
} from '../../src/problem/penalties/index.ts';
import { dualStepLaws, lossLaws } from '../laws/loss-laws.ts';
import { compileTwin } from '../laws/wasm-twin.ts';
import { sampleModel } from '../support/models.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

// In the checkout, so that the compiler and the test runner take the files for code of the project.
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'contributing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Relative imports of a file of the project, as they are from the folder of this test. */
function moved(code: string, path: string): string {
  return code.replace(/from '(\.[^']+)'/g, (whole, target: string) => {
    const file = join(root, dirname(path), target);
    const isExample = examples.has(relative(root, file));
    return isExample
      ? whole.replace(target, `./${file.split('/').pop()}`)
      : `from '${relativeTo(file)}'`;
  });
}

function relativeTo(file: string): string {
  return relative(folder, file).replaceAll('\\', '/');
}

/** Blocks that begin with the path of a new file. */
const examples = new Map(
  [...text.matchAll(/```typescript\n\/\/ (src\/\S+\.ts)\n(.*?)```/gs)].map(([, path, code]) => [
    path,
    code,
  ]),
);

/** Blocks that begin with an entry for a table. */
const entries = new Map(
  [...text.matchAll(/```typescript\n\/\/ entry in (\S+), beside: (import [^\n]+)\n(.*?)```/gs)].map(
    ([, table, imports, entry]) => [table, { imports, entry }],
  ),
);

/** The type that the entries of each table have. */
const types: Readonly<Record<string, string>> = {
  'src/problem/losses/index.ts': 'LossEntry',
  'src/problem/penalties/index.ts': 'PenaltyEntry',
  'src/model/export/index.ts': 'ExportEntry',
};

for (const [path, code] of examples)
  writeFileSync(join(folder, path.split('/').pop()!), moved(code, path));
for (const [table, { imports, entry }] of entries) {
  const type = types[table];
  const source =
    `${moved(imports, table)}\nimport type { ${type} } from '${relativeTo(join(root, table))}';\n` +
    `export const added = {\n${entry}} as const satisfies Readonly<Record<string, ${type}>>;\n`;
  writeFileSync(join(folder, `${type}.ts`), source);
}

async function addedTo<Entry>(type: string): Promise<[string, Entry]> {
  const url = pathToFileURL(join(folder, `${type}.ts`)).href;
  const { added } = (await import(url)) as { added: Record<string, Entry> };
  return Object.entries(added)[0];
}

test('there is an example of each table, and it compiles', () => {
  expect([...entries.keys()].sort()).toEqual(Object.keys(types).sort());
  expect(examples.size).toBe(entries.size);
  const settings = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const compiler = join(dirname(manifest), 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder]);
  expect(status, stdout.toString()).toBe(0);
});

describe('the loss', async () => {
  const [name, entry] = await addedTo<LossEntry>('LossEntry');
  const parameters = entry.parameter ? [undefined, 0.1, 0.95] : [undefined];
  describe.each(parameters)('with parameter %s', (parameter) => {
    const loss = makeLoss(name, entry, parameter);
    lossLaws(loss);
    dualStepLaws(loss);
  });

  test('is new, and compiles to WebAssembly with the same results', async () => {
    expect(lossNames).not.toContain(name);
    const twin = await compileTwin(relative(root, join(folder, `${name}.ts`)));
    const { functions } = entry;
    for (const key of Object.keys(functions) as (keyof LossFunctions)[]) {
      const own = functions[key] as (...n: number[]) => number;
      const numbers = [0.3, -1.5, 2, 0.25, 0.7].slice(0, own.length);
      expect(twin[key](...numbers)).toBe(own(...numbers));
    }
  });
});

test('the penalty is new, and solvers can compute with it', async () => {
  const [name, entry] = await addedTo<PenaltyEntry>('PenaltyEntry');
  const penalty = entry.make();
  expect(penaltyNames).not.toContain(name);
  expect(penalty.name).toBe(name);
  expect(penaltyIncompatibility(penalty)).toBeUndefined();
  expect([penalty.prox(3, 1), penalty.prox(-3, 1)]).toEqual([2, 0]);
});

test('the export format writes a model', async () => {
  const [, entry] = await addedTo<{ write(model: Model): Iterable<string> }>('ExportEntry');
  const model = sampleModel({
    featureNames: ['a', 'b"', 'c', 'd'],
    intercepts: Float64Array.of(-0.375),
  });
  expect([...entry.write(model)].join('')).toBe('-0.375 + 0.5 * "a" + -1.25 * "b""" + 2 * "d"\n');
  expect(() => [...entry.write(sampleModel({ classes: [1, 2, 3] }))]).toThrow('--to sql');
});
