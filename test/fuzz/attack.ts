import { mkdirSync, rmSync } from 'node:fs';
import { stream } from '../../src/math/random.ts';
import type { Failure, Target } from './target.ts';
import { Watchdog } from './watchdog.ts';

export interface Limits {
  readonly seed: number;
  /** The first input; each is decided by the seed and its number. */
  readonly first?: number;
  readonly inputs: number;
  readonly seconds: number;
}

export interface Found extends Failure {
  readonly input: number;
}

export interface Outcome {
  readonly inputs: number;
  readonly failures: readonly Found[];
  readonly counts: ReadonlyMap<string, number>;
}

/** How an attack ended; opening the target may have taken all of its time. */
export function closingLine({ inputs, failures, counts }: Outcome, seconds: string): string {
  if (inputs === 0)
    return `no input was tried in ${seconds} s; larger --seconds or --inputs allow more`;
  const outcomes = [...counts].map(
    ([outcome, count]) => `${count.toLocaleString('en')} ${outcome}`,
  );
  const known = outcomes.length === 0 ? '' : ` (${outcomes.join(', ')})`;
  return `${inputs.toLocaleString('en')} inputs in ${seconds} s, ${failures.length} failures${known}`;
}

/** A target that fails this often says nothing new. */
const mostFailures = 20;

/** Targets catch what an input may do; anything else is a fault, of the target perhaps. */
function unexpected(error: unknown): Failure {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { what };
}

/** Attacks a target until a limit is reached. */
export async function attack(
  target: Target,
  folder: string,
  { seed, first = 0, inputs, seconds }: Limits,
  onProgress?: (done: number, failures: readonly Found[]) => void,
): Promise<Outcome> {
  mkdirSync(folder, { recursive: true });
  const deadline = performance.now() + seconds * 1000;
  const failures: Found[] = [];
  const opened = await target.open(folder);
  const { mostSeconds: busy } = target;
  const watchdog = busy === undefined ? undefined : new Watchdog({ first, seed, seconds: busy });
  let done = 0;
  try {
    while (done < inputs && performance.now() < deadline && failures.length < mostFailures) {
      const input = first + done;
      const failure = await opened.attempt(stream(seed, input)).catch(unexpected);
      if (failure) failures.push({ ...failure, input });
      done++;
      watchdog?.next();
      onProgress?.(done, failures);
    }
  } finally {
    await watchdog?.close();
    await opened.close?.();
  }
  if (failures.length === 0) rmSync(folder, { recursive: true, force: true });
  return { inputs: done, failures, counts: opened.counts };
}
