import type { Command } from 'commander';
import type { Action, TypedOption } from './command.ts';

/** Arguments of commands that name a file or a folder. */
const fileArguments = ['data', 'model', 'file', 'folder', 'visits'];

export const completionCommand: Action<object> = async ({ terminal, program }, shell) => {
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .map(commandWords);
  await terminal.print(scripts[shell]({ ...commandWords(program), commands }));
};

type CommandWords = ReturnType<typeof commandWords>;
type ProgramWords = CommandWords & { readonly commands: readonly CommandWords[] };
type OptionWords = ReturnType<typeof optionWords>[number];

/** What a value of an option or argument can be: words to choose from, or files. */
type Value = { readonly choices: readonly string[]; readonly files: boolean };

/** Everything of a command that a shell can complete, as commander has it. */
function commandWords(command: Command) {
  const { registeredArguments, commands } = command;
  const parts = commands.map((part) => part.name());
  const argumentValues = registeredArguments.map((argument) => ({
    choices: argument.argChoices ?? [],
    files: fileArguments.includes(argument.name()),
  }));
  return {
    name: command.name(),
    /** Its name and its aliases, which complete alike but are not offered. */
    names: [command.name(), ...command.aliases()],
    summary: command.summary(),
    options: optionWords(command),
    /** By position; the last one also for what follows, if `repeated`. */
    values: parts.length > 0 ? [{ choices: parts, files: false }] : argumentValues,
    repeated: registeredArguments.at(-1)?.variadic ?? false,
  };
}

function optionWords(command: Command) {
  const visible = command.createHelp().visibleOptions(command);
  return visible.map((option) => {
    const { choices = [], files = false } = (option as TypedOption).type ?? {};
    const hasValue = option.required || option.optional;
    return {
      flags: [option.short, option.long].filter((flag) => typeof flag === 'string'),
      description: option.description.split('\n', 1)[0],
      value: hasValue ? { choices, files } : undefined,
    };
  });
}

function flagsOf(options: readonly OptionWords[]): string[] {
  return options.flatMap(({ flags }) => flags);
}

/** For bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function indent(lines: readonly string[], spaces: number): string {
  return lines.join('\n').replace(/^(?=.)/gm, ' '.repeat(spaces));
}

/**
 * The words before the cursor give the command and, for an argument, its position; one `case` lists
 * the completions. Works from bash 3.2 on, without the package bash-completion.
 */
function bashScript({ name, options, commands }: ProgramWords): string {
  const names = commands.map((command) => command.name);
  return `# Completion of ${name} for bash.
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local words='' files='' command='' position=0 index word skip=''
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
${indent([bashValueFlags(commands)], 8)}
      esac
    else
      position=$((position + 1))
    fi
  done
  case "$command" in
    '')
      words=${quote([...names, 'help', ...flagsOf(options)].join(' '))}
      ;;
    help)
      words=${quote(names.join(' '))}
      ;;
${indent(commands.map(bashCommandCase), 4)}
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
function bashValueFlags(commands: readonly CommandWords[]): string {
  const patterns = commands.flatMap(({ names, options }) =>
    flagsOf(options.filter(({ value }) => value)).flatMap((flag) =>
      names.map((name) => `'${name} ${flag}'`),
    ),
  );
  return `${patterns.join(' | \\\n  ')}) skip=1 ;;`;
}

function bashCommandCase({ names, options, values, repeated }: CommandWords): string {
  const ofOptions = options.flatMap(({ flags, value }) =>
    value ? [`${flags.join(' | ')}) ${bashAssignments(value)} ;;`] : [],
  );
  const ofArguments = values.map((value, position) => {
    const pattern = repeated && position === values.length - 1 ? '*' : String(position);
    return `${pattern}) ${bashAssignments(value)} ;;`;
  });
  return `${names.join(' | ')})
  case "$previous" in
${indent(ofOptions, 4)}
    *)
      if [[ $current == -* ]]; then
        words=${quote(flagsOf(options).join(' '))}
      else
        case "$position" in
${indent(ofArguments.length > 0 ? ofArguments : ['*) ;;'], 10)}
        esac
      fi
      ;;
  esac
  ;;`;
}

function bashAssignments({ choices, files }: Value): string {
  const words = choices.length > 0 ? [`words=${quote(choices.join(' '))}`] : [];
  return [...words, ...(files ? ['files=1'] : [])].join(' ') || ':';
}

/** One line for each word that can be completed; files only where they are expected. */
function fishScript({ name, options, commands }: ProgramWords): string {
  const first = '__fish_use_subcommand';
  const after = (command: string) => fishQuote(`__fish_seen_subcommand_from ${command}`);
  const complete = (condition: string, rest: string) =>
    `complete -c ${name} -n ${condition} ${rest}`;
  const names = commands.map((command) => command.name).join(' ');
  const listed = [...commands, { name: 'help', summary: 'show help' }];
  return [
    `# Completion of ${name} for fish.`,
    `complete -c ${name} -f`,
    ...options.map((option) => complete(first, fishOption(option))),
    ...listed.map((one) =>
      complete(first, `-a ${fishQuote(one.name)} -d ${fishQuote(one.summary)}`),
    ),
    complete(after('help'), `-a ${fishQuote(names)}`),
    ...commands.flatMap((command) =>
      [...command.options.map(fishOption), ...fishArguments(command)].map((rest) =>
        complete(after(command.names.join(' ')), rest),
      ),
    ),
    '',
  ].join('\n');
}

function fishOption({ flags, description, value }: OptionWords): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag[1]}`,
  );
  // -x: needs a value, which is no file; -r -F: needs one, which may be.
  const values = value ? [value.files ? '-r -F' : '-x', ...fishChoices(value.choices)] : [];
  return [...names, ...values, `-d ${fishQuote(description)}`].join(' ');
}

function fishArguments({ values }: CommandWords): string[] {
  const files = values.some((value) => value.files) ? ['-F'] : [];
  const words = [...files, ...fishChoices(values.flatMap((value) => value.choices))];
  return words.length > 0 ? [words.join(' ')] : [];
}

function fishChoices(choices: readonly string[]): string[] {
  return choices.length > 0 ? [`-a ${fishQuote(choices.join(' '))}`] : [];
}

function fishQuote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

/** Leaves everything to _arguments, which knows values, repeats and descriptions. */
function zshScript({ name, options, commands }: ProgramWords): string {
  const list = commands.map((command) => quote(`${command.name}:${command.summary}`));
  return `#compdef ${name}
# Completion of ${name} for zsh.
_${name}() {
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
    ${list.join('\n    ')}
  )
  _arguments -C \\
${options.map((option) => `    ${zshOption(option)} \\\n`).join('')}    '1:command:->command' \\
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

function zshCommandCase({ names, options, values, repeated }: CommandWords): string {
  const ofArguments = values.map((value, position) => {
    const last = repeated && position === values.length - 1;
    return quote(`${last ? '*' : position + 1}:argument:${zshAction(value)}`);
  });
  return `        ${names.join(' | ')})
          _arguments -s \\
            ${[...options.map(zshOption), ...ofArguments].join(' \\\n            ')}
          ;;`;
}

/** `'(-o --output)'{-o,--output=}'[description]:value:action'` */
function zshOption({ flags, description, value }: OptionWords): string {
  const text = `[${description.replace(/[[\]\\]/g, '\\$&')}]`;
  const rest = value ? `${text}:value:${zshAction(value)}` : text;
  // An equals sign behind a long option: its value may be the next word or follow the sign.
  const written = flags.map((flag) => (value && flag.startsWith('--') ? `${flag}=` : flag));
  if (flags.length === 1) return quote(`${written[0]}${rest}`);
  return `${quote(`(${flags.join(' ')})`)}{${written.join(',')}}${quote(rest)}`;
}

function zshAction({ choices, files }: Value): string {
  if (choices.length === 0) return files ? '_files' : ' ';
  const words = choices.map((choice) => choice.replace(/[\s():\\]/g, '\\$&')).join(' ');
  if (!files) return `(${words})`;
  // A colon would end the action.
  return `{_alternative "names:name:(${words})" "files:file:_files"}`.replaceAll(':', '\\:');
}

const scripts: Readonly<Record<string, (words: ProgramWords) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
