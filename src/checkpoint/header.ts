import type { Axis, NumberType } from './state.ts';

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
  /** The logical workers whose part of the arrays the file holds: first, and one past the last. */
  readonly workers: readonly [number, number];
  /** Epochs done, and the seconds of training they took. */
  readonly epoch: number;
  readonly seconds: number;
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
export function headerText(header: Header): string {
  return `${JSON.stringify(header, (_key, value: unknown) => {
    if (typeof value !== 'number') return value;
    return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value);
  })}\n`;
}

export function parseHeader(text: string): Header {
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'string' ? (specialNumbers.get(value) ?? value) : value,
  ) as Header;
}
