import type { Engine } from './engine.ts';
import { allocateSgd, type SgdMemory } from './rivals/local-sgd.ts';
import { Sgd } from './rivals/sgd.ts';
import type { SgdSettings } from './solver.ts';

/** Without several workers it would be sgd. */
const leastWorkers = 4;

/**
 * Parallel stochastic gradient descent (Zinkevich, Weimer, Smola and Li 2010, "Parallelized
 * stochastic gradient descent"): every worker minimises the regularized risk of its own rows and
 * the model is the mean of their weights. Workers exchange nothing, so the mean tends to the mean
 * of their minimisers, which is not the minimiser for all rows: the gap stays open, the more so the
 * fewer rows a worker has.
 *
 * Each worker has weights of its own for all columns: 64 bytes a column and worker.
 */
export const psgdEngine: Engine<SgdSettings, SgdMemory> = {
  orientation: 'rows',
  leastGrid: leastWorkers,
  allocate: allocateSgd,
  create: (place, memory, settings, loss) => new Sgd(place, memory, settings, loss),
};
