import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { writeModel } from '../../src/model/format.ts';
import { runDso } from '../support/command-line.ts';
import { sampleModel } from '../support/models.ts';
import { temporaryFolder } from '../support/temporary.ts';

async function modelFolder(): Promise<string> {
  const folder = temporaryFolder();
  await writeModel(join(folder, 'm'), sampleModel());
  writeFileSync(join(folder, 'names.gz'), gzipSync('zero\none\ntwo\nthree\n'));
  return folder;
}

test('shows the header, the norms and the largest weights with their names', async () => {
  const folder = await modelFolder();
  const { code, stdout } = await runDso(['inspect', 'm', '--top', '2', '--names', 'names.gz'], {
    folder,
  });
  expect(code).toBe(0);
  expect(stdout.toString()).toBe(`task         classification: negative -1, positive 1
loss         hinge
penalty      l2, lambda 1e-4
trained on   10 rows × 4 columns, 25 non-zeros
solver       ring, grid 2, seed 1
stopped      converged after 9 epochs
objective    0.31133, at least 0.3111 for any weights
certificate  within 0.075 % of the optimum (certified: relative duality gap 7.4e-4)
weights      3 of 4 are not 0 (75.00 %)
norms        L1 3.75, L2 2.41091
intercept    0

largest weights, by feature:
4  +2            three
2  -1.25         one
`);
});

test('--json, --zero-based', async () => {
  const folder = await modelFolder();
  const { stdout } = await runDso(
    ['inspect', 'm', '--json', '--zero-based', '--top', '1', '--names', 'names.gz'],
    { folder },
  );
  expect(JSON.parse(stdout.toString())).toMatchObject({
    loss: { name: 'hinge' },
    certificate: { stopped: 'converged' },
    weights: { nonzero: 3, l1Norm: 3.75, largest: 2 },
    top: [{ feature: 3, name: 'three', weight: 2 }],
  });
});

test('--top 0 lists nothing', async () => {
  const { stdout } = await runDso(['inspect', 'm', '--top', '0'], { folder: await modelFolder() });
  expect(stdout.toString()).not.toContain('largest weights');
});
