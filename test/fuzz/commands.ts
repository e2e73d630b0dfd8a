import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Ended {
  /** −1: it threw; −2: its process ended; −3: it did not end in time. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `dso …` in one other process, and in a new one if that has ended or does not answer. */
export class Commands {
  readonly #folder: string;
  readonly #seconds: number;
  #child: ChildProcess | undefined;
  #said = '';

  /** `seconds`: what takes longer counts as hanging. */
  constructor(folder: string, seconds: number) {
    this.#folder = folder;
    this.#seconds = seconds;
  }

  async run(args: readonly string[]): Promise<Ended> {
    const child = this.#started();
    this.#said = '';
    const answer = new Promise<Ended>((resolve) => {
      const end = (code: number) => resolve({ code, stdout: '', stderr: this.#said });
      const timer = setTimeout(() => end(-3), 1000 * this.#seconds);
      const exited = () => end(-2);
      child.once('exit', exited);
      child.once('message', (message) => {
        clearTimeout(timer);
        child.off('exit', exited);
        resolve(message as Ended);
      });
    });
    child.send({ args, folder: this.#folder });
    const ended = await answer;
    if (ended.code < -1) await this.close();
    return ended;
  }

  #started(): ChildProcess {
    if (this.#child) return this.#child;
    const program = join(import.meta.dirname, 'command-process.ts');
    const child = fork(program, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said = (this.#said + chunk.toString()).slice(-4000);
    });
    this.#child = child;
    return child;
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
