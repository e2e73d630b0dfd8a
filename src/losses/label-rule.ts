import { DataError } from '../errors.ts';
import type { Loss } from '../problem/losses/loss.ts';

/** The parts of a data set that the rule looks at. */
interface Labelled {
  readonly name: string;
  readonly parts: readonly { readonly labels: Float64Array }[];
}

/** Refuses labels the loss is not made for; `firstRow` is how many rows stand before these. */
export function checkLabels(loss: Loss, { name, parts }: Labelled, firstRow = 0): void {
  const rule = loss.labels;
  if (rule === undefined) return;
  let row = firstRow;
  for (const { labels } of parts) {
    for (const label of labels) {
      row += 1;
      if (rule.accepts(label)) continue;
      throw new DataError(
        `${name}: row ${row} has label ${label}; the ${loss.name} loss wants ${rule.wanted}`,
      );
    }
  }
}
