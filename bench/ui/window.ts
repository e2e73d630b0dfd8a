import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { browserArguments } from '../../test/support/chromium.ts';
import { cacheFolder } from '../samples.ts';
import { browserPath } from './browser.ts';
import { familyTime } from './processes.ts';

/** Milliseconds after which it has done what it does at every start. */
const starting = 8000;

/**
 * A browser as a person has it: nothing listens to what its pages do, which would cost more than
 * they do themselves. It only receives what to open and to close.
 */
export class Window {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #address: string;
  #page: string | undefined;

  private constructor(child: ChildProcess, profile: string, address: string) {
    this.#child = child;
    this.#profile = profile;
    this.#address = address;
  }

  static async open(): Promise<Window> {
    const profile = mkdtempSync(join(cacheFolder, 'profile-'));
    const debugging = ['--remote-debugging-port=0', `--user-data-dir=${profile}`];
    const child = spawn(
      browserPath!,
      ['--headless', '--window-size=1280,900', ...browserArguments, ...debugging, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const window = new Window(child, profile, await addressOf(child));
    await sleep(starting);
    return window;
  }

  async show(url: string): Promise<void> {
    await this.leave();
    const answer = await fetch(`${this.#address}/json/new?${url}`, { method: 'PUT' });
    this.#page = ((await answer.json()) as { readonly id: string }).id;
  }

  async leave(): Promise<void> {
    if (this.#page !== undefined) await fetch(`${this.#address}/json/close/${this.#page}`);
    this.#page = undefined;
  }

  /** Seconds of processors that all of its processes have had. */
  processorTime(): number {
    return familyTime(this.#child.pid!);
  }

  async close(): Promise<void> {
    this.#child.kill();
    await once(this.#child, 'close');
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /ws:\/\/([^/]+)\//.exec(text);
      if (found) resolve(`http://${found[1]}`);
    });
    child.on('close', () => reject(new Error(`the browser ended:\n${text}`)));
  });
}
