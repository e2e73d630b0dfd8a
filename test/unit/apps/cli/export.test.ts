import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../../src/apps/cli/program.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import { exportFormats, exportModel } from '../../../../src/model/export/index.ts';
import { readModel, writeModel } from '../../../../src/model/file.ts';
import { type MemoryIo, memoryIo } from '../../../support/memory-io.ts';
import { sampleModel } from '../../../support/models.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** Runs a command as the program does, but throws its errors. */
async function run(args: readonly string[], io: MemoryIo = memoryIo()) {
  let code = -1;
  const program = createProgram(new Terminal(io), args, (result) => {
    code = result;
  });
  await program.parseAsync(args, { from: 'user' });
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

async function folderWithModel(changes = {}): Promise<string> {
  const folder = temporaryFolder();
  await writeModel(join(folder, 'm'), sampleModel(changes));
  return folder;
}

describe('dso export', () => {
  test.each(exportFormats)('--to %s writes the file', async (format) => {
    const folder = await folderWithModel();
    const output = join(folder, 'out');
    const { code, stdout, stderr } = await run([
      'export',
      join(folder, 'm'),
      '--to',
      format,
      '-o',
      output,
    ]);
    expect([code, stdout, stderr]).toEqual([0, '', '']);
    const expected = Buffer.from(exportModel(sampleModel(), format));
    expect(readFileSync(output).equals(expected)).toBe(true);
  });

  test('writes to standard output, but no ONNX to a terminal', async () => {
    const model = join(await folderWithModel(), 'm');
    const { stdout } = await run(['export', model, '--to', 'csv']);
    expect(stdout).toBe(exportModel(sampleModel(), 'csv'));
    expect((await run(['export', model, '--to', 'onnx'])).stdout).toContain('LinearClassifier');
    const terminal = memoryIo({ terminal: true });
    await expect(run(['export', model, '--to', 'onnx'], terminal)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('-o FILE'),
    });
  });

  test('notes what the format leaves out, unless --quiet', async () => {
    const folder = await folderWithModel({ unitRows: true });
    const args = ['export', join(folder, 'm'), '--to', 'liblinear', '-o', join(folder, 'out')];
    expect((await run(args)).stderr).toBe(
      'note: rows have to be divided by their Euclidean length before they are scored\n',
    );
    expect((await run([...args, '--quiet'])).stderr).toBe('');
  });

  test('refuses an unknown format, a missing one, its own input', async () => {
    const model = join(await folderWithModel(), 'm');
    await expect(run(['export', model, '--to', 'pickle'])).rejects.toThrow(
      '--to is pickle; it must be one of',
    );
    await expect(run(['export', model])).rejects.toThrow(/--to/);
    await expect(run(['export', model, '--to', 'csv', '-o', model])).rejects.toMatchObject({
      kind: 'usage',
    });
  });

  test('leaves no file behind when the format cannot hold the model', async () => {
    const folder = await folderWithModel({ classes: ['a', 'b'] });
    const output = join(folder, 'out');
    const args = ['export', join(folder, 'm'), '--to', 'liblinear', '-o', output];
    await expect(run(args)).rejects.toMatchObject({ kind: 'usage' });
    expect(() => readFileSync(output)).toThrow('ENOENT');
  });
});

describe('dso import', () => {
  test('makes a model of LIBLINEAR files, also compressed', async () => {
    const folder = temporaryFolder();
    const input = join(folder, 'm.liblinear.gz');
    const output = join(folder, 'm.model');
    writeFileSync(input, gzipSync(exportModel(sampleModel(), 'liblinear')));
    const { code, stderr } = await run(['import', input, '-o', output]);
    expect(code).toBe(0);
    expect(stderr).toBe(`${output}: 2 classes, hinge loss, 4 columns\n`);
    const model = await readModel(output);
    expect(model.weights).toEqual(sampleModel().weights);
    expect(model.certificate.stopped).toBe('imported');
  });

  test('gives back what was exported as JSON, byte for byte', async () => {
    const folder = await folderWithModel({ featureNames: ['a', 'b', 'c', 'd'] });
    const [model, json, back] = ['m', 'json', 'back'].map((name) => join(folder, name));
    await run(['export', model, '--to', 'json', '-o', json]);
    const { stderr } = await run(['import', json, '-o', back, '--quiet']);
    expect(stderr).toBe('');
    expect(readFileSync(back).equals(readFileSync(model))).toBe(true);
  });

  test('bad data is an error with its position, and nothing is written', async () => {
    const folder = temporaryFolder();
    const input = join(folder, 'bad');
    writeFileSync(input, 'solver_type L2R_LR\nnr_class two\n');
    await expect(run(['import', input, '-o', join(folder, 'out')])).rejects.toMatchObject({
      kind: 'data',
      message: `${input}: line 2: "nr_class two"; expected finite numbers`,
    });
    expect(() => readFileSync(join(folder, 'out'))).toThrow('ENOENT');
    await expect(run(['import', join(folder, 'none'), '-o', '-'])).rejects.toMatchObject({
      kind: 'data',
      message: expect.stringContaining('no such file'),
    });
  });

  test('standard input needs a name for the model', async () => {
    await expect(run(['import', '-'])).rejects.toMatchObject({ kind: 'usage' });
  });
});
