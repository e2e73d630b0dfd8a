import type { Random } from '../../src/math/random.ts';

/** Whether something of this chance happens. */
export function chance(random: Random, probability: number): boolean {
  return random.uniform() < probability;
}

/** An element, each equally likely. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random.below(items.length)];
}

/** Removes steps as long as what is left still fails; `fails` is given each shorter list. */
export async function fewest<Step>(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let left = steps;
  for (let at = left.length - 1; at >= 0; at--) {
    const shorter = left.filter((_, index) => index !== at);
    if (await fails(shorter)) left = shorter;
  }
  return left;
}
