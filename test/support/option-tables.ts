import { commands } from '../../src/apps/cli/commands/index.ts';
import * as sets from '../../src/apps/cli/options.ts';
import { type Group, longFlag, type Option } from '../../src/train/options/option.ts';

const marker =
  /<!-- options: (?<command>[a-z-]+)(?: (?<groups>[a-z, ]+))? -->\n[\s\S]*?<!-- end -->/g;

/** A default that the help describes in words. */
const inHelp = / \(default: ([^()]*)\)$/;

/**
 * The page with its tables of options made anew: `<!-- options: train output -->` is before those
 * of a group of a command, `<!-- options: cv -->` before those that `dso train` has not.
 */
export function withOptionTables(page: string): string {
  return page.replaceAll(marker, (...found) => {
    const { command, groups } = found.at(-1) as { command: string; groups?: string };
    const label = groups === undefined ? command : `${command} ${groups}`;
    return `<!-- options: ${label} -->\n\n${tableOf(command, groups)}\n\n<!-- end -->`;
  });
}

function tableOf(command: string, groups: string | undefined): string {
  const entries = Object.values<Option>(commands[command]?.options ?? {});
  const shared = new Set<Option>(Object.values<Option>(sets.trainOptions));
  const expected = groups?.split(', ') as Group[] | undefined;
  const shown = entries.filter(
    (entry) => expected?.includes(entry.group) ?? (!shared.has(entry) || command === 'train'),
  );
  if (shown.length === 0) throw new Error(`no options of ${command} for ${groups ?? 'it alone'}`);
  const lines = shown.map(
    (entry) => `| ${flagsOf(entry)} | ${meaningOf(entry)} | ${defaultOf(entry)} |`,
  );
  return ['| option | meaning | default |', '|---|---|---|', ...lines].join('\n');
}

/** `-o, --output <model>` → `-o`, `--output MODEL`. */
function flagsOf(entry: Option): string {
  const negative = entry.negation ? [longFlag(entry).replace('--', '--no-')] : [];
  return [...entry.flag.split(', '), ...negative]
    .map(
      (flag) =>
        `\`${flag.replace(/[<[](\w+)[>\]]/, (whole) => whole.replace(/[<>]/g, '').toUpperCase())}\``,
    )
    .join(', ');
}

function meaningOf({ solvers, doc, help, type, aliases, hidden, ...entry }: Option): string {
  const isIn = (text: string) => type?.choices?.every((name) => text.includes(name)) ?? true;
  const plain = coded(help.replace(inHelp, ''), isIn(help) ? type?.choices : []);
  const owners = solvers ? `${solvers.map((name) => `\`${name}\``).join(', ')}: ` : '';
  const text = `${owners}${doc ?? plain}`;
  const choices = isIn(text) ? '' : `: ${type?.choices?.map((name) => `\`${name}\``).join(', ')}`;
  const old = aliases
    ?.map((alias) => `\`${longFlag({ ...entry, help, flag: alias })}\``)
    .join(', ');
  return `${text}${choices}${old ? `; earlier spelling: ${old}` : ''}${hidden ? '; an earlier spelling' : ''}`;
}

/** Flags, arguments and the words that can be given, as code. */
function coded(text: string, choices: readonly string[] = []): string {
  const words = ['<\\w+>', '--[a-z][a-z-]+', '\\.\\w+/\\w+', ...choices].join('|');
  return text.replaceAll(new RegExp(`(?<![\\w\`.-])(?:${words})(?![\\w\`-])`, 'g'), '`$&`');
}

function defaultOf(entry: Option): string {
  if (entry.defaultDoc !== undefined) return entry.defaultDoc;
  if (entry.mandatory) return 'required';
  const value = entry.defaultText ?? entry.default;
  if (value !== undefined) {
    return typeof value === 'number'
      ? value.toLocaleString('en-US', { maximumFractionDigits: 6, useGrouping: 'min2' })
      : `\`${String(value)}\``;
  }
  const described = inHelp.exec(entry.help)?.[1];
  if (described !== undefined) return coded(described, entry.type?.choices);
  return entry.type ? 'none' : '';
}
