import type { DatasetPart } from '../dataset.ts';

/**
 * Rows as a reader builds them, far from the other rows of the input: columns and labels are
 * places in lists of their own. The `Assembler` gives them their final numbers, block by block in
 * the order of the input.
 */
export interface NamedRows extends DatasetPart {
  /** What the columns are called, by column; in the order in which the rows met them. */
  readonly names: readonly string[];
  /** Where some label is no number: the labels as texts; `labels` are places in this list. */
  readonly labelTexts?: readonly string[];
  /** Whether columns ascend in every row, without repeats. */
  readonly ordered: boolean;
}
