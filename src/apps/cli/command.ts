/** Makes commander commands from the entries of commands/index.ts. */
import { Argument, type Command, Option as CommanderOption, Help } from 'commander';
import {
  groups,
  longFlag,
  type Option,
  type OptionTable,
  type Values,
} from '../../train/options/option.ts';
import { type OptionType, parseValue } from '../../train/options/types.ts';
import type { Terminal } from './terminal.ts';

/** What a command is run with, besides its arguments. */
export interface Invocation<Flags = unknown> {
  readonly flags: Flags;
  readonly terminal: Terminal;
  /** The command line after `dso`. */
  readonly words: readonly string[];
  readonly program: Command;
}

/** Does the work of a command and returns its exit code, by default 0. */
export type Action<Flags> = (
  invocation: Invocation<Flags>,
  ...args: string[]
) => Promise<number | undefined>;

export interface CommandEntry<Table extends OptionTable = OptionTable> {
  readonly alias?: string;
  /**
   * Whether the ranks of an MPI job do it together. By default they are refused, since each would do
   * all of it and write the same files; a text says why, or what to do instead.
   */
  readonly ranks?: 'together' | (string & {});
  /** Whether it describes all commands, so that all must be known. */
  readonly usesAll?: boolean;
  /** For the list of commands. */
  readonly summary: string;
  /** For its own help. */
  readonly description: string;
  /** `<data>` or `[data]` → what it is, and its default. */
  readonly arguments?: Readonly<Record<string, string | readonly [string, string] | Argument>>;
  readonly options?: Table;
  readonly examples?: string;
  readonly commands?: Readonly<Record<string, CommandEntry>>;
  /** What the table cannot say. */
  readonly configure?: (command: Command) => void;
  /** Imports the code of the command only when it runs, so that `dso --help` stays instant. */
  readonly load: () => Promise<Action<Values<Table>>>;
}

/** An entry whose action gets the values of its own options. */
export function command<Table extends OptionTable>(entry: CommandEntry<Table>): CommandEntry {
  return entry as unknown as CommandEntry;
}

/** Commands with more options than this show only the common ones in `--help`. */
const manyOptions = 30;

export type Run = (
  entry: CommandEntry,
  args: readonly unknown[],
  command: Command,
) => Promise<void>;

export function addCommand(parent: Command, name: string, entry: CommandEntry, run: Run): void {
  const made = parent
    .command(name)
    .summary(entry.summary)
    .description(entry.description)
    .action((...args: unknown[]) => run(entry, args.slice(0, -2), args.at(-1) as Command));
  if (entry.alias !== undefined) made.alias(entry.alias);
  for (const [written, about] of Object.entries(entry.arguments ?? {})) {
    if (about instanceof Argument) made.addArgument(about);
    else made.argument(written, ...([about].flat() as [string, string?]));
  }
  const table = entry.options ?? {};
  for (const [key, described] of byGroup(table)) addOption(made, key, described);
  addHelpAll(made, table);
  if (entry.examples !== undefined) made.addHelpText('after', `\n${entry.examples}`);
  if (entry.commands) made.enablePositionalOptions();
  for (const [part, own] of Object.entries(entry.commands ?? {})) addCommand(made, part, own, run);
  entry.configure?.(made);
}

function byGroup(table: OptionTable): [string, Option][] {
  const entries = Object.entries(table);
  return Object.keys(groups).flatMap((group) => entries.filter(([, one]) => one.group === group));
}

export function describeOption({ help, solvers, type, defaultText, ...entry }: Option): string {
  const owners = solvers ? `${solvers.join(', ')}: ` : '';
  const listed = type?.choices?.every((name) => help.includes(name)) ?? true;
  const choices = listed ? '' : `: ${type?.choices?.join(', ')}`;
  const shown = defaultText ?? (entry.default === undefined ? undefined : String(entry.default));
  return `${owners}${help}${choices}${shown === undefined ? '' : ` (default: ${shown})`}`;
}

/** An option of commander with the type that it has in the table. */
export class TypedOption extends CommanderOption {
  type: OptionType<unknown> | undefined;
}

function addOption(made: Command, key: string, entry: Option): void {
  const heading = groups[entry.group];
  const add = (flag: string, hidden: boolean, described = entry) => {
    const built = new TypedOption(flag, describeOption(described)).helpGroup(heading);
    built.attributeName = () => key;
    const { type } = entry;
    if (type) {
      built.type = type;
      built.argParser((text, before) => {
        const earlier = made.getOptionValueSource(key) === 'cli' ? before : undefined;
        return parseValue(flag.match(/--[a-z0-9-]+/)?.[0] ?? flag, text, type, earlier);
      });
    }
    if (entry.default !== undefined) built.default(entry.default);
    if (entry.preset !== undefined) built.preset(entry.preset);
    if (entry.conflicts) built.conflicts([...entry.conflicts]);
    if (entry.mandatory) built.makeOptionMandatory();
    if (hidden) built.hideHelp();
    made.addOption(built);
  };
  add(entry.flag, entry.hidden ?? false);
  if (entry.negation) {
    add(longFlag(entry).replace('--', '--no-'), false, { ...entry, ...entry.negation });
  }
  for (const alias of entry.aliases ?? []) add(alias, true);
}

/** `--help-all` shows every option, and `--help` too unless there are many: then the common ones. */
function addHelpAll(made: Command, table: OptionTable): void {
  const many = Object.keys(table).length > manyOptions;
  const common = new Set(
    Object.values(table).flatMap((entry) => (entry.common ? longFlag(entry) : [])),
  );
  let all = !many;
  const option = new CommanderOption('--help-all', 'show help with all options');
  made
    .addOption(option.helpGroup('Options:').hideHelp(!many))
    .on('option:help-all', () => {
      all = true;
      // A command gets the options behind its subcommand too.
      const part = made.commands.find((one) => made.parent?.args.includes(one.name()));
      (part ?? made).help();
    })
    .configureHelp({
      ...made.configureHelp(),
      formatHelp(shown, helper) {
        if (all) return Help.prototype.formatHelp.call(helper, shown, helper);
        const visible = helper.visibleOptions(shown);
        helper.visibleOptions = () => visible.filter(({ long }) => common.has(long ?? ''));
        const text = Help.prototype.formatHelp.call(helper, shown, helper);
        return `${text}\nAll options: dso ${shown.name()} --help-all\n`;
      },
    });
}
