/** What an option of the command line and the library is; the tables in this folder list them. */
import { UsageError } from '../../errors.ts';
import type { OptionType } from './types.ts';

/** Headings of `--help`, in the order of the tables. */
export const groups = {
  output: 'Output:',
  problem: 'Problem: minimize lambda * penalty(w) + mean loss',
  preparation: 'Classes, scaling and probabilities:',
  lambdas: 'Lambdas:',
  validation: 'Validation:',
  stopping: 'Stopping, whichever comes first:',
  monitoring: 'Monitoring:',
  checkpoints: 'Checkpoints:',
  memory: 'Out-of-core training:',
  streaming: 'Streaming:',
  processes: 'Several processes (mpirun, mpiexec, srun):',
  solver: 'Solver:',
  settings: 'Options of single solvers:',
  data: 'Data:',
  options: 'Options:',
} as const;

export type Group = keyof typeof groups;

export interface Option {
  /** As in the help: `-o, --output <model>`. `--no-name` is an option that is on by default. */
  readonly flag: string;
  /** Earlier spellings of the flag, still accepted. */
  readonly aliases?: readonly string[];
  /** Without a type the option is a switch. */
  readonly type?: OptionType<unknown>;
  readonly default?: string | number | boolean | readonly (string | number)[];
  /** How the default is shown, where it is not the value itself. */
  readonly defaultText?: string;
  /** The text that is parsed if the option is given without its optional value. */
  readonly preset?: string;
  readonly mandatory?: true;
  /** For a switch: `--no-name` exists as well. */
  readonly negation?: { readonly help: string; readonly solvers?: readonly string[] };
  /** The name in the library; default: the key in the table. false: the library has no such option. */
  readonly library?: string | false;
  readonly group: Group;
  /** Shown by `--help` of commands with many options; the others are shown by `--help-all`. */
  readonly common?: true;
  /** The solvers that have the option; default: it belongs to none in particular. */
  readonly solvers?: readonly string[];
  /** The penalty that has the option. */
  readonly penalty?: string;
  /** The option is the parameter of a loss, which says so itself. */
  readonly lossParameter?: true;
  /** Has no effect without one of these options. */
  readonly needs?: readonly string[];
  readonly conflicts?: readonly string[];
  /** Whether it decides the weights of the model ('end': only when training ends). */
  readonly affectsModel?: true | 'end';
  /** Whether all ranks of a job must have it alike; those that affect the model must in any case. */
  readonly sameOnRanks?: true;
  /** The name under which a model file has it; absent: other fields of the file have the value. */
  readonly provenance?: string;
  /** The value may hold a secret: records say only that the option was given. */
  readonly private?: string;
  /** Whether `--progressive` makes use of it. */
  readonly progressive?: boolean;
  /** An earlier way to say something: accepted, but not shown. */
  readonly hidden?: true;
  /** One line or two of help, lower case, without a full stop. */
  readonly help: string;
  /** A longer description for docs/cli.md, in Markdown; default: the help. */
  readonly doc?: string;
  /** The default as docs/cli.md says it, where it is not the value itself. */
  readonly defaultDoc?: string;
}

export type OptionTable = Readonly<Record<string, Option>>;

type ValueOf<Entry> = Entry extends { readonly type: OptionType<infer Value> } ? Value : boolean;

/** The options that have a value even if none is given. */
type AlwaysSet<Table> = {
  [Name in keyof Table]: Table[Name] extends
    | { readonly default: unknown }
    | { readonly mandatory: true }
    | { readonly flag: `--no-${string}` }
    ? Name
    : never;
}[keyof Table];

/** The values that a command line gives to the options of a table. */
export type Values<Table> = {
  readonly [Name in AlwaysSet<Table>]: ValueOf<Table[Name]>;
} & {
  readonly [Name in Exclude<keyof Table, AlwaysSet<Table>>]?: ValueOf<Table[Name]>;
};

type LibraryName<Name, Entry> = Entry extends { readonly library: infer Other }
  ? Extract<Other, string>
  : Name;

/** The same values under the names of the library. */
export type LibraryValues<Table> = {
  -readonly [Name in keyof Table as LibraryName<Name, Table[Name]>]?: ValueOf<Table[Name]>;
};

/** Keeps the literal types of an entry, from which `Values` is derived. */
export function option<const Entry extends Option>(entry: Entry): Entry {
  return entry;
}

/** The fields of an option with a value, for a table. */
export function flag<const Flag extends string, Type extends OptionType<unknown>, const Rest>(
  written: Flag,
  type: Type,
  rest: Rest,
) {
  return { flag: written, type, ...rest };
}

/** The fields of an option that is on or off. */
export function toggle<const Flag extends string, const Rest>(written: Flag, rest: Rest) {
  return { flag: written, ...rest };
}

type EntryWith<Shared> = Omit<Option, keyof Shared> & Partial<Option>;

/** Makes a table whose entries share some fields; an entry may say otherwise. */
export function optionsWith<const Shared extends Partial<Option>>(shared: Shared) {
  return <const Table extends Readonly<Record<string, EntryWith<Shared>>>>(table: Table) => {
    const entries = Object.entries(table).map(([name, entry]) => [name, { ...shared, ...entry }]);
    return Object.fromEntries(entries) as {
      readonly [Name in keyof Table]: Omit<Shared, keyof Table[Name]> & Table[Name];
    };
  };
}

/** `-o, --output <model>` → `--output`. */
export function longFlag({ flag: written }: Option): string {
  return /--[a-z0-9-]+/.exec(written)?.[0] ?? written;
}

export function isNegative(entry: Option): boolean {
  return longFlag(entry).startsWith('--no-');
}

/** How the option was written that has this value: `--average` or `--no-average`. */
export function spelling(entry: Option, value: unknown): string {
  return entry.negation && value === false
    ? longFlag(entry).replace('--', '--no-')
    : longFlag(entry);
}

export function libraryNameOf(name: string, { library = name }: Option): string | undefined {
  return library === false ? undefined : library;
}

/** What the option is if it is not given. */
export function defaultOf(entry: Option): unknown {
  return entry.default ?? (isNegative(entry) ? true : undefined);
}

type Given = { readonly name: string; readonly entry: Option; readonly value: unknown };

/** The options of the table that were given another value than their default. */
export function givenOptions(table: OptionTable, flags: object): Given[] {
  return Object.entries(table).flatMap(([name, entry]) => {
    const value = (flags as Record<string, unknown>)[name];
    return value === undefined || value === defaultOf(entry) ? [] : [{ name, entry, value }];
  });
}

/**
 * The options that all ranks of a job must have alike, as texts by their flags. Files may have other
 * paths elsewhere: what is in them is compared when they are read.
 */
export function optionsOfRanks(table: OptionTable, flags: object): Record<string, string> {
  const isPath = ({ type }: Option) => type?.files && !type.choices;
  const compared = Object.entries(table).flatMap(([name, entry]) => {
    const value = (flags as Record<string, unknown>)[name];
    const isGiven = value !== undefined && !(isNegative(entry) && value === true);
    if (!isGiven || !(entry.affectsModel || entry.sameOnRanks)) return [];
    const text = isPath(entry) || isNegative(entry) ? 'given' : textOf(value);
    return [[longFlag(entry), text] as const];
  });
  return Object.fromEntries(compared);
}

/** A value as people read it, the same text for the same value. */
export function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  const pairs = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return pairs.map(([name, one]) => `${name}=${textOf(one)}`).join(',');
}

/** The options of the table that have a value, by their names in the library. */
export function libraryValues<Table extends OptionTable>(
  table: Table,
  flags: object,
): LibraryValues<Table> {
  const values: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(table)) {
    const value = (flags as Record<string, unknown>)[name];
    const library = libraryNameOf(name, entry);
    if (library === undefined || value === undefined) continue;
    if (!isNegative(entry) || value === false) values[library] = value;
  }
  return values as LibraryValues<Table>;
}

/** The values of all options that are not given. */
export function defaultValues<Table extends OptionTable>(table: Table): Values<Table> {
  const values = Object.entries(table).map(([name, entry]) => [name, defaultOf(entry)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Values<Table>;
}

/** Some options of a table, or some properties of another object. */
export function pick<Table extends object, Name extends keyof Table>(
  table: Table,
  ...names: readonly Name[]
): Pick<Table, Name> {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<Table, Name>;
}

/** All but some options of a table, or properties of another object. */
export function omit<Table extends object, Name extends keyof Table>(
  table: Table,
  ...names: readonly Name[]
): Omit<Table, Name> {
  const rest = Object.entries(table).filter(([name]) => !names.includes(name as Name));
  return Object.fromEntries(rest) as Omit<Table, Name>;
}

/** Refuses options without one that they need. */
export function checkNeeds(table: OptionTable, flags: object): void {
  const given = givenOptions(table, flags);
  const isGiven = (name: string) => given.some((one) => one.name === name);
  for (const { entry, value } of given) {
    if (!entry.needs || entry.needs.some(isGiven)) continue;
    const needed = entry.needs.map((name) => longFlag(table[name])).join(' or ');
    throw new UsageError(`${spelling(entry, value)} needs ${needed}`);
  }
}

/** Refuses options of other solvers than the one that is used. */
export function checkSolverOptions(table: OptionTable, flags: object, solver: string): void {
  for (const { entry, value } of givenOptions(table, flags)) {
    const owners = value === false ? (entry.negation?.solvers ?? entry.solvers) : entry.solvers;
    if (!owners || owners.includes(solver)) continue;
    throw new UsageError(
      `${spelling(entry, value)} is an option of --solver ${owners.join(', ')}; the solver is ${solver}`,
    );
  }
}

/** Refuses options that have no effect on a single pass over rows that are not stored. */
export function checkProgressive(table: OptionTable, flags: object): void {
  for (const { entry, value } of givenOptions(table, flags)) {
    if (entry.progressive) continue;
    throw new UsageError(
      `${spelling(entry, value)} cannot be used with --progressive, which reads every row once and keeps none`,
    );
  }
}
