import { createHash } from 'node:crypto';
import type { Axis, NumberType } from '../engine/checkpoint/state.ts';
import type { Workers } from './names.ts';

/** What a run was made of; the bits of its model depend on every line of it. */
export interface Identity {
  readonly data: {
    readonly rows: number;
    readonly columns: number;
    readonly nonzeros: number;
    readonly hash: string;
  };
  /** Options and settings by the names that messages use. */
  readonly options: Readonly<Record<string, number | string | boolean | null>>;
}

export interface ArrayEntry {
  readonly name: string;
  readonly axis: Axis;
  readonly type: NumberType;
  readonly length: number;
}

/** Numbers that threads keep outside of shared memory, by who keeps them. */
export interface SavedNumbers {
  readonly standing: unknown;
  readonly method: unknown;
}

/** The JSON part of a checkpoint. */
export interface Header {
  /** Version of the program that wrote it. */
  readonly program: string;
  readonly identity: Identity;
  /** The logical workers whose part of the arrays the file holds, out of `grid`. */
  readonly workers: Workers;
  readonly grid: number;
  /** Epochs done, and the seconds of training they took. */
  readonly epoch: number;
  readonly seconds: number;
  /** Epoch of the checkpoint that was there before, 0 if this is the first one of the run. */
  readonly follows: number;
  /** What may change when a run goes on. */
  readonly tolerance: number;
  /** Which rows are tested on, and how; null for none. */
  readonly test: string | null;
  readonly saved: SavedNumbers;
  readonly arrays: readonly ArrayEntry[];
}

const specialNumbers = new Map([
  ['-0', -0],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['NaN', NaN],
]);

/** JSON has no −0 and no infinities: they are written as strings. */
export function encode(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'number') return inner;
    return Object.is(inner, -0) ? '-0' : Number.isFinite(inner) ? inner : String(inner);
  });
}

export function decode(text: string): unknown {
  return JSON.parse(text, (_key, inner: unknown) =>
    typeof inner === 'string' ? (specialNumbers.get(inner) ?? inner) : inner,
  );
}

/**
 * A hash of all that the parts of one checkpoint have in common. Training is deterministic: files
 * with the same state hold parts of the same arrays, no matter how many processes wrote them.
 */
export function stateOf(header: Header): string {
  const { program, identity, grid, epoch, tolerance, test, saved } = header;
  const common = encode({ program, identity, grid, epoch, tolerance, test, saved });
  return createHash('sha256').update(common).digest('hex').slice(0, 32);
}
