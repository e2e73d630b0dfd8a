import type { Command, Option } from 'commander';
import { optionTypeOf } from './command.ts';
import type { Shell } from './shells.ts';
import { exitCodes, type Terminal } from './terminal.ts';

/**
 * The words before the cursor give the command and, for an argument, its place; then one `case`
 * says what can stand there. Works from bash 3.2 on, without the package bash-completion.
 */
export function bashScript({ name, options, commands }: ProgramWords): string {
  const names = commands.map((command) => command.name);
  return `# Completion of ${name} for bash.
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local words='' files='' command='' place=0 index word skip=''
  COMPREPLY=()
  # --option=value is three words to bash.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' && $COMP_CWORD -gt 1 ]]; then
    previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ -n $skip ]]; then
      [[ $word == '=' ]] && continue
      skip=''
    elif [[ -z $command ]]; then
      [[ $word != -* ]] && command="$word"
    elif [[ $word == -?* ]]; then
      case "$command $word" in
${indent(valueFlags(commands), 8)}
      esac
    else
      place=$((place + 1))
    fi
  done
  case "$command" in
    '')
      words=${bashQuote([...names, 'help', ...flagsOf(options)].join(' '))}
      ;;
    help)
      words=${bashQuote(names.join(' '))}
      ;;
${indent(commands.map(bashCommandCase).join('\n'), 4)}
  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
  if [[ -n $files ]]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$current"))
    compopt -o filenames 2> /dev/null
  fi
}
complete -F _${name} ${name}
`;
}

/** Options of which the next word is the value. */
function valueFlags(commands: readonly CommandWords[]): string {
  const patterns = commands.flatMap(({ name, options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .flatMap(({ flags }) => flags.map((flag) => `'${name} ${flag}'`)),
  );
  return `${patterns.join(' | \\\n  ')}) skip=1 ;;`;
}

function bashCommandCase({ name, options, values, repeated }: CommandWords): string {
  const withValue = options.filter(({ value }) => value !== undefined);
  const cases = withValue.map(
    ({ flags, value }) => `${flags.join(' | ')}) ${assignments(value!)} ;;`,
  );
  const words = bashQuote(flagsOf(options).join(' '));
  return `${name})
  case "$previous" in
${indent(cases.join('\n'), 4)}
    *)
      if [[ $current == -* ]]; then
        words=${words}
      else
        case "$place" in
${indent(places(values, repeated), 10)}
        esac
      fi
      ;;
  esac
  ;;`;
}

function places(values: readonly Value[], repeated: boolean): string {
  const cases = values.map((value, place) => {
    const pattern = repeated && place === values.length - 1 ? '*' : String(place);
    return `${pattern}) ${assignments(value)} ;;`;
  });
  return cases.length > 0 ? cases.join('\n') : '*) ;;';
}

function assignments({ choices, files }: Value): string {
  const parts = [
    ...(choices.length > 0 ? [`words=${bashQuote(choices.join(' '))}`] : []),
    ...(files ? ['files=1'] : []),
  ];
  return parts.length > 0 ? parts.join(' ') : ':';
}

function flagsOf(options: readonly OptionWords[]): string[] {
  return options.flatMap(({ flags }) => flags);
}

function bashQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function indent(text: string, spaces: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(spaces));
}

/** One line for each word that can be completed; files only where they are asked for. */
export function fishScript({ name, options, commands }: ProgramWords): string {
  const first = '__fish_use_subcommand';
  return [
    `# Completion of ${name} for fish.`,
    `complete -c ${name} -f`,
    ...options.map((option) => optionLine(name, first, option)),
    ...[...commands, helpCommand].map(
      (command) =>
        `complete -c ${name} -n ${first} -a ${fishQuote(command.name)} -d ${fishQuote(command.summary)}`,
    ),
    `complete -c ${name} -n ${fishQuote(after('help'))} -a ${fishQuote(commands.map((command) => command.name).join(' '))}`,
    ...commands.flatMap((command) => commandLines(name, command)),
    '',
  ].join('\n');
}

const helpCommand = { name: 'help', summary: 'show help' };

function commandLines(program: string, { name, options, values }: CommandWords): string[] {
  const condition = fishQuote(after(name));
  const choices = values.flatMap((value) => value.choices);
  const words = choices.length > 0 ? ` -a ${fishQuote(choices.join(' '))}` : '';
  const files = values.some((value) => value.files);
  return [
    ...options.map((option) => optionLine(program, condition, option)),
    ...(words !== '' || files
      ? [`complete -c ${program} -n ${condition}${files ? ' -F' : ''}${words}`]
      : []),
  ];
}

function after(command: string): string {
  return `__fish_seen_subcommand_from ${command}`;
}

function optionLine(
  program: string,
  condition: string,
  { flags, description, value }: OptionWords,
): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  );
  const parts = [...names, ...(value ? [valueText(value)] : []), `-d ${fishQuote(description)}`];
  return `complete -c ${program} -n ${condition} ${parts.join(' ')}`;
}

/** -x: needs a value, which is no file; -r -F: needs one, which may be. */
function valueText({ choices, files }: Value): string {
  const words = choices.length > 0 ? ` -a ${fishQuote(choices.join(' '))}` : '';
  return `${files ? '-r -F' : '-x'}${words}`;
}

function fishQuote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

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

/** The words that can follow the name of the program. */
export interface ProgramWords {
  readonly name: string;
  readonly options: readonly OptionWords[];
  readonly commands: readonly CommandWords[];
}

/** Arguments of commands that name a file or a folder. */
const fileArguments = ['data', 'model', 'file', 'folder', 'visits'];

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
        : registeredArguments.map((argument) => ({
            choices: argument.argChoices ?? [],
            files: fileArguments.includes(argument.name()),
          })),
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
  const { choices = [], files = false } = optionTypeOf(option) ?? {};
  return { choices, files };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}

/** Everything is left to _arguments, which knows values, repeats and descriptions. */
export function zshScript({ name, options, commands }: ProgramWords): string {
  const list = commands.map((command) => zshQuote(`${command.name}:${command.summary}`));
  return `#compdef ${name}
# Completion of ${name} for zsh.
_${name}() {
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
    ${list.join('\n    ')}
  )
  _arguments -C \\
${options.map((option) => `    ${optionSpec(option)} \\\n`).join('')}    '1:command:->command' \\
    '*::argument:->arguments'
  case "$state" in
    command) _describe -t commands command commands ;;
    arguments)
      case "$line[1]" in
        help) _describe -t commands command commands ;;
${commands.map(zshCommandCase).join('\n')}
      esac
      ;;
  esac
}
if [[ "$funcstack[1]" == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function zshCommandCase({ name, options, values, repeated }: CommandWords): string {
  const specs = [
    ...options.map(optionSpec),
    ...values.map((value, place) => {
      const last = repeated && place === values.length - 1;
      return zshQuote(`${last ? '*' : place + 1}:argument:${action(value)}`);
    }),
  ];
  return `        ${name})
          _arguments -s \\
            ${specs.join(' \\\n            ')}
          ;;`;
}

/** `'(-o --output)'{-o,--output=}'[description]:value:action'` */
function optionSpec({ flags, description, value }: OptionWords): string {
  const text = `[${description.replace(/[[\]\\]/g, '\\$&')}]`;
  const rest = value ? `${text}:value:${action(value)}` : text;
  // An equals sign behind a long option: its value may be the next word or follow the sign.
  const written = flags.map((flag) => (value && flag.startsWith('--') ? `${flag}=` : flag));
  if (flags.length === 1) return zshQuote(`${written[0]}${rest}`);
  return `${zshQuote(`(${flags.join(' ')})`)}{${written.join(',')}}${zshQuote(rest)}`;
}

function action({ choices, files }: Value): string {
  if (choices.length === 0) return files ? '_files' : ' ';
  const words = choices.map((choice) => choice.replace(/[\s():\\]/g, '\\$&')).join(' ');
  if (!files) return `(${words})`;
  // A colon would end the action.
  return `{_alternative "names:name:(${words})" "files:file:_files"}`.replaceAll(':', '\\:');
}

function zshQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const scripts: Readonly<Record<Shell, (words: ProgramWords) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export async function completionCommand(
  shell: Shell,
  program: Command,
  terminal: Terminal,
): Promise<number> {
  await terminal.print(scripts[shell](programWords(program)));
  return exitCodes.done;
}
