/** Refuses options that would have no effect, in the words of the command line. */
import { UsageError } from '../../errors.ts';
import { givenOptions, longFlag, type OptionTable, spelling } from './option.ts';

/** Options without the one that they go with. */
export function checkNeeds(table: OptionTable, flags: object): void {
  const given = givenOptions(table, flags);
  const isGiven = (name: string) => given.some((one) => one.name === name);
  for (const { entry, value } of given) {
    if (!entry.needs || entry.needs.some(isGiven)) continue;
    const needed = entry.needs.map((name) => longFlag(table[name])).join(' or ');
    throw new UsageError(`${spelling(entry, value)} needs ${needed}`);
  }
}

/** Options of other solvers than the one that is used. */
export function checkSolverOptions(table: OptionTable, flags: object, solver: string): void {
  for (const { entry, value } of givenOptions(table, flags)) {
    const owners = value === false ? (entry.negation?.solvers ?? entry.solvers) : entry.solvers;
    if (!owners || owners.includes(solver)) continue;
    throw new UsageError(
      `${spelling(entry, value)} is an option of --solver ${owners.join(', ')}; the solver is ${solver}`,
    );
  }
}

/** Options that one pass over rows that are not kept has no use for. */
export function checkProgressive(table: OptionTable, flags: object): void {
  for (const { entry, value } of givenOptions(table, flags)) {
    if (entry.progressive) continue;
    throw new UsageError(
      `${spelling(entry, value)} cannot be used with --progressive, which reads every row once and keeps none`,
    );
  }
}
