/** The shapes of generated data: apart from the generator, since the options of commands name them. */
import { UsageError } from '../errors.ts';

/** What generated data looks like, apart from its size. */
export interface Shape {
  /** m, d and |Ω|/m of the paper's data set. */
  readonly rows: number;
  readonly columns: number;
  readonly perRow: number;
  /** σ of the logarithm of a row's length; 0: all rows are equally long. */
  readonly spread: number;
  /** Whether all values of a row are equal, as for indicator features. */
  readonly binary: boolean;
  /** Share of the class +1. */
  readonly positive: number;
  /** Share of labels that are flipped. */
  readonly noise: number;
  /** How far apart the classes are, in standard deviations of the planted score. */
  readonly separation: number;
}

/**
 * The paper's table: real-sim and webspam-t; splice as its section on terascale learning describes
 * it. The share of the classes is that of the public data.
 */
const shapes = {
  'real-sim': {
    rows: 57_760,
    columns: 20_950,
    perRow: 2.97e6 / 57_760,
    spread: 0.6,
    binary: false,
    positive: 0.31,
    noise: 0.01,
    separation: 3.6,
  },
  webspam: {
    rows: 350_000,
    columns: 16_610_000,
    perRow: 1.28e9 / 350_000,
    spread: 0.8,
    binary: false,
    positive: 0.61,
    noise: 0.005,
    separation: 3.5,
  },
  splice: {
    rows: 50_000_000,
    columns: 11_700_000,
    perRow: 2000,
    spread: 0,
    binary: true,
    positive: 0.03,
    noise: 0.001,
    separation: 3,
  },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
export const shapeNames = Object.keys(shapes) as readonly ShapeName[];

/** The shape, with the numbers of rows and columns scaled. */
export interface ScaledShape extends Shape {
  readonly testRows: number;
}

/**
 * Rows grow with the scale, columns with its square root (the way vocabularies grow with a text):
 * the length of a row stays the same and the density changes slowly. There are always enough columns
 * that rows do not share most of them. The table counts training rows; the test part has a quarter
 * as many in addition, which makes an 80/20 split.
 */
export function scaleShape(name: string, scale: number): ScaledShape {
  if (!Object.hasOwn(shapes, name)) {
    throw new UsageError(`unknown shape "${name}"; expected one of ${shapeNames.join(', ')}`);
  }
  if (!(scale > 0 && scale < Infinity)) {
    throw new UsageError(`scale ${scale}; expected a number above 0`);
  }
  const shape: Shape = shapes[name as ShapeName];
  const rows = Math.max(2, Math.round(shape.rows * scale));
  const columns = Math.round(Math.max(shape.columns * Math.sqrt(scale), 4 * shape.perRow));
  if (columns > 2 ** 30 || rows > 2 ** 31 - 1) {
    throw new UsageError(`scale ${scale} gives ${rows} rows and ${columns} columns: too many`);
  }
  return { ...shape, rows, columns, testRows: Math.max(2, Math.round(rows / 4)) };
}
