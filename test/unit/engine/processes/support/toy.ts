/** A made-up run in which every visit depends on all visits before it, of its worker and block. */
export interface Toy {
  /** Workers and blocks. */
  readonly grid: number;
  readonly rotations: number;
}

/** What a block is made of. */
export interface Block {
  readonly weights: Float64Array;
  readonly marks: Int32Array;
  readonly others: Float64Array;
}

/** Blocks differ in length, and some are empty. */
export function blockLength(block: number): number {
  return [3, 40, 0, 1, 17, 5, 1000][block % 7];
}

export function firstWeight(block: number, index: number): number {
  return Math.sin(block + index / 7);
}

/** What rotations do in turn: change weights and marks, change the others, change both again, read weights. */
export function isReading(rotation: number): boolean {
  return rotation % 4 === 3;
}

/** Weights and marks travel in even rotations, the others or the weights in odd ones. */
export function visit(
  rotation: number,
  worker: number,
  block: number,
  rows: Float64Array,
  { weights, marks, others }: Block,
): void {
  const reads = isReading(rotation);
  const values = rotation % 2 === 0 || reads ? weights : others;
  for (let k = 0; k < values.length; k++) {
    if (!reads) values[k] = Math.cos(3 * values[k] + rows[worker] + worker);
    rows[worker] = Math.sin(rows[worker] - 2 * values[k] + block);
    if (rotation % 2 === 0) marks[k] = Math.imul(marks[k] + worker, 31) + rotation;
  }
}

/** Whether the workers talk after a rotation. */
export function talksAfter(rotation: number): boolean {
  return rotation % 3 === 2;
}

/** What a worker does to its own after they have talked. */
export function settle(
  worker: number,
  rows: Float64Array,
  home: Block,
  sum: number,
  received: number,
): void {
  rows[worker] = Math.cos(rows[worker] + sum);
  for (let k = 0; k < home.weights.length; k++) home.weights[k] -= received / 3;
}

/** One worker after the other. */
export function runAlone({ grid, rotations }: Toy): { rows: Float64Array; blocks: Block[] } {
  const rows = new Float64Array(grid);
  const blocks = Array.from({ length: grid }, (_, block) => {
    const length = blockLength(block);
    const weights = Float64Array.from({ length }, (_number, k) => firstWeight(block, k));
    return { weights, marks: new Int32Array(length), others: new Float64Array(length) };
  });
  for (let rotation = 0; rotation < rotations; rotation++) {
    for (let iteration = 0; iteration < grid; iteration++) {
      for (let worker = 0; worker < grid; worker++) {
        const block = (worker + iteration) % grid;
        visit(rotation, worker, block, rows, blocks[block]);
      }
    }
    if (!talksAfter(rotation)) continue;
    const sum = rows.reduce((total, row) => total + row);
    const received = sum + rotation;
    for (let worker = 0; worker < grid; worker++)
      settle(worker, rows, blocks[worker], sum, received);
  }
  return { rows, blocks };
}
