import type { CommandWords, OptionWords, ProgramWords, Value } from './words.ts';

/** One line for each word that can be completed; files only where they are asked for. */
export function fishScript({ name, options, commands }: ProgramWords): string {
  const first = '__fish_use_subcommand';
  return [
    `# Completion of ${name} for fish.`,
    `complete -c ${name} -f`,
    ...options.map((option) => optionLine(name, first, option)),
    ...[...commands, helpCommand].map(
      (command) =>
        `complete -c ${name} -n ${first} -a ${quote(command.name)} -d ${quote(command.summary)}`,
    ),
    `complete -c ${name} -n ${quote(after('help'))} -a ${quote(commands.map((command) => command.name).join(' '))}`,
    ...commands.flatMap((command) => commandLines(name, command)),
    '',
  ].join('\n');
}

const helpCommand = { name: 'help', summary: 'show help' };

function commandLines(program: string, { name, options, values }: CommandWords): string[] {
  const condition = quote(after(name));
  const choices = values.flatMap((value) => value.choices);
  const words = choices.length > 0 ? ` -a ${quote(choices.join(' '))}` : '';
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
  const parts = [...names, ...(value ? [valueText(value)] : []), `-d ${quote(description)}`];
  return `complete -c ${program} -n ${condition} ${parts.join(' ')}`;
}

/** -x: needs a value, which is no file; -r -F: needs one, which may be. */
function valueText({ choices, files }: Value): string {
  const words = choices.length > 0 ? ` -a ${quote(choices.join(' '))}` : '';
  return `${files ? '-r -F' : '-x'}${words}`;
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
