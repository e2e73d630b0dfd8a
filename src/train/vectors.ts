import { sum } from '../math/sum.ts';
import { type Fit, fitProblem, inLanes, type Site } from './fit.ts';
import type { Input } from './lay-out.ts';
import { startOfVector } from './start.ts';

/**
 * Fits the vectors of the model, several at the same time where threads have no other work. Time
 * is shared out evenly among those that are left.
 */
export async function fitVectors(
  site: Site,
  input: Pick<Input, 'train' | 'factors'>,
): Promise<Fit[]> {
  const { options, settings, vectors, ground } = site;
  const started = performance.now();
  const fits: Fit[] = [];
  let left = vectors;
  const numbers = Array.from({ length: vectors }, (_, vector) => vector);
  await inLanes(site, numbers, async (vector, lane) => {
    const spent = (performance.now() - started) / 1000;
    const share = ((settings.time - spent) * Math.min(left, ground.rooms.length)) / left;
    left -= 1;
    const { lambda } = settings;
    const start = startOfVector(options, vector, input);
    fits[vector] =
      vector > 0 && (options.signal?.aborted || share <= 0)
        ? untrained(site, vector, input.train.columns)
        : await fitProblem(site, { vector, lambda, ...(start && { start }) }, lane, share);
  });
  return fits;
}

/** A vector that there was no time for: w = 0, about which nothing has been proved. */
function untrained({ ground, settings, options }: Site, vector: number, columns: number): Fit {
  const { loss, intercept } = settings;
  const targets = ground.targets.of(vector);
  const losses = targets.map(
    (target, row) => (ground.weights?.[row] ?? 1) * loss.value(0, target, loss.parameter),
  );
  return {
    weights: new Float64Array(columns + (intercept ? 1 : 0)),
    outcome: {
      epochs: 0,
      passes: 0,
      primal: sum(losses) / ground.mass,
      dual: -Infinity,
      relativeGap: Infinity,
      stopped: options.signal?.aborted ? 'interrupted' : 'time-limit',
      seconds: 0,
      effort: noEffort,
    },
    bounds: [],
  };
}

const noEffort = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };
