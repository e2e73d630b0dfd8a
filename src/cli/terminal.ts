import { once } from 'node:events';
import picocolors from 'picocolors';
import type { Io, OutputStream } from './io.ts';

export type Colours = ReturnType<typeof picocolors.createColors>;

/** Standard output and error with colours where wanted, quiet when the reader has gone away. */
export class Terminal {
  readonly io: Io;
  /** Colours for standard error and for standard output. */
  readonly colours: Colours;
  readonly outputColours: Colours;
  readonly #closed = new Set<OutputStream>();

  constructor(io: Io) {
    this.io = io;
    this.colours = picocolors.createColors(wantsColour(io.stderr, io.environment));
    this.outputColours = picocolors.createColors(wantsColour(io.stdout, io.environment));
    for (const stream of [io.stdout, io.stderr]) {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        this.#closed.add(stream);
        if (error.code === 'EPIPE') return;
        // A full disk behind a redirection: what was asked for is incomplete.
        const which = stream === io.stdout ? 'standard output' : 'standard error';
        this.error(`${which}: ${error.message}`);
        io.exit(1);
      });
    }
  }

  /** Whether a line on standard error can be redrawn. */
  get live(): boolean {
    return this.io.stderr.isTTY === true && this.io.environment.TERM !== 'dumb';
  }

  get width(): number {
    return this.io.stderr.columns || 80;
  }

  /** Whether whoever read standard output (`| head`) has left. */
  get outputClosed(): boolean {
    return this.#closed.has(this.io.stdout) || this.io.stdout.destroyed;
  }

  /** Writes to standard error as is. */
  write(text: string): void {
    if (!this.#closed.has(this.io.stderr)) this.io.stderr.write(text);
  }

  /** A line for people, on standard error. */
  say(line: string): void {
    this.write(`${line}\n`);
  }

  /** Writes to standard output, waiting while it is full. */
  async print(text: string): Promise<void> {
    if (this.outputClosed || this.io.stdout.write(text)) return;
    const stop = new AbortController();
    const { signal } = stop;
    // A reader that leaves closes the stream and it never drains.
    await Promise.race([
      once(this.io.stdout, 'drain', { signal }),
      once(this.io.stdout, 'close', { signal }),
    ]).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    stop.abort();
  }

  error(message: string): void {
    const { bold, red } = this.colours;
    this.say(`${bold(red('dso:'))} ${red(message)}`);
  }
}

/** https://no-color.org: any non-empty NO_COLOR turns colours off. */
function wantsColour(stream: OutputStream, environment: Io['environment']): boolean {
  const refused = (environment.NO_COLOR ?? '') !== '' || environment.TERM === 'dumb';
  return stream.isTTY === true && !refused;
}
