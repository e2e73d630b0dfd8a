import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('record-run.ts', import.meta.url));

/** Another process that records a run; see record-run.ts. */
export interface Recording {
  readonly id: string;
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
}

export async function recording(
  folder: string,
  how: 'exit' | 'stay' | 'append',
  cwd = process.cwd(),
): Promise<Recording> {
  const child = spawn(process.execPath, [program, folder, how], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const ended = once(child, 'exit');
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { id: said.toString().trim(), child, ended };
}
