import type { CommandWords, OptionWords, ProgramWords, Value } from './words.ts';

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
      words=${quote([...names, 'help', ...flagsOf(options)].join(' '))}
      ;;
    help)
      words=${quote(names.join(' '))}
      ;;
${indent(commands.map(commandCase).join('\n'), 4)}
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

function commandCase({ name, options, values, repeated }: CommandWords): string {
  const withValue = options.filter(({ value }) => value !== undefined);
  const cases = withValue.map(
    ({ flags, value }) => `${flags.join(' | ')}) ${assignments(value!)} ;;`,
  );
  const words = quote(flagsOf(options).join(' '));
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
    ...(choices.length > 0 ? [`words=${quote(choices.join(' '))}`] : []),
    ...(files ? ['files=1'] : []),
  ];
  return parts.length > 0 ? parts.join(' ') : ':';
}

function flagsOf(options: readonly OptionWords[]): string[] {
  return options.flatMap(({ flags }) => flags);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function indent(text: string, spaces: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(spaces));
}
