import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Sample } from './samples.ts';

/** The system's Python, which has Debian's packages. */
const python = '/usr/bin/python3';
const script = fileURLToPath(new URL('rivals/scikit_learn.py', import.meta.url));

/** Why there is no scikit-learn; undefined: there is. */
export function scikitLearnProblem(): string | undefined {
  const { status } = spawnSync(python, ['-c', 'import sklearn'], { stdio: 'ignore' });
  return status === 0 ? undefined : `${python} has no scikit-learn (Debian: python3-sklearn)`;
}

interface FitRequest {
  readonly solver: string;
  readonly form: 'dense' | 'sparse';
  readonly lambda: number;
  readonly tol: number;
  /** Seconds of a round. */
  readonly limit: number;
  readonly rounds: number;
}

interface FitAnswer {
  readonly seconds: number;
  readonly weights: Float64Array;
}

export interface ScikitLearn {
  /** The quickest round of a fit; undefined: it failed, or not within the limit. */
  fit(request: FitRequest): Promise<FitAnswer | undefined>;
  close(): void;
}

/** A process with the data in its memory; scikit_learn.py says what it reads and prints. */
export function openScikitLearn({ path }: Sample): ScikitLearn {
  const child = spawn(python, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async fit(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { done, value } = await lines.next();
      if (done) throw new Error('scikit_learn.py has ended');
      const { seconds, weights } = JSON.parse(value) as { seconds?: number; weights: number[] };
      return seconds === undefined ? undefined : { seconds, weights: Float64Array.from(weights) };
    },
    close: () => child.stdin.end(),
  };
}
