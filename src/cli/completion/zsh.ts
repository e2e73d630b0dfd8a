import type { CommandWords, OptionWords, ProgramWords, Value } from './words.ts';

/** Everything is left to _arguments, which knows values, repeats and descriptions. */
export function zshScript({ name, options, commands }: ProgramWords): string {
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
${options.map((option) => `    ${optionSpec(option)} \\\n`).join('')}    '1:command:->command' \\
    '*::argument:->arguments'
  case "$state" in
    command) _describe -t commands command commands ;;
    arguments)
      case "$line[1]" in
        help) _describe -t commands command commands ;;
${commands.map(commandCase).join('\n')}
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

function commandCase({ name, options, values, repeated }: CommandWords): string {
  const specs = [
    ...options.map(optionSpec),
    ...values.map((value, place) => {
      const last = repeated && place === values.length - 1;
      return quote(`${last ? '*' : place + 1}:argument:${action(value)}`);
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
  if (flags.length === 1) return quote(`${written[0]}${rest}`);
  return `${quote(`(${flags.join(' ')})`)}{${written.join(',')}}${quote(rest)}`;
}

function action({ choices, files }: Value): string {
  if (choices.length === 0) return files ? '_files' : ' ';
  const words = choices.map((choice) => choice.replace(/[\s():\\]/g, '\\$&')).join(' ');
  if (!files) return `(${words})`;
  // A colon would end the action.
  return `{_alternative "names:name:(${words})" "files:file:_files"}`.replaceAll(':', '\\:');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
