import { main } from '../../src/apps/cli/program.ts';
import type { Finished } from './command-line.ts';
import { memoryIo } from './memory-io.ts';

/**
 * Runs `dso …` to its end in this process, which saves the start of another one. Not for concurrent
 * tests: the folder is that of the whole process.
 */
export async function runHere(args: readonly string[], folder = '.'): Promise<Finished> {
  const io = memoryIo({ environment: { NO_COLOR: '1' } });
  const before = process.cwd();
  process.chdir(folder);
  try {
    const code = await main(args, io);
    return { code, stdout: Buffer.from(io.stdout.text), stderr: io.stderr.text };
  } finally {
    process.chdir(before);
  }
}
