import type { Command, Option } from 'commander';
import { lossNames } from '../../losses/index.ts';

/** What a value of an option or argument can be. */
export interface Value {
  /** Words to choose from. */
  readonly choices: readonly string[];
  readonly files: boolean;
}

export interface OptionWords {
  /** `-o` and `--output`, as far as there are. */
  readonly flags: readonly string[];
  readonly description: string;
  /** undefined: the option has no value. */
  readonly value: Value | undefined;
}

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** One for each place; the last one also for what follows, if `repeated`. */
  readonly values: readonly Value[];
  readonly repeated: boolean;
}

/** What can be written behind the name of the program. */
export interface ProgramWords {
  readonly name: string;
  readonly options: readonly OptionWords[];
  readonly commands: readonly CommandWords[];
}

/** Words in angle brackets that stand for a file or a folder. */
const fileNames =
  /^(file|files|model|models|data|runs|folder|directory|path|prefix|visits|names?)$/;
/** Options that also take a path, and so have no choices that commander could check. */
const openChoices: Readonly<Record<string, readonly string[]>> = { '--loss': lossNames };

/** Everything of the program that a shell can complete, as commander has it. */
export function programWords(program: Command): ProgramWords {
  const help = program.createHelp();
  const commands = help
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .map((command) => commandWords(command));
  return { name: program.name(), options: optionWords(program), commands };
}

function commandWords(command: Command): CommandWords {
  const { registeredArguments, commands } = command;
  const parts = commands.map((part) => part.name());
  return {
    name: command.name(),
    summary: command.summary() || firstLine(command.description()),
    options: optionWords(command),
    values:
      parts.length > 0
        ? [{ choices: parts, files: false }]
        : registeredArguments.map((argument) =>
            namedValue(argument.name(), argument.argChoices ?? []),
          ),
    repeated: registeredArguments.at(-1)?.variadic ?? false,
  };
}

function optionWords(command: Command): OptionWords[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map((option) => ({
      flags: [option.short, option.long].filter((flag) => typeof flag === 'string'),
      description: firstLine(option.description),
      value: option.required || option.optional ? optionValue(option) : undefined,
    }));
}

function optionValue(option: Option): Value {
  const open = openChoices[option.long ?? ''];
  if (open !== undefined) return { choices: open, files: true };
  const name = /[<[]([^>\].]+)/.exec(option.flags)?.[1] ?? '';
  // `<name>` is one of a few, or free.
  return name === 'name'
    ? { choices: option.argChoices ?? [], files: false }
    : namedValue(name, option.argChoices ?? []);
}

function namedValue(name: string, choices: readonly string[]): Value {
  return { choices, files: choices.length === 0 && fileNames.test(name) };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}
