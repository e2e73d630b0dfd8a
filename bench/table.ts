/** Lines up columns: words and the first column to the left, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = head.map((title, column) => {
    const cells = rows.map((row) => row[column]);
    const width = Math.max(title.length, ...cells.map((cell) => cell.length));
    const numeric = column > 0 && cells.every((cell) => /^[≤≥–\d]|^$/.test(cell));
    return { width, numeric };
  });
  const line = (cells: readonly string[]) =>
    columns
      .map(({ width, numeric }, k) => (numeric ? cells[k].padStart(width) : cells[k].padEnd(width)))
      .join('  ')
      .trimEnd();
  const rule = columns.map(({ width }) => '-'.repeat(width)).join('  ');
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** Three significant digits at least, but no more decimals than that needs. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(decimals);
}
