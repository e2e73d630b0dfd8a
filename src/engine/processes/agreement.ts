/** What all processes of a job must have in common, and the message where they do not. */
import { UsageError } from '../../errors.ts';
import { gatherValues, type ProcessGroup } from './process-group.ts';

/** Values as texts, by the names that messages have for them; absent: not given. */
export type Settings = Readonly<Record<string, string>>;

/** How the settings of the first rank that differs from rank 0 do so; undefined if all are equal. */
export function disagreement(
  ranks: readonly Settings[],
  nameOf: (rank: number) => string,
): string | undefined {
  const [first] = ranks;
  for (const [rank, own] of ranks.entries()) {
    const names = [...new Set([...Object.keys(first), ...Object.keys(own)])];
    const differing = names.filter((name) => first[name] !== own[name]);
    if (differing.length === 0) continue;
    // The options of another command follow from it.
    const differences = (differing.includes('command') ? ['command'] : differing).map(
      (name) => `${name} (${shown(first[name])} and ${shown(own[name])})`,
    );
    return `${nameOf(0)} and ${nameOf(rank)} differ in ${differences.join(', ')}: all ranks need the same`;
  }
  return undefined;
}

function shown(value: string | undefined): string {
  return value ?? 'not given';
}

/** Refuses, in all processes alike, to work with different settings. */
export async function checkAgreement(group: ProcessGroup, settings: Settings): Promise<void> {
  if (group.size === 1) return;
  const all = await gatherValues(group, settings);
  const found = disagreement(all, (rank) => group.nameOf(rank));
  if (found !== undefined) throw new UsageError(found);
}
