import { gatherValues } from '../engine/processes/process-group.ts';
import { sum } from '../math/sum.ts';
import type { Allowance } from './allowance.ts';
import { type Fit, fitProblem, inLanes, type Site } from './fit.ts';
import type { Input } from './lay-out.ts';
import { startOfVector } from './start.ts';

/**
 * Fits the vectors of the model, several at the same time where threads have no other work. Those
 * that there is no time for, or that an interruption leaves out, are 0.
 */
export async function fitVectors(
  site: Site,
  input: Pick<Input, 'train' | 'factors'>,
  allowance: Allowance,
): Promise<Fit[]> {
  const { options, settings, vectors, company } = site;
  const fits: Fit[] = [];
  const numbers = Array.from({ length: vectors }, (_, vector) => vector);
  await inLanes(site, numbers, async (vector, lane) => {
    const time = allowance.next();
    // Only one clock can decide for all processes.
    const [isOver] =
      vector === 0 ? [false] : await gatherValues(company, isInterrupted(site) || !(time > 0));
    const { lambda } = settings;
    const start = startOfVector(options, vector, input);
    fits[vector] = isOver
      ? await untrained(site, vector, input.train.columns)
      : await fitProblem(site, { vector, lambda, ...(start && { start }) }, lane, time);
  });
  return fits;
}

function isInterrupted({ options }: Site): boolean {
  return options.signal?.aborted ?? false;
}

/** A vector that there was no time for: w = 0, about which nothing has been proved. */
async function untrained(site: Site, vector: number, columns: number): Promise<Fit> {
  const { ground, settings, company } = site;
  const { loss, intercept } = settings;
  const targets = ground.targets.of(vector);
  const losses = targets.map(
    (target, row) => (ground.weights?.[row] ?? 1) * loss.value(0, target, loss.parameter),
  );
  const sums = await gatherValues(company, sum(losses));
  return {
    weights: new Float64Array(columns + (intercept ? 1 : 0)),
    outcome: {
      epochs: 0,
      passes: 0,
      primal: sums.reduce((total, one) => total + one, 0) / ground.mass,
      dual: -Infinity,
      relativeGap: Infinity,
      stopped: isInterrupted(site) ? 'interrupted' : 'time-limit',
      seconds: 0,
      effort: noEffort,
    },
    bounds: [],
  };
}

const noEffort = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };
