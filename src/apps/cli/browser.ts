import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { attempt } from './files.ts';
import type { Io, Terminal } from './terminal.ts';

/** What decides whether there is a browser to open, and how. */
interface Environment {
  readonly platform: NodeJS.Platform;
  readonly environment: Io['environment'];
  /** Whether a person reads what is printed. */
  readonly terminal: boolean;
  /** Linux inside Windows. */
  readonly subsystem: boolean;
  readonly user: string;
}

interface Opening {
  /** Programs to try one after the other, each with the address as its last argument. */
  readonly programs: readonly (readonly string[])[];
  /** The browser is on another machine: the command to run there. */
  readonly forward?: string;
}

/** Names Microsoft in Linux inside Windows. */
const kernelRelease = '/proc/sys/kernel/osrelease';

/** Does what the shell's `start` does, without a shell. */
const windowsProgram = ['rundll32.exe', 'url.dll,FileProtocolHandler'];

export function openingOf(url: string, machine: Environment): Opening {
  const { platform, environment, terminal, subsystem } = machine;
  if (environment.SSH_CONNECTION || environment.SSH_TTY) {
    return { programs: [], forward: forwardCommand(url, machine) };
  }
  if (!terminal) return { programs: [] };
  if (platform === 'darwin') return { programs: [['open']] };
  if (platform === 'win32') return { programs: [windowsProgram] };
  if (subsystem) return { programs: [['wslview'], windowsProgram] };
  if (!environment.DISPLAY && !environment.WAYLAND_DISPLAY) return { programs: [] };
  return { programs: [['xdg-open']] };
}

/** The same port at both ends, since the page is served only under the address that it names. */
function forwardCommand(url: string, { environment, user }: Environment): string {
  const { port } = new URL(url);
  const [, , host = 'THIS-MACHINE', sshPort = '22'] = (environment.SSH_CONNECTION ?? '').split(' ');
  const other = sshPort === '22' ? '' : ` -p ${sshPort}`;
  return `ssh -N -L ${port}:127.0.0.1:${port}${other} ${user}@${host}`;
}

/** Opens the page, or says how to get to it. The address has been printed already. */
export async function showPage(url: string, terminal: Terminal): Promise<void> {
  const { stdout, stderr, environment } = terminal.io;
  const { programs, forward } = openingOf(url, {
    platform: process.platform,
    environment,
    terminal: stdout.isTTY === true || stderr.isTTY === true,
    subsystem: attempt(() => /microsoft/i.test(readFileSync(kernelRelease, 'utf8'))) ?? false,
    user: userInfo().username,
  });
  if (forward !== undefined) {
    terminal.say(`To see it on the machine you sit at, run there: ${forward}`);
  }
  for (const [program, ...words] of programs) {
    if (await start(program, [...words, url], environment)) return;
  }
  if (programs.length > 0) {
    terminal.say('No browser could be started; open the address by hand.');
  }
}

/** Whether the program could be started. It is left running: a browser may outlive this process. */
async function start(program: string, words: string[], env: Io['environment']): Promise<boolean> {
  const child = spawn(program, words, { detached: true, stdio: 'ignore', env });
  const isStarted = await once(child, 'spawn').then(
    () => true,
    () => false,
  );
  if (isStarted) child.unref();
  return isStarted;
}
