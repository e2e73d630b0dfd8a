/** Makes commander commands from the entries of commands/index.ts. */
import { type Argument, type Command, Option as CommanderOption, Help } from 'commander';
import { UsageError } from '../../errors.ts';
import {
  groups,
  longFlag,
  type Option,
  type OptionTable,
  type Values,
} from '../../train/options/option.ts';
import { type OptionType, parseValue } from '../../train/options/types.ts';
import type { Terminal } from './terminal.ts';

/** What a command is run with. */
export interface Invocation<Flags> {
  /** The positional arguments, in order; those not given are undefined. */
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly terminal: Terminal;
  /** The command line after `dso`. */
  readonly words: readonly string[];
  readonly program: Command;
}

export interface CommandEntry<Table extends OptionTable = OptionTable> {
  readonly alias?: string;
  /** For the list of commands. */
  readonly summary: string;
  /** For its own help. */
  readonly description: string;
  /** `<data>` or `[data]` → what it is. */
  readonly arguments?: Readonly<Record<string, string | Argument>>;
  readonly options?: Table;
  readonly examples?: string;
  readonly commands?: Readonly<Record<string, CommandEntry>>;
  /** What the table cannot say. */
  readonly configure?: (command: Command) => void;
  /** Imports the code of the command, so that `dso --help` stays instant, and runs it. */
  readonly run: (invocation: Invocation<Values<Table>>) => Promise<number>;
}

/** An entry whose `run` gets the values of its own options. */
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
    if (typeof about === 'string') made.argument(written, about);
    else made.addArgument(about);
  }
  const table = entry.options ?? {};
  for (const [key, described] of byGroup(table)) addOption(made, key, described);
  const brief = Object.keys(table).length > manyOptions;
  if (brief) addHelpAll(made, table);
  if (entry.examples !== undefined) made.addHelpText('after', `\n${entry.examples}`);
  if (entry.commands) made.enablePositionalOptions();
  for (const [part, own] of Object.entries(entry.commands ?? {})) addCommand(made, part, own, run);
  entry.configure?.(made);
}

/** The options in the order of their groups. */
function byGroup(table: OptionTable): [string, Option][] {
  const order = Object.keys(groups);
  const entries = Object.entries(table);
  return entries.toSorted(
    ([, left], [, right]) => order.indexOf(left.group) - order.indexOf(right.group),
  );
}

/** What the help says of an option. */
export function describeOption({ help, solvers, type, defaultText, ...entry }: Option): string {
  const owners = solvers ? `${solvers.join(', ')}: ` : '';
  const listed = type?.choices?.every((name) => help.includes(name)) ?? true;
  const choices = listed ? '' : `: ${type?.choices?.join(', ')}`;
  const shown = defaultText ?? (entry.default === undefined ? undefined : String(entry.default));
  return `${owners}${help}${choices}${shown === undefined ? '' : ` (default: ${shown})`}`;
}

const optionTypes = new WeakMap<CommanderOption, OptionType<unknown>>();

/** The type in the table of an option that was made from it. */
export function optionTypeOf(made: CommanderOption): OptionType<unknown> | undefined {
  return optionTypes.get(made);
}

function addOption(made: Command, key: string, entry: Option): void {
  const heading = groups[entry.group];
  const add = (flag: string, hidden: boolean, described = entry) => {
    const built = new CommanderOption(flag, describeOption(described)).helpGroup(heading);
    built.attributeName = () => key;
    const { type } = entry;
    if (type) {
      optionTypes.set(built, type);
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

/** `--help` shows the common options, `--help-all` every one. */
function addHelpAll(made: Command, table: OptionTable): void {
  const common = new Set(
    Object.values(table).flatMap((entry) => (entry.common ? longFlag(entry) : [])),
  );
  let all = false;
  made
    .addOption(
      new CommanderOption('--help-all', 'show help with all options').helpGroup('Options:'),
    )
    .on('option:help-all', () => {
      all = true;
      made.help();
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

/** A word that is no subcommand. */
export function refuseWord(name: string, word: string, commands: readonly string[]): never {
  throw new UsageError(`${name} ${word}: expected ${commands.join(' or ')}, or no further word`);
}
