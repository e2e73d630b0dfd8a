import type { Random } from '../../src/math/random.ts';

/** Whether something of this chance happens. */
export function chance(random: Random, probability: number): boolean {
  return random.uniform() < probability;
}

/** An element, each equally likely. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.below(items.length)];
}
