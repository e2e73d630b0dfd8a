import {
  type Arena,
  Budget,
  createArena,
  narrowLimit,
  padded,
  workspaceIn,
} from '../../src/engine/arena.ts';

export type NumberArray = Float64Array | Float32Array | Int32Array | Uint8Array;

const exact = (value: number) => (Object.is(value, -0) ? '-0' : String(value));

/** The first index where two arrays differ (−0 and 0 differ, NaN is NaN). */
export function firstDifference(found: NumberArray, expected: NumberArray): string | undefined {
  if (found.length !== expected.length)
    return `length ${found.length}, expected ${expected.length}`;
  for (let k = 0; k < found.length; k++) {
    if (Object.is(found[k], expected[k])) continue;
    return `[${k}] is ${exact(found[k])}, expected ${exact(expected[k])}`;
  }
  return undefined;
}

/** A memory with addresses of 64 bits, and room beyond 4 GiB; what comes before is never touched. */
export function farArena(bytes: number): Arena {
  const arena = createArena(padded(narrowLimit) + bytes);
  workspaceIn(arena, narrowLimit);
  return arena;
}

/** An arena that records its allocations. */
class Ledger implements Arena {
  readonly arrays: NumberArray[] = [];
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }
  get memory() {
    return this.#arena.memory;
  }
  #keep<Kind extends NumberArray>(array: Kind): Kind {
    this.arrays.push(array);
    return array;
  }
  float64(length: number): Float64Array {
    return this.#keep(this.#arena.float64(length));
  }
  float32(length: number): Float32Array {
    return this.#keep(this.#arena.float32(length));
  }
  int32(length: number): Int32Array {
    return this.#keep(this.#arena.int32(length));
  }
  uint8(length: number): Uint8Array {
    return this.#keep(this.#arena.uint8(length));
  }
}

/** One WebAssembly memory with what `fill` reserves, and the arrays it was given, in order. */
export function filledArena<Content>(
  fill: (arena: Arena) => Content,
  arenaOf: (bytes: number) => Arena = createArena,
): {
  content: Content;
  memory: WebAssembly.Memory;
  arrays: readonly NumberArray[];
} {
  const budget = new Budget();
  fill(budget);
  const ledger = new Ledger(arenaOf(budget.bytes));
  const content = fill(ledger);
  return { content, memory: ledger.memory as WebAssembly.Memory, arrays: ledger.arrays };
}
