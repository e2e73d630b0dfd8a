import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Workload } from './workload.ts';

const source = fileURLToPath(new URL('kernels.c', import.meta.url));
/** No fused multiply-add: WebAssembly has none, and the bits must be the same. */
const flags = ['-O3', '-march=native', '-ffp-contract=off'];

/** Compiles kernels.c; undefined when there is no gcc. */
export function compileC(folder: string): string | undefined {
  const program = join(folder, `kernels-${process.pid}`);
  const result = spawnSync('gcc', [...flags, '-o', program, source, '-lm'], { encoding: 'utf8' });
  if (result.error) return undefined;
  if (result.status !== 0) throw new Error(`gcc cannot compile ${source}:\n${result.stderr}`);
  return program;
}

/** The kernels in C, in their own process with a copy of a workload's memory. */
export class CKernels {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  readonly #stateFile: string;

  constructor(program: string, workload: Workload, folder: string) {
    const image = join(folder, `image-${process.pid}.bin`);
    this.#stateFile = join(folder, `state-${process.pid}.bin`);
    const all = new Uint8Array(workload.memory.buffer);
    writeFileSync(image, all);
    const state = workload.state.byteOffset;
    this.#process = spawn(program, [image, String(all.length), String(state)]);
    this.#process.stderr.pipe(process.stderr);
    const lines = createInterface(this.#process.stdout);
    this.#answers = lines[Symbol.asyncIterator]();
    for (const [name, array] of Object.entries(workload.arrays)) {
      this.#send(`array ${name} ${array.byteOffset}`);
    }
    for (const [name, number] of Object.entries(workload.numbers)) {
      this.#send(`number ${name} ${number}`);
    }
    // Once it has answered anything, it has read the file.
    this.#process.stdout.once('data', () => rmSync(image, { force: true }));
  }

  #send(line: string): void {
    this.#process.stdin.write(`${line}\n`);
  }

  async #command(line: string): Promise<string> {
    this.#send(line);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`the C program ended at: ${line}`);
    return value;
  }

  /** Seconds that the passes took together. */
  async run(command: string, passes: number): Promise<number> {
    return Number(await this.#command(`run ${command} ${passes}`));
  }

  /** What the last pass left behind. */
  async state(): Promise<Uint8Array> {
    await this.#command(`save ${this.#stateFile}`);
    const bytes = readFileSync(this.#stateFile);
    rmSync(this.#stateFile);
    return bytes;
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin.end();
    await ended;
  }
}
