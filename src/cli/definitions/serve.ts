import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { bytes, port, whole } from '../arguments.ts';

export interface ServeFlags {
  readonly port: number;
  readonly host: string;
  /** Bytes. */
  readonly maxBody: number;
  readonly maxRows: number;
  /** Milliseconds. */
  readonly timeout: number;
  /** false when --no-reload was given. */
  readonly reload: boolean;
  readonly log?: true;
}

const examples = `
Examples:
  dso serve spam.model
  dso serve spam.model --port 0 --log 2> requests.jsonl
  curl -H 'Content-Type: application/json' -d '{"indices":[3],"values":[1]}' \\
    http://127.0.0.1:8080/predict

A new model is taken over when the file changes, and after SIGHUP. SIGTERM and Ctrl-C finish what is
under way and end with exit code 0; a second one ends at once.`;

export function defineServe(
  program: Command,
  run: (model: string, flags: ServeFlags) => Promise<void>,
): void {
  program
    .command('serve')
    .summary('answer HTTP requests with predictions')
    .description('Answer HTTP requests with the predictions of a model: JSON, or NDJSON streams.')
    .argument('<model>', 'model file')
    .addHelpText('after', examples)
    .option('--port <number>', 'port to listen on; 0: any that is free', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--max-body <bytes>', 'longest body of JSON, or line of NDJSON')
        .argParser(bytes)
        .default(10 * 2 ** 20, '10M'),
    )
    .option('--max-rows <number>', 'most rows of a batch', whole(1), 100_000)
    .addOption(
      new Option('--timeout <time>', 'for a body to arrive, and for the end (500ms, 10s)')
        .argParser(time)
        .default(10_000, '10s'),
    )
    .option('--no-reload', 'do not look whether the model file changes')
    .option('--log', 'a line of JSON for every request, on standard error')
    .action((model: string, flags: ServeFlags) => run(model, flags));
}

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/** Timers of Node count no further. */
const longest = 2 ** 31 - 1;

/** Seconds unless another unit is given, as milliseconds. */
function time(text: string): number {
  const [, digits, unit = 's'] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const value = Number(digits) * milliseconds[unit];
  if (value >= 1 && value <= longest) return value;
  throw new InvalidArgumentError('Wanted a time (500ms, 10s, 2m).');
}
