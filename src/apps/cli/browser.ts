import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
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

type Opening =
  /** Programs to try one after the other, each with the address as its last argument. */
  | { readonly kind: 'open'; readonly programs: readonly (readonly string[])[] }
  /** The browser is on another machine: what to type there. */
  | { readonly kind: 'forward'; readonly command: string }
  | { readonly kind: 'none' };

/** Does what the shell's `start` does, without a shell. */
const windowsProgram = ['rundll32.exe', 'url.dll,FileProtocolHandler'];

export function openingOf(url: string, surroundings: Environment): Opening {
  const { platform, environment, terminal, subsystem } = surroundings;
  if (environment.SSH_CONNECTION || environment.SSH_TTY) {
    return { kind: 'forward', command: forwardCommand(url, surroundings) };
  }
  if (!terminal) return { kind: 'none' };
  if (platform === 'darwin') return { kind: 'open', programs: [['open']] };
  if (platform === 'win32') return { kind: 'open', programs: [windowsProgram] };
  if (subsystem) return { kind: 'open', programs: [['wslview'], windowsProgram] };
  if (!environment.DISPLAY && !environment.WAYLAND_DISPLAY) return { kind: 'none' };
  return { kind: 'open', programs: [['xdg-open']] };
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
  const opening = openingOf(url, {
    platform: process.platform,
    environment,
    terminal: stdout.isTTY === true || stderr.isTTY === true,
    subsystem: isSubsystem(),
    user: userInfo().username,
  });
  if (opening.kind === 'forward') {
    terminal.say(`To see it on the machine you sit at, run there: ${opening.command}`);
  }
  if (opening.kind !== 'open') return;
  for (const [program, ...words] of opening.programs) {
    if (await start(program, [...words, url], environment)) return;
  }
  terminal.say('No browser could be started; open the address by hand.');
}

function isSubsystem(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /microsoft/i.test(readFileSync('/proc/sys/kernel/osrelease', 'utf8'));
  } catch {
    return false;
  }
}

/** Whether the program could be started. It is left running: a browser may outlive this process. */
async function start(program: string, words: string[], env: Io['environment']): Promise<boolean> {
  const child = spawn(program, words, { detached: true, stdio: 'ignore', env });
  try {
    await once(child, 'spawn');
    child.unref();
    return true;
  } catch {
    return false;
  }
}
