/** The first epochs run code that the engine has not yet optimised; they are not counted. */
const warmUpEpochs = 3;

/**
 * Milliseconds per epoch when nothing disturbs: every run does the same work in its k-th epoch, so
 * the fastest k-th epoch of all runs counts. A run is given by its seconds after every epoch.
 */
export function undisturbed(runs: readonly (readonly number[])[]): number {
  let total = 0;
  for (let epoch = warmUpEpochs; epoch < runs[0].length; epoch++) {
    total += Math.min(...runs.map((marks) => marks[epoch] - marks[epoch - 1]));
  }
  return (1000 * total) / (runs[0].length - warmUpEpochs);
}
