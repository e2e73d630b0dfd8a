import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openingOf, showPage } from '../../../../src/apps/cli/browser.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import { memoryIo } from '../../../support/memory-io.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const url = 'http://127.0.0.1:7007/0123456789abcdef/';
const here = {
  platform: 'linux',
  environment: { DISPLAY: ':0' } as Record<string, string>,
  terminal: true,
  subsystem: false,
  user: 'ada',
} as const;

describe('how the page is opened', () => {
  const windows = ['rundll32.exe', 'url.dll,FileProtocolHandler'];
  test.each([
    ['Linux', here, [['xdg-open']]],
    ['Wayland', { ...here, environment: { WAYLAND_DISPLAY: 'wayland-0' } }, [['xdg-open']]],
    ['macOS', { ...here, platform: 'darwin', environment: {} } as const, [['open']]],
    ['Windows', { ...here, platform: 'win32', environment: {} } as const, [windows]],
    ['Linux in Windows', { ...here, environment: {}, subsystem: true }, [['wslview'], windows]],
  ])('%s', (_, machine, programs) => {
    expect(openingOf(url, machine)).toEqual({ programs });
  });

  test.each([
    ['the output is not a terminal', { ...here, terminal: false }],
    ['there is no display', { ...here, environment: {} }],
  ])('not at all where %s', (_, machine) => {
    expect(openingOf(url, machine)).toEqual({ programs: [] });
  });

  test('over SSH the command to forward the port is printed, even with a display', () => {
    const environment = { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '10.0.0.9 5000 10.0.0.1 22' };
    const forward = (changes: Record<string, string>) =>
      openingOf(url, { ...here, environment: { ...environment, ...changes } });
    expect(forward({})).toEqual({
      programs: [],
      forward: 'ssh -N -L 7007:127.0.0.1:7007 ada@10.0.0.1',
    });
    expect(forward({ SSH_CONNECTION: '10.0.0.9 5000 10.0.0.1 2222' })).toMatchObject({
      forward: 'ssh -N -L 7007:127.0.0.1:7007 -p 2222 ada@10.0.0.1',
    });
    expect(forward({ SSH_CONNECTION: '', SSH_TTY: '/dev/pts/0' })).toMatchObject({
      forward: 'ssh -N -L 7007:127.0.0.1:7007 ada@THIS-MACHINE',
    });
  });
});

const isLinux = process.platform === 'linux';
describe.skipIf(!isLinux)('opening on Linux (other systems have no xdg-open)', () => {
  test('gives the program the address as one argument, which no shell sees', async () => {
    const folder = temporaryFolder();
    const heard = join(folder, 'heard');
    writeFileSync(
      join(folder, 'xdg-open'),
      `#!/bin/sh\nprintf '%s|' "$@" > ${heard}.new\nmv ${heard}.new ${heard}\n`,
    );
    chmodSync(join(folder, 'xdg-open'), 0o755);
    const environment = { DISPLAY: ':0', PATH: `${folder}:${process.env.PATH}` };
    const io = memoryIo({ terminal: true, environment });
    await showPage(`${url}$(touch x)&; #view`, new Terminal(io));
    while (!existsSync(heard)) await sleep(10);
    expect(readFileSync(heard, 'utf8')).toBe(`${url}$(touch x)&; #view|`);
    expect(io.stderr.text).toBe('');
  });

  test('says so where there is no such program', async () => {
    const environment = { DISPLAY: ':0', PATH: temporaryFolder() };
    const io = memoryIo({ terminal: true, environment });
    await showPage(url, new Terminal(io));
    expect(io.stderr.text).toBe('No browser could be started; open the address by hand.\n');
  });
});

test('over SSH the command is printed for people', async () => {
  const environment = { SSH_CONNECTION: '10.0.0.9 5000 10.0.0.1 22' };
  const io = memoryIo({ environment });
  await showPage(url, new Terminal(io));
  expect(io.stderr.text).toMatch(/run there: ssh -N -L 7007:127\.0\.0\.1:7007 \S+@10\.0\.0\.1\n$/);
});
