/** A visit whose result depends on every visit before it, of its worker and of its block. */
export function touch(
  worker: number,
  block: number,
  rows: Float64Array,
  columns: Float64Array,
): void {
  const [row, column] = [rows[worker], columns[block]];
  rows[worker] = Math.cos(3 * row + column + worker);
  columns[block] = Math.sin(row - 2 * column + block);
}
