/** Logical workers: the first, and one past the last. */
export type Workers = readonly [first: number, end: number];

/*
 * A process that plays all workers keeps `epoch-0000000060.checkpoint`, one of several
 * `epoch-0000000060.workers-2-4.checkpoint`; how many workers there are in all is in the header.
 */
const pattern = /^epoch-(\d{10})(?:\.workers-(\d+)-(\d+))?\.checkpoint$/;

/** What a name tells; of a file without workers in its name, that it may have any. */
export interface Named {
  readonly epoch: number;
  readonly workers: Workers;
}

export function nameOf(epoch: number, [first, end]: Workers, grid: number): string {
  const part = first === 0 && end === grid ? '' : `.workers-${first}-${end}`;
  return `epoch-${String(epoch).padStart(10, '0')}${part}.checkpoint`;
}

export function parseName(name: string): Named | undefined {
  const [, epoch, first, end] = pattern.exec(name) ?? [];
  if (epoch === undefined) return undefined;
  const workers = first === undefined ? ([0, Infinity] as const) : ([+first, +end] as const);
  return { epoch: Number(epoch), workers };
}

/** The name that a file has until it is whole. */
export function partialOf(name: string): string {
  return `.${name}.partial`;
}

export function parsePartial(name: string): Named | undefined {
  const [, whole] = /^\.(.+)\.partial$/.exec(name) ?? [];
  return whole === undefined ? undefined : parseName(whole);
}

export function overlap(one: Workers, other: Workers): boolean {
  return Math.max(one[0], other[0]) < Math.min(one[1], other[1]);
}

/** Workers in words. */
export function workersText([first, end]: Workers): string {
  return end - first === 1 ? `worker ${first}` : `workers ${first} to ${end - 1}`;
}
