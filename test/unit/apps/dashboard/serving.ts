import { mkdirSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { StreamEvents } from '../../../../src/apps/dashboard/api.ts';
import { Dashboard, type DashboardOptions } from '../../../../src/apps/dashboard/server.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** A page of two files. */
export function pageFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>the page</title>');
  writeFileSync(join(folder, 'assets', 'index-BdQq_1aZ.js'), 'export {};');
  return folder;
}

export interface Serving {
  readonly dashboard: Dashboard;
  /** With the token and a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly origin: string;
  /** What went wrong inside. */
  readonly failures: unknown[];
}

/** A dashboard that listens until the test ends. */
export async function serving(options: Partial<DashboardOptions> = {}): Promise<Serving> {
  const failures: unknown[] = [];
  const dashboard = new Dashboard({
    pageFolder: pageFolder(),
    version: '1.2.3',
    onFailure: (error) => failures.push(error),
    ...options,
  });
  const url = await dashboard.listen();
  onTestFinished(async () => {
    await dashboard.close('the test is over');
    expect(failures).toEqual([]);
  });
  const [, port, token] = /^http:\/\/127\.0\.0\.1:(\d+)\/([0-9a-f]{32})\/$/.exec(url)!;
  const origin = `http://127.0.0.1:${port}`;
  return { dashboard, url, port: Number(port), token, origin, failures };
}

export interface HeardEvent<Name extends keyof StreamEvents = keyof StreamEvents> {
  readonly name: Name;
  readonly data: StreamEvents[Name];
}

/** The events of a dashboard as a page gets them. */
export class Listener {
  readonly events: HeardEvent[] = [];
  readonly #response: IncomingMessage;
  /** Resolves when the stream has ended, however it did. */
  readonly ended: Promise<void>;
  #text = '';
  /** Its last character. */
  #last = '';
  #waiting: (() => void)[] = [];

  static open(url: string): Promise<Listener> {
    return new Promise((resolve, reject) => {
      const request = get(`${url}api/events`, { agent: false }, (response) => {
        if (response.statusCode !== 200) {
          reject(new Error(`status ${response.statusCode}`));
          return;
        }
        expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
        resolve(new Listener(response));
      });
      request.on('error', reject);
    });
  }

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    this.ended = new Promise((resolve) => {
      response.on('error', () => {});
      response.on('close', () => {
        resolve();
        this.#wake();
      });
    });
    onTestFinished(() => this.leave());
  }

  /** The first event that fits, whether it has come already or is to come. */
  async heard<Name extends keyof StreamEvents>(
    name: Name,
    fits: (data: StreamEvents[Name]) => boolean = () => true,
  ): Promise<StreamEvents[Name]> {
    for (;;) {
      const found = this.events.find(
        (event): event is HeardEvent<Name> =>
          event.name === name && fits(event.data as StreamEvents[Name]),
      );
      if (found) return found.data;
      if (this.#response.destroyed) throw new Error(`the stream ended before "${name}"`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** All of a name so far. */
  all<Name extends keyof StreamEvents>(name: Name): StreamEvents[Name][] {
    return this.events
      .filter((event): event is HeardEvent<Name> => event.name === name)
      .map(({ data }) => data);
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  leave(): void {
    this.#response.destroy();
  }

  #take(chunk: string): void {
    const isWhole = `${this.#last}${chunk}`.includes('\n\n');
    this.#text += chunk;
    this.#last = chunk.slice(-1);
    // A long message comes in very many pieces, which are looked through once.
    if (!isWhole) return;
    const parts = this.#text.split('\n\n');
    this.#text = parts.pop()!;
    for (const part of parts) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
      if (name === undefined) expect(part).toMatch(/^retry: \d+$/);
      else this.events.push({ name, data: JSON.parse(data) } as HeardEvent);
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
