/** Whom a cell of the canvas belongs to. */
export const nobody = -1;

/** Bits of the dots of a braille character, by row and column: U+2800 plus their sum. */
const brailleBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/**
 * Dots to draw lines with: two by four in every cell of a terminal, by braille characters, or one
 * where there are only the characters of ASCII. A cell has the colour of who drew into it last.
 */
export class TextCanvas {
  readonly columns: number;
  readonly rows: number;
  /** Dots of a cell. */
  readonly #wide: number;
  readonly #high: number;
  readonly #bits: Uint8Array;
  readonly #owners: Int8Array;
  /** A bit for everybody who drew into a cell. */
  readonly #visitors: Uint32Array;

  constructor(columns: number, rows: number, ascii: boolean) {
    this.columns = columns;
    this.rows = rows;
    this.#wide = ascii ? 1 : 2;
    this.#high = ascii ? 1 : 4;
    this.#bits = new Uint8Array(columns * rows);
    this.#owners = new Int8Array(columns * rows).fill(nobody);
    this.#visitors = new Uint32Array(columns * rows);
  }

  /** Who drew into a cell last, or nobody. */
  owner(column: number, row: number): number {
    return this.#owners[row * this.columns + column];
  }

  /** Whether somebody drew into a cell, the last or not. */
  touched(column: number, row: number, owner: number): boolean {
    return (this.#visitors[row * this.columns + column] & (1 << (owner % 32))) !== 0;
  }

  braille(column: number, row: number): string {
    return String.fromCodePoint(0x2800 + this.#bits[row * this.columns + column]);
  }

  /** The row of cells in which 0 (bottom) … 1 (top) lies. */
  rowOf(place: number): number {
    return Math.floor(this.#dotRow(place) / this.#high);
  }

  columnOf(place: number): number {
    return Math.floor(this.#dotColumn(place) / this.#wide);
  }

  /** A line through points of the unit square, and what of it leaves the square is cut off. */
  draw(points: readonly (readonly [x: number, y: number])[], owner: number): void {
    for (const [index, point] of points.entries()) {
      const segment = clip(points[Math.max(0, index - 1)], point);
      if (segment) this.#line(segment[0], segment[1], owner);
    }
  }

  #line([x0, y0]: Place, [x1, y1]: Place, owner: number): void {
    const [fromX, fromY] = [this.#dotColumn(x0), this.#dotRow(y0)];
    const [toX, toY] = [this.#dotColumn(x1), this.#dotRow(y1)];
    const steps = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY));
    for (let step = 0; step <= steps; step++) {
      const part = steps === 0 ? 0 : step / steps;
      this.#dot(
        Math.round(fromX + part * (toX - fromX)),
        Math.round(fromY + part * (toY - fromY)),
        owner,
      );
    }
  }

  #dot(x: number, y: number, owner: number): void {
    const cell = Math.floor(y / this.#high) * this.columns + Math.floor(x / this.#wide);
    this.#bits[cell] |= brailleBits[y % this.#high][x % this.#wide];
    this.#owners[cell] = owner;
    this.#visitors[cell] |= 1 << (owner % 32);
  }

  #dotColumn(place: number): number {
    return Math.round(place * (this.columns * this.#wide - 1));
  }

  #dotRow(place: number): number {
    return Math.round((1 - place) * (this.rows * this.#high - 1));
  }
}

type Place = readonly [x: number, y: number];

/** The part of a segment inside the unit square: from a + s(b − a) to a + t(b − a). */
function clip(a: Place, b: Place): [Place, Place] | undefined {
  // Most segments lie inside.
  if (isInside(a) && isInside(b)) return [a, b];
  let [s, t] = [0, 1];
  for (const axis of [0, 1] as const) {
    const slope = b[axis] - a[axis];
    if (slope === 0) {
      if (a[axis] < 0 || a[axis] > 1) return undefined;
      continue;
    }
    const ends = [(0 - a[axis]) / slope, (1 - a[axis]) / slope];
    s = Math.max(s, Math.min(...ends));
    t = Math.min(t, Math.max(...ends));
  }
  if (s > t) return undefined;
  const at = (part: number): Place => [inside(a[0], b[0], part), inside(a[1], b[1], part)];
  return [at(s), at(t)];
}

function isInside([x, y]: Place): boolean {
  return x >= 0 && x <= 1 && y >= 0 && y <= 1;
}

function inside(a: number, b: number, part: number): number {
  return Math.min(1, Math.max(0, a + part * (b - a)));
}
